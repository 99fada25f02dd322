"""What packed bytes hold: gzip, zlib, bzip2, xz, and the members of ZIP archives, packed into each other or not.

For inspection only. Whatever cannot be unpacked is looked at as it is; what unpacks to more than the bound is not whole, and the
caller says what becomes of that.
"""

import bz2
import lzma
import struct
import zlib
from collections.abc import Iterator
from typing import Final, Protocol

__all__ = ["MAX_BYTES", "TooLargeError", "unpacked"]

# All parts of one body together. A home directory of keys and notes packs into less.
MAX_BYTES: Final = 16 * 1024 * 1024
# A tar.gz in a ZIP in a gzip; whoever packs more often hides.
MAX_LAYERS: Final = 4
# Members and heads of members that are looked at, in all layers together.
MAX_MEMBERS: Final = 10_000
# What xz may take in memory to unpack; `xz -9` asks for 65 MiB.
_MEMORY_BYTES: Final = 96 * 1024 * 1024
_ZIP_HEAD: Final = struct.Struct("<4xHHHHHIIIHH")
_ZIP: Final = b"PK\x03\x04"
_DEFLATED: Final = 8
# So much is fed at once, and so much comes out at once: what came out before an error was packed all the same.
_PIECE: Final = 64 * 1024


class TooLargeError(ValueError):
    """More would come out than is looked at."""


class _Machine(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


def unpacked(raw: bytes) -> Iterator[bytes]:
    """Give some bytes, and then whatever is packed in them.

    Raises:
        TooLargeError: there is more than `MAX_BYTES`, or it is packed more often than is looked at.
    """
    room = _Room()
    level = [raw]
    yield raw
    for _ in range(MAX_LAYERS):
        level = [part for packed in level for part in _inside(packed, room)]
        if not level:
            return
        yield from level
    raise TooLargeError


class _Room:
    """How much may still come out."""

    def __init__(self) -> None:
        self._left = MAX_BYTES
        self._members = MAX_MEMBERS

    def member(self) -> None:
        self._members -= 1
        if self._members < 0:
            raise TooLargeError

    def take(self, part: bytes) -> bytes:
        self._left -= len(part)
        if self._left < 0:
            raise TooLargeError
        return part


def _inside(raw: bytes, room: _Room) -> Iterator[bytes]:
    if raw.startswith(_ZIP):
        yield from _members(raw, room)
        return
    # Files of gzip may stand one behind the other (RFC 1952 section 2.2).
    while (machine := _machine(raw)) is not None:
        part, raw = _out(machine, raw, room)
        if part:
            yield part


def _machine(raw: bytes) -> _Machine | None:
    if raw.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    if raw.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if raw.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor(memlimit=_MEMORY_BYTES)
    if len(raw) > 2 and raw[0] & 0x0F == 8 and int.from_bytes(raw[:2]) % 31 == 0:
        return zlib.decompressobj()
    return None


def _out(machine: _Machine, raw: bytes, room: _Room) -> tuple[bytes, bytes]:
    """Give what comes out, whole or up to what cannot be unpacked, and what stands behind it."""
    room.member()
    parts: list[bytes] = []
    try:
        for at in range(0, len(raw), _PIECE):
            parts += _fed(machine, raw[at : at + _PIECE], room)
            if machine.eof:
                return b"".join(parts), machine.unused_data + raw[at + _PIECE :]
    except (zlib.error, OSError, lzma.LZMAError) as error:
        if isinstance(error, lzma.LZMAError) and "limit" in str(error):
            # It can be unpacked by whoever has the memory.
            raise TooLargeError from error
    return b"".join(parts), b""


def _fed(machine: _Machine, data: bytes, room: _Room) -> Iterator[bytes]:
    while True:
        part = machine.decompress(data, _PIECE)
        yield room.take(part)
        # The machines of zlib give back what they had no room for, the others keep it.
        data = getattr(machine, "unconsumed_tail", b"")
        if machine.eof or (not data and len(part) < _PIECE):
            return


def _members(raw: bytes, room: _Room) -> Iterator[bytes]:
    """Give the members by their local heads (APPNOTE section 4.3.7): the directory at the end may tell of others.

    The sizes in a head are not believed: what is deflated tells its own end, and what is only stored goes on to the next head.
    """
    at = 0
    while at >= 0 and at + _ZIP_HEAD.size <= len(raw):
        _, _, method, _, _, _, _, _, name, extra = _ZIP_HEAD.unpack_from(raw, at)
        start, at = at + _ZIP_HEAD.size + name + extra, raw.find(_ZIP, at + 4)
        if method == _DEFLATED:
            yield _out(zlib.decompressobj(-zlib.MAX_WBITS), raw[start:], room)[0]
        else:
            room.member()
            yield room.take(raw[start : at if at > start else len(raw)])
