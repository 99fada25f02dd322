"""Heads to bytes. The wire frames every message itself: a caller's framing fields are dropped, never trusted."""

from http import HTTPStatus

from herma.wire.messages import Fields

__all__ = ["CONTINUE", "REASONS", "request_head", "response_head"]

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}

# Fields that say where a message ends or what becomes of the connection (RFC 9110 section 7.6.1).
_OURS = frozenset(
    {
        b"connection",
        b"content-length",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OUR_LENGTHS = frozenset(map(len, _OURS))


def response_head(status: int, reason: bytes, headers: Fields, framing: bytes) -> bytes:
    """Write the head of an answer; `framing` is whole lines that the wire adds.

    Raises:
        ValueError: a name or value would begin a line of its own.
    """
    line = b"HTTP/1.1 %d %b" % (status, reason or REASONS.get(status, b""))
    return _block(line, headers, framing)


def request_head(method: bytes, target: bytes, headers: Fields, framing: bytes) -> bytes:
    """Write the head of a request; `framing` is whole lines that the wire adds.

    Raises:
        ValueError: the target, a name or a value would begin a line of its own.
    """
    return _block(b"%b %b HTTP/1.1" % (method, target), headers, framing)


def _block(line: bytes, headers: Fields, framing: bytes) -> bytes:
    lines = [line]
    for name, value in headers:
        if len(name) not in _OUR_LENGTHS or name.lower() not in _OURS:
            lines.append(name + b": " + value)
    block = b"\r\n".join(lines)
    # Splitting by CR or LF is refused here once more, whatever was checked before: one line each, and no NUL.
    ends = len(lines) - 1
    if block.count(b"\n") != ends or block.count(b"\r") != ends or b"\0" in block:
        raise ValueError("a header name, value or target holds a control byte")
    return block + b"\r\n" + framing + b"\r\n"
