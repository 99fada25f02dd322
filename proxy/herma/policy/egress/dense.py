"""What is written with more letters than base64 has: base85 in three alphabets, base58, and the lines of uuencode.

For inspection only. A run of base85 is told before it is decoded: five of its letters stand for four bytes, and where these are text,
the first of the five is one of few. Base58 is one long number, so that a run of it has a bound.
"""

import binascii
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from herma.policy.egress.telling import tells

__all__ = ["MAX_BASE58_CHARS", "MAX_BASE58_RUNS", "dense_in"]

_LETTERS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Ascii85 as in PDF, base85 of git and Python (RFC 1924), and Z85 of ZeroMQ (its RFC 32): each letter by its number.
_ASCII85: Final = bytes(range(0x21, 0x76))
_BASE85: Final = _LETTERS + b"!#$%&()*+-;<=>?@^_`{|}~"
_Z85: Final = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
# Of four bytes of ASCII, the first letter has at most this number.
_LAST_FIRST: Final = 40
_GROUPS: Final = 4
# A long run of letters alone is base64 or a word, and costs nothing further.
_MIN_CHARS: Final = 5 * _GROUPS
# One byte in six may be none of a text; of noise whose first letters happen to be right, every second one is.
_TEXT: Final = bytes((*b"\t\n\r", *range(0x20, 0x7F)))
_NO_TEXT_SHARE: Final = 6
_PACKED: Final = (b"\x1f\x8b\x08", b"BZh", b"PK\x03\x04", b"\xfd7zX", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
# Twelve characters of a key and the frame that zlib puts around them.
_MIN_PACKED_CHARS: Final = 25
_NO_SIGNS: Final = _LETTERS + b"+/=-_"

_BASE58_LETTERS: Final = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
MAX_BASE58_CHARS: Final = 2048
MAX_BASE58_RUNS: Final = 256
_BASE58: Final = re.compile(
    rb"(?<![0-9A-Za-z+/_-])[1-9A-HJ-NP-Za-km-z]{22,%d}(?![0-9A-Za-z+/_=-])" % MAX_BASE58_CHARS
)
_UUENCODED: Final = re.compile(rb"(?m)^begin(?:-[a-z]+)? [0-7]{3,4} [^\r\n]*\r?\n((?:[ -`]{2,61}\r?\n)+)")


class _Alphabet:
    """One way of writing base85."""

    def __init__(self, letters: bytes) -> None:
        every, first = (re.escape(each) for each in (letters, letters[: _LAST_FIRST + 1]))
        self.run: Final = re.compile(rb"[%b]{%d,}+" % (every, _MIN_CHARS))
        self.groups: Final = re.compile(rb"(?:[%b][%b]{4}){%d,}+[%b]{0,4}" % (first, every, _GROUPS, every))
        self.table: Final = bytes(letters.index(byte) if byte in letters else 0 for byte in range(256))


_ALPHABETS: Final = tuple(map(_Alphabet, (_ASCII85, _BASE85, _Z85)))


def dense_in(raw: bytes) -> Iterator[bytes]:
    """Give what runs of text stand for, one layer down."""
    for alphabet in _ALPHABETS:
        # Lines of an encoder are one run.
        for written in {raw, raw.replace(b"\r", b"").replace(b"\n", b"")}:
            yield from _of_base85(written, alphabet)
    for run in islice(_BASE58.finditer(raw), MAX_BASE58_RUNS):
        found = _of_base58(run[0])
        if tells(found):
            yield found
    for lines in _UUENCODED.finditer(raw):
        yield b"".join(map(_of_line, lines[1].splitlines()))


def _of_base85(raw: bytes, alphabet: _Alphabet) -> Iterator[bytes]:
    for run in alphabet.run.findall(raw):
        # One letter in four is a sign; a file of settings has fewer.
        if len(run.translate(None, _NO_SIGNS)) * 12 < len(run):
            continue
        if len(run) >= _MIN_PACKED_CHARS and _decoded(run[:5].translate(alphabet.table)).startswith(_PACKED):
            yield _decoded(run.translate(alphabet.table))
        for groups in alphabet.groups.findall(run):
            found = _decoded(groups.translate(alphabet.table))
            if len(found.translate(None, _TEXT)) * _NO_TEXT_SHARE <= len(found):
                yield found


def _decoded(numbers: bytes) -> bytes:
    """Read whole groups, and the rest of one as if it went on with the last letter."""
    rest = len(numbers) % 5
    missing = 5 - rest if rest else 0
    padded = numbers + b"\x54" * missing
    written = bytearray()
    for at in range(0, len(padded), 5):
        a, b, c, d, e = padded[at : at + 5]
        written += (((((a * 85 + b) * 85 + c) * 85 + d) * 85 + e) & 0xFFFFFFFF).to_bytes(4)
    return bytes(written[: len(written) - missing])


def _of_base58(run: bytes) -> bytes:
    number = 0
    for letter in run:
        number = number * 58 + _BASE58_LETTERS.index(letter)
    return number.to_bytes((number.bit_length() + 7) // 8)


def _of_line(line: bytes) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        return b""
