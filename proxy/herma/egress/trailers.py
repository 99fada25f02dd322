"""Trailers of HTTP/1 are read and left out, as RFC 9110 section 6.5.1 lets who does not know them.

mitmproxy cannot carry them, and would leave the connection half read. Few programs read them, and nobody judges them.
"""

from typing import Any, Final, override

from h11 import Data, EndOfMessage
from h11._readers import ChunkedReader
from mitmproxy.proxy.layers.http import _http1

__all__ = ["leave_out"]

_given: Final = _http1.make_body_reader


class _Chunks(ChunkedReader):
    """Reads a chunked body to its end."""

    @override
    def __call__(self, buf: Any) -> Data | EndOfMessage | None:
        read = super().__call__(buf)
        return EndOfMessage() if isinstance(read, EndOfMessage) else read


def leave_out() -> None:
    """Let mitmproxy read bodies so; a second time changes nothing."""
    setattr(_http1, "make_body_reader", _reader)  # noqa: B010 - to the type checkers it is a function that is not assigned to


def _reader(expected_size: int | None) -> Any:
    return _Chunks() if expected_size is None else _given(expected_size)
