"""How a body is packed, as its head says. What the gate cannot unpack it cannot judge."""

from collections.abc import Iterable
from typing import Literal

from herma.policy.message.inflate import InflateError
from herma.wire import Headers

__all__ = ["packed_as", "packing"]


def packing(values: Iterable[bytes]) -> Literal["gzip", "deflate"] | None:
    """Read every value of `Content-Encoding` (RFC 9110 section 8.4); None if the body is not packed.

    Raises:
        InflateError: it is packed in another way, or the header is a list: two readers need not undo it alike.
    """
    match [value.strip().lower() for value in values]:
        case [] | [b"" | b"identity"]:
            return None
        case [b"gzip" | b"x-gzip"]:
            return "gzip"
        case [b"deflate"]:
            return "deflate"
        case _:
            raise InflateError("herma.body.encoding_unknown")


def packed_as(headers: Headers) -> Literal["gzip", "deflate"] | None:
    """Tell how an answer is packed; see `packing`."""
    return packing(value for name, value in headers if name.lower() == b"content-encoding")
