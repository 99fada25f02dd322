"""What is written in text in another way: base64, base32 and hex, whole or cut into lines, and signs that stand for others.

For inspection only. A run need not begin where it seems to: behind other letters it is read from each place in its group. What
comes out counts when it holds text or begins like something packed; all else is noise.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["decoded_in", "narrowed", "rewritten"]

# Twelve characters of a key are as good as the key, and sixteen of base64 are twelve.
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]{16,}+")
_BASE32: Final = re.compile(rb"[A-Z2-7]{20,}+|[a-z2-7]{20,}+")
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

# Of a short run, eight characters of text tell; of a long one of noise, so many stand in it by chance.
SHORT_BYTES: Final = 64 * 1024
_TELLS: Final = re.compile(
    rb"[\t\n\r\x20-\x7e]{8,}+|(?:[\x20-\x7e]\0){6,}+|\x1f\x8b\x08|BZh[1-9]|\xfd7zXZ\0|PK\x03\x04|\x28\xb5\x2f\xfd|\A\x78[\x01\x5e\x9c\xda]"
)
_TELLS_MUCH: Final = re.compile(
    rb"[\t\n\r\x20-\x7e]{24,}+|(?:[\x20-\x7e]\0){12,}+|\x1f\x8b\x08[\0-\x1f]|BZh[1-9]1AY|\xfd7zXZ\0|PK\x03\x04|\A\x28\xb5\x2f\xfd|\A\x78[\x01\x5e\x9c\xda]"
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
    for run in _BASE64.finditer(raw):
        yield from _of_base64(run[0])
    for run in _CUT_BASE64.finditer(raw):
        yield from _of_base64(_NO_BASE64.sub(b"", run[0]))
    for pattern in (_HEX, _CUT_HEX):
        for run in pattern.finditer(raw):
            digits = _NO_HEX.sub(b"", run[0])
            for at in (0, 1):
                yield from _telling(binascii.unhexlify(digits[at : at + (len(digits) - at) // 2 * 2]))
    for run in _BASE32.finditer(raw):
        letters = run[0][: len(run[0]) // 8 * 8 + _REST[len(run[0]) % 8]]
        yield from _telling(base64.b32decode(letters.upper() + b"=" * (-len(letters) % 8)))


# How many of the letters behind the last whole group of base32 are read (RFC 4648 section 6).
_REST: Final = (0, 0, 2, 2, 4, 5, 5, 7)


def _of_base64(run: bytes) -> Iterator[bytes]:
    letters = run.translate(_STANDARD)
    for at in range(4):
        whole = letters[at:]
        # One letter alone is six bits of a byte.
        whole = whole[:-1] if len(whole) % 4 == 1 else whole
        yield from _telling(binascii.a2b_base64(whole + b"=" * (-len(whole) % 4)))


def _telling(found: bytes) -> Iterator[bytes]:
    pattern = _TELLS if len(found) < SHORT_BYTES else _TELLS_MUCH
    if pattern.search(found) is not None:
        yield found


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
    if _WIDE.search(raw) is not None:
        yield _WIDE.sub(lambda run: run[0].replace(b"\0", b""), raw)


def _meant(sign: re.Match[bytes]) -> bytes:
    digits = sign[1] or sign[2] or sign[4]
    if not digits:
        return _SHORT.get(sign[3], sign[3])
    value = int(digits, 16)
    return chr(value).encode("utf-8", "replace") if sign[1] else bytes([value])
