"""Whether a text can match a pattern at all, told at the speed of a copy.

Most patterns that undo a disguise begin with a class of characters, which a text of prose holds everywhere; the engine stops
at each of them. Here every character is written as the letter of its class, and the text is searched for a few letters in a row.
"""

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase

__all__ = ["LOWER", "UPPER", "Shape"]

LOWER = ascii_lowercase
UPPER = ascii_uppercase


class Shape:
    """Classes of ASCII characters, each with a letter that stands for it, and the rows of letters that are looked for.

    What is in no class is written as a blank. A row must stand in every text that the pattern matches, `ascii_only` if it is
    made of ASCII wherever the pattern matches.
    """

    def __init__(self, classes: Mapping[str, str], *rows: str, ascii_only: bool = False) -> None:
        table = bytearray(b" " * 256)
        for letter, members in classes.items():
            for member in members:
                table[ord(member)] = ord(letter)
        self._table = bytes(table)
        self._rows = tuple(row.encode("ascii") for row in rows)
        self._ascii_only = ascii_only

    def may_match(self, text: str) -> bool:
        """Tell whether one of the rows is in a text; always so for one that is not ASCII, if its other characters count."""
        if not (self._ascii_only or text.isascii()):
            return True
        # What is not ASCII becomes a question mark.
        shape = text.encode("ascii", "replace").translate(self._table)
        # `in` takes longer to begin than most of these searches take.
        return any(shape.find(row) >= 0 for row in self._rows)
