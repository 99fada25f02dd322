"""The bodies of private keys, known again in pieces: lines of other lengths, in one run, in a string.

Of a body, windows of some letters are taken wherever a letter of a few stands, so that the same windows are taken of any piece of
it. What other keys or the public half have in common with it is left out.
"""

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

__all__ = ["WINDOW_CHARS", "Letters", "bodies", "windows", "without_keys"]

# 20 letters are 15 bytes: no chance, and half of the number that a key of a curve is.
WINDOW_CHARS: Final = 20
# One letter in four begins a window.
_WINDOW: Final = re.compile(r"(?=([BEHKNQTWZcfilorux][A-Za-z0-9+/]{19}))")
_PEM: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,16}-----(.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,16}-----|\Z)",
    re.DOTALL,
)
# What stands before the body of an encrypted key (RFC 1421 section 4.6), and lines as a string writes them.
_HEADER: Final = re.compile(r"(?m)^[A-Za-z-]{1,40}: .*$|\\[rn]")
_LETTERS: Final = re.compile(r"[A-Za-z0-9+/]+")
_OPENSSH: Final = b"openssh-key-v1\0"
# Version 1 and the head of the number, as a key of a curve has them before its public half (RFC 5915 section 3).
_CURVE: Final = b"\x02\x01\x01\x04"
# A key of RSA begins with its public half; the short form of Ed25519 with a head that all have (RFC 8410 section 7).
_LONG_CHARS: Final = 400
_SHORT_HEAD_CHARS: Final = 21


def without_keys(text: str) -> str:
    """Give a text without the private keys in it."""
    return _PEM.sub("\n", text)


def bodies(text: str) -> Iterator[str]:
    """Give windows of the private keys in a text: those that nobody else's key has."""
    for key in _PEM.finditer(text):
        body = "".join(_LETTERS.findall(_HEADER.sub(" ", key[1])))
        for start, end in _own(body):
            for _, window in windows(body[start:end]):
                yield window


def windows(letters: str) -> Iterator[tuple[int, str]]:
    """Give the windows of a run of letters, each with its place."""
    for window in _WINDOW.finditer(letters):
        yield window.start(), window[1]


def _own(body: str) -> Iterator[tuple[int, int]]:
    """Say which parts of a body are no head that many have, and not public."""
    raw = binascii.a2b_base64(body[: len(body) // 4 * 4])
    if raw.startswith(_OPENSSH):
        # The public key stands there twice, and then what is the owner's alone.
        parts = raw.split(_public(raw) or raw)
        at = len(raw)
        for part in reversed(parts[2:]):
            yield ((at - len(part)) * 4 + 2) // 3, at * 4 // 3
            at -= len(part) + len(_public(raw))
    elif (at := raw.find(_CURVE)) >= 0:
        start = at + len(_CURVE) + 1
        yield (start * 4 + 2) // 3, (start + int.from_bytes(raw[start - 1 : start])) * 4 // 3
    else:
        yield (len(body) // 2 if len(body) >= _LONG_CHARS else _SHORT_HEAD_CHARS), len(body)


def _public(raw: bytes) -> bytes:
    """Give the last part of the public key that a file of OpenSSH begins with (PROTOCOL.key): the number that is the key."""
    at, found = len(_OPENSSH), b""
    # The cipher, the derivation and its options; then how many keys there are.
    for _ in range(3):
        _, at = _part(raw, at)
    blob, _ = _part(raw, at + 4)
    at = 0
    while at < len(blob):
        found, at = _part(blob, at)
    return found


def _part(raw: bytes, at: int) -> tuple[bytes, int]:
    end = at + 4 + int.from_bytes(raw[at : at + 4])
    return raw[at + 4 : end], end


class Letters:
    """The letters of a text in one run, and where in the text they stand."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._places: list[int] = []
        parts: list[str] = []
        at = 0
        # An end of a line that is written as a sign has a letter that is none.
        for run in _LETTERS.finditer(text.replace("\\n", "  ").replace("\\r", "  ")):
            self._starts.append(at)
            self._places.append(run.start())
            parts.append(run[0])
            at += len(run[0])
        self.run = "".join(parts)

    def place(self, at: int) -> int:
        """Say where in the text a letter of the run stands."""
        index = bisect_right(self._starts, at) - 1
        return self._places[index] + at - self._starts[index]
