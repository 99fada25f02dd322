"""Where a message ends (RFC 9112 section 6), decided once and only if there is a single answer.

A body is one of three: so many bytes, chunks, or (answers only) whatever comes until the upstream closes. Two framings
in one head, a repeated `Content-Length` even with equal values, or any transfer coding but exactly `chunked` are
refused: each is a way to make two parsers disagree about where the next message begins.
"""

from dataclasses import dataclass

from herma.wire.chunked import ChunkDecoder
from herma.wire.failures import FramingError, Refusal
from herma.wire.messages import Headers, RequestHead, ResponseHead

__all__ = [
    "Decoder",
    "FixedDecoder",
    "RequestFrame",
    "ResponseFrame",
    "UntilCloseDecoder",
    "frame_request",
    "frame_response",
]

# They fit a signed 64-bit integer; nobody sends an exabyte.
_MAX_LENGTH_DIGITS = 18
_CONTROL = frozenset({b"content-length", b"transfer-encoding", b"connection", b"upgrade", b"expect"})
# Most names are ruled out by their length, before the dearer lower-casing.
_CONTROL_LENGTHS = frozenset(map(len, _CONTROL))
_NO_TOKENS: frozenset[bytes] = frozenset()

_FRAMING = Refusal(
    400, "herma.request.framing", "the length of the request body is not told in exactly one way"
)
_EXPECTATION = Refusal(417, "herma.request.expectation", "only 100-continue can be expected")


class FixedDecoder:
    """A body of a known number of bytes."""

    __slots__ = ("_left", "done", "rest")

    def __init__(self, length: int) -> None:
        self._left = length
        self.done = not length
        self.rest = b""

    def feed(self, data: bytes, out: list[bytes]) -> int:
        """Append the body bytes in `data` to `out` and return how many they are."""
        size = len(data)
        if size > self._left:
            self.rest = data[self._left :]
            data = data[: self._left]
            size = self._left
        if size:
            out.append(data)
            self._left -= size
            self.done = not self._left
        return size


class UntilCloseDecoder:
    """A body that ends with the connection."""

    __slots__ = ()
    done = False
    rest = b""

    def feed(self, data: bytes, out: list[bytes]) -> int:
        """Append `data` to `out` and return its length."""
        out.append(data)
        return len(data)


type Decoder = FixedDecoder | ChunkDecoder | UntilCloseDecoder


@dataclass(slots=True)
class RequestFrame:
    """What the head of a request says about its connection; `length` is None for chunks."""

    length: int | None
    keep_alive: bool
    upgrade: bool
    expects_continue: bool

    def decoder(self) -> FixedDecoder | ChunkDecoder:
        """Make the decoder of this body."""
        return ChunkDecoder(frugal=True) if self.length is None else FixedDecoder(self.length)


@dataclass(slots=True)
class ResponseFrame:
    """What the head of an answer says about its connection."""

    decoder: Decoder
    keep_alive: bool


def frame_request(head: RequestHead) -> RequestFrame | Refusal:
    """Find the end of a request, or refuse it."""
    control = _control(head.headers)
    modern = head.version == "1.1"
    length = _length(control, allow_chunked=modern)
    if isinstance(length, FramingError):
        return _FRAMING
    tokens = _tokens(control)
    expect = control.get(b"expect")
    if expect is not None and modern and [value.lower() for value in expect] != [b"100-continue"]:
        return _EXPECTATION
    return RequestFrame(
        length=0 if length == _ABSENT else length,
        keep_alive=b"close" not in tokens
        and (modern or b"keep-alive" in tokens)
        and head.method != b"CONNECT",
        upgrade=modern and head.method == b"GET" and length == _ABSENT and _wants_websocket(control, tokens),
        expects_continue=expect is not None and modern,
    )


def frame_response(head: ResponseHead, *, version: str, head_only: bool) -> ResponseFrame:
    """Find the end of an answer.

    Raises:
        FramingError: the answer has no single end.
    """
    control = _control(head.headers)
    modern = version == "1.1"
    length = _length(control, allow_chunked=modern)
    if isinstance(length, FramingError):
        raise length
    tokens = _tokens(control)
    keep_alive = b"close" not in tokens and (modern or b"keep-alive" in tokens)
    if head_only or head.status in {204, 304}:
        return ResponseFrame(FixedDecoder(0), keep_alive)
    if length == _ABSENT:
        return ResponseFrame(UntilCloseDecoder(), keep_alive=False)
    if length is None:
        return ResponseFrame(ChunkDecoder(frugal=False), keep_alive)
    return ResponseFrame(FixedDecoder(length), keep_alive)


_ABSENT = -1


def _control(headers: Headers) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        if len(name) in _CONTROL_LENGTHS:
            lowered = name.lower()
            if lowered in _CONTROL:
                found.setdefault(lowered, []).append(value)
    return found


def _length(control: dict[bytes, list[bytes]], *, allow_chunked: bool) -> int | FramingError | None:
    """Return the number of bytes, None for chunks, `_ABSENT` if neither is told."""
    codings = control.get(b"transfer-encoding")
    lengths = control.get(b"content-length")
    if codings is not None:
        if lengths is not None or not allow_chunked or len(codings) != 1 or codings[0].lower() != b"chunked":
            return FramingError("a transfer coding that is not exactly one `chunked`, or beside a length")
        return None
    if lengths is None:
        return _ABSENT
    # `isdigit` of bytes knows the ten ASCII digits only.
    if len(lengths) != 1 or not lengths[0].isdigit() or len(lengths[0]) > _MAX_LENGTH_DIGITS:
        return FramingError("a content length that is not exactly one number")
    return int(lengths[0])


def _tokens(control: dict[bytes, list[bytes]]) -> frozenset[bytes]:
    values = control.get(b"connection")
    if values is None:
        return _NO_TOKENS
    return frozenset(token.strip(b" \t").lower() for token in b",".join(values).split(b","))


def _wants_websocket(control: dict[bytes, list[bytes]], tokens: frozenset[bytes]) -> bool:
    return b"upgrade" in tokens and [value.lower() for value in control.get(b"upgrade", ())] == [b"websocket"]
