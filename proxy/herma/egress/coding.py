"""Takes the content coding off a body, so that what it says is judged; a coding that nobody here unpacks is refused."""

from typing import Final

from herma.policy.decision import Deny
from herma.policy.message.inflate import InflateError, inflate

__all__ = ["CODING", "decoded"]

CODING: Final = Deny(415, "herma.egress.encoding", "The body is compressed in a way that is not looked into.")


def decoded(raw: bytes, coding: str, limit: int) -> bytes | Deny:
    """Give what a body of a Content-Encoding says, at most `limit` bytes of it; the same object where nothing is to be done."""
    match coding.strip().lower():
        case "identity" | "":
            return raw
        case "gzip" | "deflate" as known:
            try:
                return inflate(raw, known, limit)
            except InflateError as error:
                return Deny(400, error.code, "The compressed body cannot be read.")
        case _:
            return CODING
