"""Runs of characters that tokens are made of, found at the speed of `bytes.find`.

A pattern tries each character of a text; here a text is mapped to two characters, those of the alphabet and the rest, and a
run of the wanted length is one constant to search for.
"""

from typing import Final

__all__ = ["Alphabet", "plain"]

_INSIDE: Final = b"x"
_OUTSIDE: Final = b" "


def plain(text: str) -> bytes:
    """Write a text in ASCII, one byte a character: what is not ASCII becomes a question mark and keeps its place."""
    return text.encode("ascii", "replace")


class Alphabet:
    """A set of ASCII characters, and how many of them in a row are worth a look."""

    def __init__(self, characters: str, at_least: int) -> None:
        if not characters or at_least < 1 or "?" in characters:
            raise ValueError(
                "a run has at least one character, and a question mark stands for what is not ASCII"
            )
        inside = frozenset(characters.encode("ascii"))
        self._table = b"".join(_INSIDE if byte in inside else _OUTSIDE for byte in range(256))
        self._wanted = _INSIDE * at_least

    def runs(self, written: bytes) -> list[tuple[int, int]]:
        """Find every maximal run that is long enough, in order; `written` is what `plain` made of the text."""
        kinds = written.translate(self._table)
        found: list[tuple[int, int]] = []
        start = kinds.find(self._wanted)
        while start >= 0:
            end = kinds.find(_OUTSIDE, start)
            if end < 0:
                end = len(kinds)
            found.append((start, end))
            start = kinds.find(self._wanted, end)
        return found
