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
MAX_MEMBERS: Final = 1000
# What xz may take in memory to unpack; `xz -9` asks for 65 MiB.
_MEMORY_BYTES: Final = 96 * 1024 * 1024
_ZIP_HEAD: Final = struct.Struct("<4xHHHHHIIIHH")
_ZIP: Final = b"PK\x03\x04"
_DEFLATED: Final = 8


class TooLargeError(ValueError):
    """More would come out than is looked at."""


class _Machine(Protocol):
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
    """How many bytes may still come out."""

    def __init__(self) -> None:
        self.left = MAX_BYTES
        self.members = MAX_MEMBERS

    def take(self, part: bytes) -> bytes:
        self.left -= len(part)
        self.members -= 1
        if self.left < 0 or self.members < 0:
            raise TooLargeError
        return part


def _inside(raw: bytes, room: _Room) -> Iterator[bytes]:
    if raw.startswith(_ZIP):
        yield from _members(raw, room)
        return
    while (machine := _machine(raw)) is not None:
        part = _out(machine, raw, room)
        if part is None:
            return
        yield part
        # Files of gzip may stand one behind the other (RFC 1952 section 2.2).
        raw = machine.unused_data


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


def _out(machine: _Machine, raw: bytes, room: _Room) -> bytes | None:
    """Give what comes out, which may be empty; None when it is not what its first bytes say."""
    try:
        part = machine.decompress(raw, room.left + 1)
    except (zlib.error, OSError, EOFError, lzma.LZMAError) as error:
        if isinstance(error, lzma.LZMAError) and "limit" in str(error):
            # It can be unpacked by whoever has the memory.
            raise TooLargeError from error
        return None
    return room.take(part)


def _members(raw: bytes, room: _Room) -> Iterator[bytes]:
    """Give the members by their local heads (APPNOTE section 4.3.7): the directory at the end may tell of others."""
    at = raw.find(_ZIP)
    while at >= 0 and at + _ZIP_HEAD.size <= len(raw):
        _, _, method, _, _, _, size, _, name, extra = _ZIP_HEAD.unpack_from(raw, at)
        start = at + _ZIP_HEAD.size + name + extra
        end = start + size if size else len(raw)
        if method == _DEFLATED:
            yield _out(zlib.decompressobj(-zlib.MAX_WBITS), raw[start:end], room) or b""
        else:
            yield room.take(raw[start:end])
        # A head that lies about its size hides no other one.
        at = raw.find(_ZIP, at + 4)
