"""How an exchange can fail, told apart by who has to act on it."""

from dataclasses import dataclass
from enum import StrEnum

from herma.errors import HermaError

__all__ = [
    "BodyMalformed",
    "BodyTimeout",
    "BodyTooLarge",
    "Disconnected",
    "FramingError",
    "Refusal",
    "RequestFailure",
    "SlowReader",
    "UpstreamError",
    "UpstreamFailure",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is given before any handler runs; the connection closes after it."""

    status: int
    code: str
    message: str


class FramingError(HermaError):
    """Bytes that have no single meaning as an HTTP/1.1 message."""


class RequestFailure(HermaError):  # noqa: N818 - its kinds are named after what happened, as the contract has them
    """The downstream side of an exchange failed; `refusal` is the answer if one can still be given."""

    refusal = Refusal(400, "herma.request.malformed", "the request is malformed")


class BodyTooLarge(RequestFailure):
    """The request body is longer than the reader's limit."""

    refusal = Refusal(413, "herma.body.too_large", "the request body is too large")


class BodyTimeout(RequestFailure):
    """The request body did not arrive in time."""

    refusal = Refusal(408, "herma.body.timeout", "the request body did not arrive in time")


class BodyMalformed(RequestFailure):
    """The request body is not framed as its head announced."""

    refusal = Refusal(400, "herma.body.framing", "the request body is framed wrongly")


class Disconnected(RequestFailure):
    """The client is gone; nothing can be answered."""


class SlowReader(Disconnected):
    """The client stopped reading and was cut off."""


class UpstreamFailure(StrEnum):
    """What went wrong with the upstream."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    CLOSED = "closed"
    UNASKED_UPGRADE = "unasked_upgrade"
    TOO_LARGE = "too_large"
    BUSY = "busy"


class UpstreamError(HermaError):
    """The upstream gave no usable answer.

    `sent` tells whether the upstream may have seen the request: only if it is False is a repetition harmless for a POST.
    """

    def __init__(self, kind: UpstreamFailure, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.sent = sent
