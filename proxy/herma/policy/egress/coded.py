"""What is written in text in another way: base64, base32 and hex, whole or cut into lines, and signs that stand for others.

For inspection only. A run need not begin where it seems to: behind other letters it is read from each place in its group. What
comes out counts when it holds text or begins like something packed; all else is noise.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from typing import Final

from herma.policy.egress.telling import Coding, tells, told

__all__ = ["decoded_in", "narrowed", "rewritten"]

# Twelve characters of a key are as good as the key, and sixteen of base64 are twelve.
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{16,}+")
_HEX: Final = re.compile(rb"(?:[0-9a-fA-F]{2}){12,}+[0-9a-fA-F]?+")
# The same in pieces: lines of an encoder, labels of a name, words.
_BETWEEN: Final = rb"""[ \t\r\n.,;|"'\\]{1,4}+"""
_CUT_BASE64: Final = re.compile(
    rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{4,}+=*(?:" + _BETWEEN + rb"[A-Za-z0-9+/_-]{2,}+=*)++"
)
_CUT_HEX: Final = re.compile(rb"(?<![0-9a-fA-F])(?:(?:0x|\\x)?[0-9a-fA-F]{2,}+[\s:,;-]{0,3}+){8,}+")
_NO_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/_-]+")
_NO_HEX: Final = re.compile(rb"0x|\\x|[^0-9a-fA-F]+")
_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


def _kinds(members: bytes) -> bytes:
    """Make a table that writes bytes of a kind as one letter and all others as another."""
    return bytes(0x61 if byte in members else 0x78 for byte in range(256))


# What stands in a run, and how many of them at least. A search for so many equal letters costs a fiftieth of the pattern's.
_DIGITS: Final = b"0123456789abcdefABCDEF"
_SIGNS: Final = (
    (_HEX, _kinds(_DIGITS), b"a" * 24),
    (_CUT_HEX, _kinds(_DIGITS + b"x\\:,;- \t\n\r\f\v"), b"a" * 16),
)
_LETTERS: Final = (
    (re.compile(rb"[A-Z2-7]{20,}+"), _kinds(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), b"a" * 20),
    (re.compile(rb"[a-z2-7]{20,}+"), _kinds(b"abcdefghijklmnopqrstuvwxyz234567"), b"a" * 20),
)

# Strings of JSON (RFC 8259 section 7) and of most languages, and percent (RFC 3986 section 2.1).
_SIGN: Final = re.compile(rb"""\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(["'\\/bfnrt]))|%([0-9a-fA-F]{2})""")
_SHORT: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
# UTF-16 and UTF-32 in either order, anywhere in other bytes.
_WIDE: Final = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0{1,3}+){6,}+")
# RFC 2045 section 6.7. An equals sign is never written as itself, which tells it from a text that has many.
_QUOTED: Final = re.compile(rb"=(?:\r?\n|([0-9A-Fa-f]{2}))")
_IS_QUOTED: Final = re.compile(rb"=3[Dd]|=\r?\n")


def decoded_in(raw: bytes) -> Iterator[bytes]:
    """Give what runs of text stand for, one layer down."""
    # A number in digits alone has a byte above all letters in every group.
    runs = [run for run in _BASE64.findall(raw) if not run.isdigit()]
    runs += (_NO_BASE64.sub(b"", run) for run in _CUT_BASE64.findall(raw))
    yield from told((run.translate(_STANDARD) for run in runs), _AS_BASE64)
    digits = (_NO_HEX.sub(b"", run) for run in _runs(raw, _SIGNS))
    yield from told(digits, _AS_HEX)
    for run in _runs(raw, _LETTERS):
        letters = run[: len(run) // 8 * 8 + _REST[len(run) % 8]]
        found = base64.b32decode(letters.upper() + b"=" * (-len(letters) % 8))
        if tells(found):
            yield found


def _runs(raw: bytes, kinds: Sequence[tuple[re.Pattern[bytes], bytes, bytes]]) -> Iterator[bytes]:
    for pattern, table, sign in kinds:
        if sign in raw.translate(table):
            yield from pattern.findall(raw)


# How many of the letters behind the last whole group of base32 are read (RFC 4648 section 6).
_REST: Final = (0, 0, 2, 2, 4, 5, 5, 7)


def _of_base64(letters: bytes) -> bytes:
    # One letter alone is six bits of a byte.
    whole = letters[:-1] if len(letters) % 4 == 1 else letters
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def _of_hex(digits: bytes) -> bytes:
    return binascii.unhexlify(digits[: len(digits) // 2 * 2])


_AS_BASE64: Final = Coding(4, b"////", binascii.a2b_base64, _of_base64)
_AS_HEX: Final = Coding(2, b"ff", binascii.unhexlify, _of_hex)


def rewritten(raw: bytes) -> Iterator[bytes]:
    """Give bytes with the signs in them that stand for others replaced, where there are such signs."""
    if b"\\" in raw or b"%" in raw:
        plain = _SIGN.sub(_meant, raw)
        if plain != raw:
            yield plain
    if _IS_QUOTED.search(raw) is not None:
        yield _QUOTED.sub(lambda sign: bytes([int(sign[1], 16)]) if sign[1] else b"", raw)


def narrowed(raw: bytes) -> Iterator[bytes]:
    """Give bytes with the text in them that has two or four bytes a character written in one."""
    if b"\0" in raw and _WIDE.search(raw) is not None:
        yield _WIDE.sub(lambda run: run[0].replace(b"\0", b""), raw)


def _meant(sign: re.Match[bytes]) -> bytes:
    digits = sign[1] or sign[2] or sign[4]
    if not digits:
        return _SHORT.get(sign[3], sign[3])
    value = int(digits, 16)
    return chr(value).encode("utf-8", "replace") if sign[1] else bytes([value])
