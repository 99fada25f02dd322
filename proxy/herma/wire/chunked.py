"""Chunked transfer coding, decoded strictly (RFC 9112 section 7.1).

Our own decoder, because three things cannot be had from llhttp through httptools: the exact byte at which a message
ends, a bound on chunk extensions, and trailers kept apart. Whatever it accepts, llhttp accepts with the same body: a
property test compares them.
"""

import re
from enum import Enum, auto

from herma.wire.failures import FramingError

__all__ = ["ChunkDecoder"]

# Nobody sends extensions but object stores (`;chunk-signature=` and 64 hex digits); more is an attack on the parser.
MAX_CHUNK_LINE_BYTES = 256
MAX_TRAILER_BYTES = 8 * 1024
MAX_TRAILERS = 32
# A chunk costs about a microsecond however little it carries. So many small ones are free, enough for any client that
# writes line by line; beyond them a message must carry MIN_AVERAGE_BYTES a chunk.
FREE_CHUNKS = 16 * 1024
MIN_AVERAGE_BYTES = 64

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
# Fifteen digits are 2^60 bytes; a sixteenth could overflow a signed 64-bit integer further on.
_SIZE_LINE = re.compile(
    rb"([0-9A-Fa-f]{1,15})(?:;" + _TOKEN + rb"(?:=(?:" + _TOKEN + rb'|"[ !#-\[\]-~]*+"))?)*+'
)
_SIZE_PREFIX = re.compile(rb"[0-9A-Fa-f]{1,15}(?:;[ -~]*+)?\r?|")
_TRAILER = re.compile(_TOKEN + rb":[\t -~\x80-\xff]*+")


class _At(Enum):
    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILERS = auto()
    END = auto()


class ChunkDecoder:
    """Takes a body as it arrives; `done` once the last byte of the message was seen, `rest` is what followed it.

    Args:
        frugal: bound the number of small chunks too; for bodies from strangers.
    """

    __slots__ = (
        "_at",
        "_body_bytes",
        "_chunks",
        "_frugal",
        "_left",
        "_partial",
        "_trailer_bytes",
        "_trailers",
        "done",
        "rest",
    )

    def __init__(self, *, frugal: bool) -> None:
        self._frugal = frugal
        self._at = _At.SIZE
        self._left = 0
        self._partial = b""
        self._chunks = 0
        self._body_bytes = 0
        self._trailers = 0
        self._trailer_bytes = 0
        self.done = False
        self.rest = b""

    def feed(self, data: bytes, out: list[bytes]) -> int:
        """Append the body bytes in `data` to `out` and return how many they are.

        Raises:
            FramingError: the coding is broken or wasteful; the connection cannot be used any further.
        """
        before = self._body_bytes
        if self._partial:
            data = self._partial + data
            self._partial = b""
        position = 0
        while position < len(data) and self._at is not _At.END:
            match self._at:
                case _At.DATA:
                    position = self._take_data(data, position, out)
                case _At.DATA_END:
                    position = self._take_data_end(data, position)
                case _At.SIZE:
                    position = self._take_size(data, position)
                case _:
                    position = self._take_trailer(data, position)
        if self._at is _At.END:
            self.done = True
            self.rest = data[position:]
        return self._body_bytes - before

    def _take_data(self, data: bytes, position: int, out: list[bytes]) -> int:
        piece = data[position : position + self._left]
        out.append(piece)
        self._left -= len(piece)
        self._body_bytes += len(piece)
        if not self._left:
            self._at = _At.DATA_END
        return position + len(piece)

    def _take_data_end(self, data: bytes, position: int) -> int:
        end = data[position : position + 2]
        if end == b"\r\n":
            self._at = _At.SIZE
            return position + 2
        if end != b"\r":
            raise FramingError("a chunk is longer or shorter than its size")
        return self._keep(data, position)

    def _take_size(self, data: bytes, position: int) -> int:
        end = data.find(b"\r\n", position, position + MAX_CHUNK_LINE_BYTES)
        if end < 0:
            partial = data[position:]
            if len(partial) >= MAX_CHUNK_LINE_BYTES or _SIZE_PREFIX.fullmatch(partial) is None:
                raise FramingError("a chunk size line is malformed or too long")
            return self._keep(data, position)
        line = _SIZE_LINE.fullmatch(data, position, end)
        if line is None:
            raise FramingError("a chunk size line is malformed")
        self._left = int(line[1], 16)
        if self._left:
            self._at = _At.DATA
            self._count_chunk()
        else:
            self._at = _At.TRAILERS
        return end + 2

    def _count_chunk(self) -> None:
        self._chunks += 1
        if self._frugal and self._chunks > FREE_CHUNKS + self._body_bytes // MIN_AVERAGE_BYTES:
            raise FramingError("the body is cut into too many small chunks")

    def _take_trailer(self, data: bytes, position: int) -> int:
        """Check a trailer line and drop it: a field that arrives after the verdict is never a header."""
        end = data.find(b"\r\n", position)
        line = data[position:] if end < 0 else data[position:end]
        if b"\n" in line or self._trailer_bytes + len(line) > MAX_TRAILER_BYTES:
            raise FramingError("the trailers are malformed or too large")
        if end < 0:
            return self._keep(data, position)
        if not line:
            self._at = _At.END
            return end + 2
        self._trailers += 1
        self._trailer_bytes += len(line)
        if self._trailers > MAX_TRAILERS or _TRAILER.fullmatch(line) is None:
            raise FramingError("a trailer is malformed or one too many")
        return end + 2

    def _keep(self, data: bytes, position: int) -> int:
        self._partial = data[position:]
        return len(data)
