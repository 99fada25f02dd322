"""Which of many runs of letters stand for a text or for something packed. Nearly none does, so all are asked at once.

The short runs are decoded as one, with a group between them that stands for no character. Only where something tells is a run
decoded by itself, and asked again.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

__all__ = ["SHORT_BYTES", "Coding", "tells", "told"]

# Of a short run, eight characters of text tell; of a long one of noise, so many stand in it by chance.
SHORT_BYTES: Final = 64 * 1024
# A search for a fixed string costs a hundredth of what one for a pattern costs, so the kinds of bytes are written as letters first.
_TEXT: Final = bytes(
    0x61 if byte in (0x09, 0x0A, 0x0D) or 0x20 <= byte <= 0x7E else 0x78 for byte in range(256)
)
_WIDE: Final = bytes(0x61 if 0x20 <= byte <= 0x7E else 0x30 if byte == 0 else 0x78 for byte in range(256))
_TEXT_CHARS, _MUCH_TEXT_CHARS = 8, 24
_WIDE_CHARS, _MUCH_WIDE_CHARS = 6, 12
_XZ, _ZIP, _ZSTANDARD = b"\xfd7zXZ\0", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_GZIP, _BZIP2 = b"\x1f\x8b\x08", b"BZh"
# What stands behind such heads, where there are so many bytes that three of them stand there by chance.
_MUCH_GZIP: Final = re.compile(rb"\x1f\x8b\x08[\0-\x1f]")
_MUCH_BZIP2: Final = re.compile(rb"BZh[1-9]1AY")
_ZLIB: Final = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")


@dataclass(frozen=True, slots=True)
class Coding:
    """How letters stand for bytes.

    `group` letters stand for whole bytes, `decode` reads whole groups and `exactly` any number of letters. `between` is a group of
    one letter that stands for bytes of 255.
    """

    group: int
    between: bytes
    decode: Callable[[bytes], bytes]
    exactly: Callable[[bytes], bytes]


def tells(found: bytes) -> bool:
    """Tell whether some bytes hold text or begin like something packed."""
    if _XZ in found or _ZIP in found or found.startswith(_ZLIB):
        return True
    if len(found) < SHORT_BYTES:
        return (
            b"a" * _TEXT_CHARS in found.translate(_TEXT)
            or b"a0" * _WIDE_CHARS in found.translate(_WIDE)
            or any(head in found for head in (_GZIP, _BZIP2, _ZSTANDARD))
        )
    return (
        b"a" * _MUCH_TEXT_CHARS in found.translate(_TEXT)
        or b"a0" * _MUCH_WIDE_CHARS in found.translate(_WIDE)
        or found.startswith(_ZSTANDARD)
        or _MUCH_GZIP.search(found) is not None
        or _MUCH_BZIP2.search(found) is not None
    )


def told(runs: Iterable[bytes], coding: Coding) -> Iterator[bytes]:
    """Give what the runs stand for that tell, each read from every place in its first group."""
    short: list[bytes] = []
    for run in runs:
        if len(run) < SHORT_BYTES:
            short.append(run)
            continue
        for at in range(coding.group):
            found = coding.exactly(run[at:])
            if tells(found):
                yield found
    if short:
        for at in range(coding.group):
            yield from _among([run[at:] for run in short], coding)


def _among(runs: Sequence[bytes], coding: Coding) -> Iterator[bytes]:
    group, fill = coding.group, coding.between[:1]
    filled = [run + fill * (-len(run) % group) for run in runs]
    many = coding.decode(coding.between.join(filled))
    size = len(coding.decode(coding.between))
    ends = [*accumulate((len(run) // group + 1) * size for run in filled)]
    for index in sorted({*_marked(many, ends)}):
        found = coding.exactly(runs[index])
        if tells(found):
            yield found


def _marked(many: bytes, ends: Sequence[int]) -> Iterator[int]:
    """Give which of the runs may tell, by where each ends."""
    # Of the heads of zlib the first byte is enough: it stands at the beginning of a run, or behind what is between two.
    yield from (0,) if many.startswith(b"x") else ()
    for sign, bytes_ in (
        (b"a" * _TEXT_CHARS, many.translate(_TEXT)),
        (b"a0" * _WIDE_CHARS, many.translate(_WIDE)),
        (b"\xffx", many),
        *((head, many) for head in (_XZ, _ZIP, _ZSTANDARD, _GZIP, _BZIP2)),
    ):
        at = bytes_.find(sign)
        while at >= 0:
            index = bisect_right(ends, at + len(sign) - 1)
            yield index
            # The last byte between two runs is the first of the sign before the next one.
            at = bytes_.find(sign, ends[index] - 1)
