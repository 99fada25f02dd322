"""Session headers: the form of the names that conversations are stored under."""

from typing import ClassVar

from herma.policy.decision import Allow, Decision, Deny
from herma.policy.exchange import Exchange, Phase
from herma.policy.message.session_header import session_headers

__all__ = ["SessionHeader"]


class SessionHeader:
    """Refuses `X-Hermes-Session-Id` and `-Key` with control characters, paths, or more than 256 characters."""

    id: ClassVar[str] = "session_header"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_HEAD})

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge the two headers, whichever route they are sent to."""
        result = session_headers(exchange.head)
        return result if isinstance(result, Deny) else Allow()
