"""What packed bytes hold: gzip, zlib, bzip2, xz, and the members of ZIP archives, wherever in the bytes they begin.

For inspection only. Whatever cannot be unpacked is looked at as it is; what unpacks to more than the room is not whole, and the
caller says what becomes of that.
"""

import bz2
import lzma
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Final, Protocol

__all__ = ["MAX_BYTES", "Room", "TooLargeError", "packed_in", "unzipped"]

# All parts of one body together, beside the body. A home directory of keys and notes packs into less.
MAX_BYTES: Final = 16 * 1024 * 1024
# Members and heads of members that are looked at, in all layers together.
MAX_MEMBERS: Final = 10_000
# Packed bytes that are read, in all layers together: a head may stand at each byte, and every one of them reads on to the end.
MAX_READ_BYTES: Final = 128 * 1024 * 1024
# What xz may take in memory to unpack; `xz -9` asks for 65 MiB.
_MEMORY_BYTES: Final = 96 * 1024 * 1024
_ZIP_HEAD: Final = struct.Struct("<4xHHHHHIIIHH")
_ZIP: Final = b"PK\x03\x04"
_DEFLATED: Final = 8
# The head of zlib has two bytes that many others have, too: it is one at the beginning of something only.
_HEAD: Final = re.compile(
    rb"\x1f\x8b\x08|BZh[1-9](?:1AY&SY|\x17rE8P\x90)|\xfd7zXZ\0|PK\x03\x04"
    # A pattern whose every branch begins with a byte is looked for by that byte.
    rb"|x(?:(?<=\Ax)|(?<=\r\n\r\nx)|(?<=\0\0x)|(?<=[\"=]x))[\x01\x5e\x9c\xda]"
)
# So much is fed at once, and so much comes out at once: what came out before an error was packed all the same.
_PIECE: Final = 64 * 1024
_FIRST: Final = 1024


class TooLargeError(ValueError):
    """More would come out than is looked at."""


class Room:
    """How much may still come out, of one body in all its layers."""

    def __init__(self, size: int = 0, members: int = 0) -> None:
        """Begin with a body of `size` bytes, all of which may be written in another way a few times."""
        self._left = MAX_BYTES + 3 * size
        self._members = members or MAX_MEMBERS
        self._read = MAX_READ_BYTES + size

    def member(self) -> None:
        """Count one member.

        Raises:
            TooLargeError: it is one too many; so say the others.
        """
        self._members -= 1
        if self._members < 0:
            raise TooLargeError

    def read(self, size: int) -> None:
        """Count packed bytes that are read."""
        self._read -= size
        if self._read < 0:
            raise TooLargeError

    def take(self, part: bytes) -> bytes:
        """Count what came out, and give it back."""
        self._left -= len(part)
        if self._left < 0:
            raise TooLargeError
        return part


class _Machine(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


def packed_in(raw: bytes, room: Room) -> Iterator[bytes]:
    """Give whatever is packed in some bytes, one layer down: at their beginning, behind other bytes, one behind the other.

    Raises:
        TooLargeError: there is more than the room.
    """
    at = 0
    while (head := _HEAD.search(raw, at)) is not None:
        if head[0] == _ZIP:
            part, at = _member(raw, head.start(), room)
        else:
            part, at = _out(_machine(head[0]), raw, head.start(), room)
        if part:
            yield part
        at = max(at, head.end())


def unzipped(raw: bytes, at: int, room: Room) -> tuple[bytes, int]:
    """Give what comes out of zlib that begins at a place, and where it ends; 0 where it has no end."""
    return _out(zlib.decompressobj(), raw, at, room)


def _machine(head: bytes) -> _Machine:
    if head.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if head.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if head.startswith(b"x"):
        return zlib.decompressobj()
    return lzma.LZMADecompressor(memlimit=_MEMORY_BYTES)


def _out(machine: _Machine, raw: bytes, start: int, room: Room) -> tuple[bytes, int]:
    """Give what comes out, whole or up to what cannot be unpacked, and where it ends; 0 where it has no end."""
    room.member()
    parts: list[bytes] = []
    try:
        # A little first: most of what only looks like a head is told by it.
        at, size = start, _FIRST
        while at < len(raw):
            piece = raw[at : at + size]
            room.read(len(piece))
            parts += _fed(machine, piece, room)
            at, size = at + len(piece), _PIECE
            if machine.eof:
                return b"".join(parts), at - len(machine.unused_data)
    except (zlib.error, OSError, lzma.LZMAError) as error:
        if isinstance(error, lzma.LZMAError) and "limit" in str(error):
            # It can be unpacked by whoever has the memory.
            raise TooLargeError from error
    return b"".join(parts), 0


def _fed(machine: _Machine, data: bytes, room: Room) -> Iterator[bytes]:
    while True:
        part = machine.decompress(data, _PIECE)
        yield room.take(part)
        # The machines of zlib give back what they had no room for, the others keep it.
        data = getattr(machine, "unconsumed_tail", b"")
        if machine.eof or (not data and len(part) < _PIECE):
            return


def _member(raw: bytes, at: int, room: Room) -> tuple[bytes, int]:
    """Give a member by its local head (APPNOTE section 4.3.7): the directory at the end may tell of others.

    The sizes in a head are not believed: what is deflated tells its own end, and what is only stored goes on to the next head.
    """
    if at + _ZIP_HEAD.size > len(raw):
        return b"", 0
    _, _, method, _, _, _, _, _, name, extra = _ZIP_HEAD.unpack_from(raw, at)
    start = at + _ZIP_HEAD.size + name + extra
    if method == _DEFLATED:
        return _out(zlib.decompressobj(-zlib.MAX_WBITS), raw, start, room)
    room.member()
    end = raw.find(_ZIP, start)
    return room.take(raw[start : end if end >= 0 else len(raw)]), 0
