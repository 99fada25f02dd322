"""ZIP archives that an upstream unpacks over its home: what in them it would start something from, or write outside of its home.

Read by the directory at the end, as the upstream's reader does (APPNOTE.TXT section 4.3), and strictly: an archive that another
reader could find something else in is refused. What nobody starts anything from is not unpacked.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

__all__ = ["MAX_MEMBERS", "MAX_UNPACKED_BYTES", "ArchiveError", "restored"]

# A home with years of chats has some thousand files.
MAX_MEMBERS: Final = 20_000
# Of all that is unpacked: configurations have 60 KiB at most, and a backup has some of them.
MAX_UNPACKED_BYTES: Final = 2 * 1024 * 1024

_END: Final = struct.Struct("<4s4H2LH")
_ENTRY: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _UTF_8 = 0x1, 0x800
_LARGE: Final = 0xFFFFFFFF
# Extra fields that give a member another size, place (section 4.5.3) or name (section 4.6.9).
_OTHERWISE: Final = frozenset({0x0001, 0x7075})
# The upstream restores what stands below this folder to the home of its user.
_OUTSIDE: Final = "_external/"
_STARTED: Final = re.compile(
    r"(?:.*/)?(?:[^/]+\.ya?ml|[^/]*\.env(?:\.[^/]*)?|(?:hooks|scripts|agent-hooks)/(?:.*/)?[^/]+\.(?:sh|bash))",
    re.IGNORECASE,
)


class ArchiveError(ValueError):
    """An archive that has no single meaning; `too_large` tells that it only is more than can be judged."""

    def __init__(self, message: str, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.too_large = too_large


def restored(raw: bytes) -> list[dict[str, str]]:
    """Give the files that matter as writes: the `path` that the upstream would restore to, and the `content` if it is text.

    Raises:
        ArchiveError: it cannot be read in one way, has too many members, or more text than can be judged.
    """
    found: list[dict[str, str]] = []
    left = MAX_UNPACKED_BYTES
    for name, method, size, data in _members(raw):
        if name.startswith(_OUTSIDE):
            found.append({"path": f"~/{name.removeprefix(_OUTSIDE)}"})
        if not _STARTED.fullmatch(name):
            continue
        left -= size
        if left < 0:
            raise ArchiveError("too much text", too_large=True)
        try:
            text = _content(method, size, data).decode("utf-8")
        except UnicodeDecodeError:
            # The upstream reads configurations and scripts as UTF-8 only.
            continue
        found.append({"path": f"~/.hermes/{name}", "content": text})
    return found


def _members(raw: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Give name, method, size and packed bytes of each member."""
    at = len(raw) - _END.size
    if at < 0:
        raise ArchiveError("no archive")
    sign, disk, first_disk, here, count, size, start, comment = _END.unpack_from(raw, at)
    # Anything between directory and end, or behind it, moves what a lenient reader finds.
    if sign != b"PK\x05\x06" or disk or first_disk or comment or here != count or start + size != at:
        raise ArchiveError("no directory at the end")
    if count > MAX_MEMBERS:
        raise ArchiveError("too many members", too_large=True)
    body, place = raw[:start], start
    for _ in range(count):
        if place + _ENTRY.size > at:
            raise ArchiveError("the directory is cut short")
        fields = _ENTRY.unpack_from(raw, place)
        if fields[0] != b"PK\x01\x02":
            raise ArchiveError("the directory holds something else")
        name, extra, remark = fields[10], fields[11], fields[12]
        held = raw[place + _ENTRY.size : place + _ENTRY.size + name + extra]
        place += _ENTRY.size + name + extra + remark
        yield _member(body, fields, held[:name], held[name:])
    if place != at:
        raise ArchiveError("the directory holds something else")


def _member(raw: bytes, fields: tuple[Any, ...], name: bytes, extra: bytes) -> tuple[str, int, int, bytes]:
    flags, method, packed, size, offset = fields[3], fields[4], fields[8], fields[9], fields[16]
    if flags & _ENCRYPTED or method not in {_STORED, _DEFLATED} or _LARGE in {packed, size, offset}:
        raise ArchiveError("a member that cannot be read")
    if not _OTHERWISE.isdisjoint(_extra_fields(extra)) or any(byte < 32 for byte in name):
        raise ArchiveError("a member whose name or size can be read in two ways")
    start = offset + _LOCAL.size
    if start > len(raw):
        raise ArchiveError("a member that is not there")
    local = _LOCAL.unpack_from(raw, offset)
    begins = start + local[9] + local[10]
    if (
        local[0] != b"PK\x03\x04"
        or raw[start : start + local[9]] != name
        or begins + packed > len(raw)
        or (method == _STORED and packed != size)
    ):
        raise ArchiveError("a member that the directory tells otherwise")
    try:
        told = name.decode("utf-8" if flags & _UTF_8 else "cp437")
    except UnicodeDecodeError:
        raise ArchiveError("a name that cannot be read") from None
    return told, method, size, raw[begins : begins + packed]


def _extra_fields(extra: bytes) -> Iterator[int]:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        yield kind
        at += 4 + size


def _content(method: int, size: int, data: bytes) -> bytes:
    if method == _STORED:
        return data
    machine = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = machine.decompress(data, size + 1)
    except zlib.error:
        raise ArchiveError("a member that cannot be unpacked") from None
    if len(content) != size:
        raise ArchiveError("a member of another size")
    return content
