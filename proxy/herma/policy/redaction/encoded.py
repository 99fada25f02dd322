"""Runs of base64 and hexadecimal digits, decoded when they hold text: `echo Z2hw… | base64 -d`.

The whole run is masked when its text holds a secret; the fingerprint is that of the secret inside.
"""

import base64
import binascii
import re
import string
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from herma.policy.redaction.decode import DECODERS
from herma.policy.redaction.hit import Certainty, Hit
from herma.policy.redaction.run import Alphabet, plain
from herma.policy.redaction.view import View
from herma.policy.redaction.work import DECODED_RUN, PIECE_CHARS, RUN, Work, passing

__all__ = ["beginnings", "best_of", "encoded", "may_hold", "readable"]

# The name of a variable is shorter than a key in base64; what is longer than the bound is read piece by piece, each with the end of
# the one before it, which may hold the beginning of a key of 16,384 bits. Four characters of base64 are three bytes.
MIN_CHARS: Final = 16
MAX_CHARS: Final = 64 * 1024
OVERLAP_CHARS: Final = 16 * 1024
_BASE64: Final = Alphabet(string.ascii_letters + string.digits + "+/_-", MIN_CHARS)
# A word that is still open is worth a look from here on: four characters of base64 are three of a prefix.
# The shortest public beginning of a credential has three characters, and one must follow.
MIN_BEGUN_CHARS: Final = 8
_OPEN: Final = Alphabet(string.ascii_letters + string.digits + "+/_-", MIN_BEGUN_CHARS)
_PADDING: Final = ("", "", "==", "=")
_ASCII: Final = bytes(range(0x80))
_CONTROL: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in b"\t\r\n")
HEAD_BYTES: Final = 16
# No UTF-8 (RFC 3629 section 4): what goes on behind what is complete, what is begun before what begins, bytes that never occur.
_BROKEN: Final = re.compile(rb"[\x00-\x7f][\x80-\xbf]|[\xc0-\xff][\x00-\x7f]|[\xc0\xc1\xf5-\xff]")
# One byte in so many may be no text: a mark of the byte order, a letter of another encoding, a control character.
STRAY_SHARE: Final = 8
# A path or an address goes over into the base64 behind it: `/callback/Z2hw…`, `x-Z2hw…`, `see+Z2hw…`.
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]{16,65536}+", re.ASCII)
_SIGNS: Final = re.compile(r"[+/_-]")
# Of a long text, the first and the last character may be cut, each of four bytes at most.
MAX_CUT_BYTES: Final = 6
MIN_CUT_TEXT: Final = 1024
# RFC 4648 section 6; an identifier in capitals is shorter.
_BASE32: Final = re.compile(r"[A-Z2-7]{24,65536}+", re.ASCII)
_BASE32_GROUP: Final = 8
_BASE32_RESTS: Final = frozenset({2, 4, 5, 7})
# RFC 1952 section 2.3.1 and RFC 1950 section 2.2: what gzip and zlib begin with; zlib reads both with 32 added.
_PACKED: Final = frozenset({b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"})
_ANY_HEADER: Final = 32
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}){16,32768}+", re.ASCII)


def encoded(text: str, inside: Callable[[str], list[Hit]], work: Work | None = None) -> Iterator[Hit]:
    """Find runs whose decoded text holds a secret, as told by `inside`; what is not decoded for want of work is masked."""
    work = Work(len(text)) if work is None else work
    runs = _BASE64.runs(plain(text)) if len(text) >= MIN_CHARS else []
    if any(end - start > MAX_CHARS for start, end in runs):
        runs = [window for start, end in runs for window in _windows(start, end)]
    for number, (start, end) in enumerate(runs):
        run = text[start:end]
        work.left -= RUN
        if work.left < 0:
            yield from _unseen(text, runs[number:])
            return
        if run in work.clean:
            continue
        # Text in base64 has both cases within sixteen characters; identifiers and paths mostly do not.
        read_as: tuple[Callable[[str], str], ...] = _WAYS
        if run.islower():
            if _HEX.fullmatch(run) is None:
                continue
        elif run.isupper() and _HEX.fullmatch(run) is None:
            if _BASE32.fullmatch(run) is None:
                continue
            read_as = (_base32,)
        work.left -= DECODED_RUN + passing(len(run))
        try:
            read = [decoded for way in read_as if (decoded := way(run))]
        except _TooLongError:
            yield Hit.unseen(text, start, end)
            continue
        # Unpacked text may be much longer than the run.
        work.left -= passing(sum(map(len, read)))
        hits = next((inner for decoded in read if (inner := inside(decoded))), None)
        if hits:
            yield best_of(hits, start, _padded(text, end))
            continue
        found = [] if read or run.isalnum() else list(_segments(text, start, end, inside, work))
        if not found:
            work.clean.add(run)
        yield from found


def _windows(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a run into pieces that can be read, most into one."""
    for first in range(start, max(start + 1, end - OVERLAP_CHARS), MAX_CHARS - OVERLAP_CHARS):
        yield first, min(end, first + MAX_CHARS)


def _segments(
    text: str, start: int, end: int, inside: Callable[[str], list[Hit]], work: Work
) -> Iterator[Hit]:
    """Read what stands between the signs of a run that is no text as a whole."""
    for found in _SEGMENT.finditer(text, start, end):
        first, last = found.span()
        work.left -= DECODED_RUN + passing(last - first)
        if work.spent:
            yield Hit.unseen(text, first, end)
            return
        decoded = _base64(found.group())
        hits = inside(decoded) if decoded else []
        if hits:
            yield best_of(hits, first, _padded(text, last))


def beginnings(tail: str) -> Iterator[str]:
    """Read the last word of a text as each wrapping would have it, up to where it is cut."""
    for decode in DECODERS:
        view = decode(View(tail), Work(len(tail)))
        if view is not None:
            yield view.text
    for start, end in _OPEN.runs(plain(tail)):
        run = tail[start : min(end, start + MAX_CHARS)]
        # More packed text than is read is masked as soon as its run is read as a whole.
        with suppress(_TooLongError):
            yield _hexadecimal(run[: len(run) // 2 * 2])
        for part in {run, *_SIGNS.split(run)}:
            if len(part) < MIN_BEGUN_CHARS:
                continue
            with suppress(_TooLongError):
                yield _base64(part[: len(part) // 4 * 4])


def best_of(hits: list[Hit], start: int, end: int) -> Hit:
    """Mask characters `start` to `end` for the secret inside that is told best."""
    best = max(hits, key=lambda hit: (hit.certainty, len(hit.value)))
    return Hit(start, end, best.rule_id, best.value, max(Certainty.BLOCK, best.certainty))


def may_hold(text: str) -> bool:
    """Tell whether a text has a run that is worth a look."""
    return len(text) >= MIN_CHARS and bool(_BASE64.runs(plain(text)))


def _unseen(text: str, runs: list[tuple[int, int]]) -> list[Hit]:
    """Mask the runs that are left, with what stands between two near ones."""
    pieces: list[tuple[int, int]] = []
    for start, end in runs:
        if pieces and start - pieces[-1][1] < PIECE_CHARS:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return [Hit.unseen(text, start, end) for start, end in pieces]


def _padded(text: str, end: int) -> int:
    """Take the padding behind a run with it."""
    return end + len(text[end : end + 2]) - len(text[end : end + 2].lstrip("="))


def _base64(run: str) -> str:
    body = run.replace("-", "+").replace("_", "/")
    # A length of 4n+1 cannot be base64: the run was cut, or a character belongs to its surroundings.
    if len(body) % 4 == 1:
        body = body[:-1]
    return readable(_unpacked(binascii.a2b_base64(body + _PADDING[len(body) % 4])))


def _hexadecimal(run: str) -> str:
    return readable(_unpacked(bytes.fromhex(run))) if _HEX.fullmatch(run) else ""


def _base32(run: str) -> str:
    # RFC 4648 section 6: eight characters are five bytes; what is left over was cut.
    whole = run[: len(run) // 8 * 8]
    rest = run[len(whole) :]
    rest += "=" * (8 - len(rest)) if len(rest) in _BASE32_RESTS else ""
    return readable(base64.b32decode(whole + rest if len(rest) == _BASE32_GROUP else whole))


class _TooLongError(Exception):
    """Packed text is longer than what is unpacked."""


def _unpacked(raw: bytes) -> bytes:
    """Take packed bytes out of gzip or zlib; other bytes are left as they are.

    Raises:
        _TooLongError: it is text, and more of it than is read.
    """
    if raw[:2] not in _PACKED:
        return raw
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | _ANY_HEADER)
    try:
        unpacked = unpacking.decompress(raw, MAX_CHARS)
    except zlib.error:
        return raw
    if unpacking.unconsumed_tail and readable(unpacked):
        raise _TooLongError
    return unpacked


_WAYS: Final = (_base64, _hexadecimal)


def readable(raw: bytes) -> str:
    """Read bytes as text; nothing when they are none."""
    encoding = _wide(raw)
    if encoding:
        return _readable(raw.decode(encoding, "replace"))
    # Most runs are no text, and their first bytes tell; one that is not readable in a text hides nothing.
    head = raw[:HEAD_BYTES]
    if (len(head) - len(head.translate(None, _CONTROL))) * STRAY_SHARE > len(head):
        return ""
    if raw.isascii():
        return _readable(raw.decode("ascii"))
    # Most bytes are no text: to ask that first is cheaper than to fail.
    if _BROKEN.search(raw) is None:
        with suppress(UnicodeDecodeError):
            return _readable(raw.decode("utf-8"))
    if len(raw) > MIN_CUT_TEXT:
        text = raw.decode("utf-8", "ignore")
        if len(raw) - len(text.encode()) <= MAX_CUT_BYTES:
            return _readable(text)
    return _readable(raw.decode("latin-1")) if _is_ascii_mostly(raw) else ""


def _wide(raw: bytes) -> str:
    """Tell which encoding of two bytes a character this is, as PowerShell takes a command; none when it is another."""
    if 0 not in raw or len(raw) < MIN_CHARS or len(raw) % 2:
        return ""
    if raw[1::2].count(0) * 4 > len(raw):
        return "utf-16-le"
    return "utf-16-be" if raw[::2].count(0) * 4 > len(raw) else ""


def _is_ascii_mostly(raw: bytes) -> bool:
    return len(raw.translate(None, _ASCII)) * STRAY_SHARE <= len(raw)


def _readable(text: str) -> str:
    """Give the text, each stray sign as a blank; nothing when there are many."""
    if text.isprintable():
        return text
    stray = [sign for sign in set(text) if not (sign.isprintable() or sign in "\t\r\n")]
    if not stray:
        return text
    read = text.translate(dict.fromkeys(map(ord, stray)))
    if (len(text) - len(read)) * STRAY_SHARE > len(text):
        return ""
    return text.translate(dict.fromkeys(map(ord, stray), " "))
