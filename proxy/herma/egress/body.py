"""What may be held of the body of one request, and what becomes of one that is larger."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mitmproxy.http import HTTPFlow

from herma.egress.held import Ticket
from herma.policy.decision import Deny

__all__ = ["FULL", "TOO_LARGE", "Body", "body_of", "give_body"]

_BODY: Final = "herma.body"

TOO_LARGE: Final = Deny(
    413, "herma.egress.too_large", "The body is larger than what is looked at.", close=True
)
FULL: Final = Deny(503, "herma.egress.busy", "Too much is being sent at the same time.", close=True)


@dataclass(frozen=True, slots=True)
class Body:
    """The right to hold a body, and the messages of a WebSocket after it.

    `refuse` answers in place of the destination; `tells` judges the few bytes that a control frame carries; `passes` lets larger
    bodies go out unread.
    """

    ticket: Ticket
    refuse: Callable[[Deny], None]
    tells: Callable[[bytes], bool]
    passes: bool = False


def give_body(flow: HTTPFlow, body: Body) -> None:
    """Let the body of a request be held."""
    flow.metadata[_BODY] = body


def body_of(flow: HTTPFlow) -> Body | None:
    """Return what lets the body of a request be held, if anything does."""
    found = flow.metadata.get(_BODY)
    return found if isinstance(found, Body) else None
