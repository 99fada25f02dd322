"""What stands around masks: the part of a text that a mask can change, and so the part that is looked at once more.

The rest was judged as it is. A text with one secret in it does not cost twice what it costs without.
"""

from collections.abc import Sequence
from typing import Final

from herma.policy.redaction.piece import piece_end, piece_start
from herma.policy.redaction.view import Span

__all__ = ["around", "placed"]

# A head of a table, or a verb, stands within 400 characters of its value; the lines of both are looked at whole.
REACH_CHARS: Final = 512
_BLANKS: Final = frozenset(" \t\n")


def placed(edits: Sequence[tuple[int, int, str]]) -> list[Span]:
    """Tell where placeholders stand in a text whose characters `start` to `end` were replaced, for each (start, end, placeholder)."""
    places: list[Span] = []
    moved = 0
    for start, end, replacement in edits:
        at = start + moved
        places.append((at, at + len(replacement)))
        moved += len(replacement) - (end - start)
    return places


def around(text: str, places: Sequence[Span]) -> list[Span]:
    """Give the parts of a text around these places, in order and apart; all of it as one when they are most of it."""
    parts: list[Span] = []
    for start, end in places:
        if parts and end + REACH_CHARS <= parts[-1][1]:
            continue
        first = _begin(text, piece_start(text, max(0, start - REACH_CHARS), 0), start)
        last = piece_end(text, first, end + REACH_CHARS)
        if parts and first <= parts[-1][1]:
            parts[-1] = (parts[-1][0], max(last, parts[-1][1]))
        else:
            parts.append((first, last))
    if sum(last - first for first, last in parts) * 2 >= len(text):
        return [(0, len(text))]
    return parts


def _begin(text: str, first: int, start: int) -> int:
    """Move the beginning of a part that lies inside a very long line to the end of the word there."""
    if first == 0 or text[first - 1] in _BLANKS:
        return first
    return min((at for blank in _BLANKS if (at := text.find(blank, first, start)) >= 0), default=first)
