"""Bytes that are spelled out with blanks, colons or commas between: `67 68 70`, `67:68:70`, `[103, 104]`, the lines of a dump.

All of it is masked when its text holds a secret, the text beside the digits of a dump with it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from herma.policy.redaction.encoded import best_of, readable
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.run import plain
from herma.policy.redaction.work import DECODED_RUN, PIECE_CHARS, Work, passing

__all__ = ["MAX_LINES", "may_be_spelled", "spelled"]

# x: a hexadecimal digit, s: what separates two bytes.
_KINDS: Final = bytes(
    0x78 if byte in b"0123456789abcdefABCDEF" else 0x73 if byte in b" :" else 0x20 for byte in range(256)
)
# Six bytes in a row are an address of hardware, and a time is three: a credential is longer.
_BYTES: Final = b"xxs" * 8
_WORDS: Final = b"xxxxs" * 4
_BOTH: Final = b"xxsxx"
# A list of numbers: what is left without the numbers is a row of commas.
MIN_LISTED: Final = 15
_COMMAS: Final = b"," * MIN_LISTED
_LISTED_SIGNS: Final = b"0123456789abcdefABCDEFxX \t\r\n"
_LIST: Final = re.compile(
    r"(?<![\w.-])(?:0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3})"
    r"(?:,[ \t]{0,4}(?:\r?\n[ \t]{0,32})?(?:0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3})(?![\w.])){15,32768}+",
    re.ASCII,
)
BYTES: Final = range(256)
# A file in a dump is judged by its first lines, as many as a key has.
MAX_LINES: Final = 2048
_ROW: Final = re.compile(r"[0-9a-fA-F]{2}(?:[ :][0-9a-fA-F]{2}(?![0-9a-fA-F])){8,32768}+", re.ASCII)
_LINE: Final = re.compile(
    r"[0-9a-fA-F]{7,8}:?[ ]{1,2}(?P<bytes>(?:(?:[0-9a-fA-F]{2}){1,2}[ ]{0,2}(?![0-9a-fA-F]{5})){1,32}+)[^\n]{0,80}(?:\n|$)",
    re.ASCII,
)


def may_be_spelled(text: str) -> bool:
    """Tell whether a text spells bytes."""
    return _may_be_listed(text) or _spells(plain(text).translate(_KINDS))


def _spells(kinds: bytes) -> bool:
    # `find` is three times faster than `in`, and what both begin with is rare.
    return kinds.find(_BOTH) >= 0 and (kinds.find(_BYTES) >= 0 or kinds.find(_WORDS) >= 0)


def spelled(text: str, inside: Callable[[str], list[Hit]], work: Work) -> Iterator[Hit]:
    """Find rows and dumps whose text holds a secret, as told by `inside`; what is not decoded for want of work is masked."""
    if _may_be_listed(text):
        yield from _listed(text, inside, work)
    work.left -= passing(len(text))
    kinds = plain(text).translate(_KINDS)
    if not _spells(kinds):
        return
    at, following = 0, {way: kinds.find(way) for way in (_BYTES, _WORDS)}
    while (at := _next(kinds, at, following)) >= 0:
        if work.spent:
            yield Hit.unseen(text, at, len(text))
            return
        start, end, raw = _bytes_at(text, at)
        work.left -= DECODED_RUN + passing(end - start)
        hits = inside(written) if (written := readable(raw)) else []
        if hits:
            yield best_of(hits, start, end)
        at = max(end, at + 1)


def _may_be_listed(text: str) -> bool:
    return text.count(",") >= MIN_LISTED and _COMMAS in plain(text).translate(None, _LISTED_SIGNS)


def _listed(text: str, inside: Callable[[str], list[Hit]], work: Work) -> Iterator[Hit]:
    """Find lists of numbers that are bytes of a text with a secret: `[103, 104, 112]`, `{0x67, 0x68}`."""
    for found in _LIST.finditer(text):
        if work.spent:
            yield Hit.unseen(text, found.start(), len(text))
            return
        work.left -= DECODED_RUN + 8 * passing(len(found.group()))
        numbers = [
            int(number.strip(), 0 if "x" in number.lower() else 10) for number in found.group().split(",")
        ]
        raw = bytes(number for number in numbers if number in BYTES)
        hits = inside(written) if len(raw) == len(numbers) and (written := readable(raw)) else []
        if hits:
            yield best_of(hits, found.start(), found.end())


def _next(kinds: bytes, start: int, following: dict[bytes, int]) -> int:
    """Find where bytes are spelled next; `following` keeps where each way was seen last, so that no text is searched twice."""
    for way, at in following.items():
        if 0 <= at < start:
            following[way] = kinds.find(way, start)
    return min((at for at in following.values() if at >= 0), default=-1)


def _bytes_at(text: str, at: int) -> tuple[int, int, bytes]:
    """Read the dump or the row that a place is in: where it begins and ends, and its bytes."""
    first = max(text.rfind("\n", 0, at) + 1, at - PIECE_CHARS)
    digits, end = "", first
    for _ in range(MAX_LINES):
        line = _LINE.match(text, end)
        if line is None:
            break
        digits += line["bytes"].replace(" ", "")
        end = line.end()
    if digits:
        return first, end, bytes.fromhex(digits)
    row = _ROW.match(text, at)
    if row is None:
        return at, at + 1, b""
    return at, row.end(), bytes.fromhex(row.group().replace(":", " "))
