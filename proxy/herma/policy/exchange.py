"""One request on its way through the gate, as the core sees it."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from herma.policy.grant import Principal
from herma.policy.jsondoc import Document
from herma.policy.message.canonical import Head
from herma.policy.routing.profile import Match

__all__ = ["Exchange", "Phase"]


class Phase(StrEnum):
    """When a check is asked."""

    REQUEST_HEAD = "request_head"
    REQUEST_BODY = "request_body"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is known of one request.

    `address` is the caller's address after trusted proxies were walked. `document` is the parsed body once it was read;
    None before that, and for an empty body. `today` is the day in UTC, which exemptions expire by; None applies none.
    """

    id: str
    head: Head
    match: Match
    address: str
    principal: Principal | None
    document: Document | None = None
    today: date | None = None
