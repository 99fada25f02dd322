"""Copies of a masked value: who knows the name of a secret masks it once, and the same text may hold it again without a name.

A copy is looked for in the same text or document, as it is written, or cut short where a text or a string ends: a line that shows
the begin of a command may end inside its secret. What is short, or reads as a word, stands in texts for other reasons, and stays. A
stream masks what it finds at its place: a copy in a later piece is not told from the words around it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.value import is_path, looks_like_password, looks_random

__all__ = ["Known", "copies", "is_repeatable", "note"]

# The values that were masked in a text: what stands in for each, and its rule.
type Known = dict[str, tuple[str, str]]
# The same as in a view, which is built on the work that this is part of.
type Span = tuple[int, int]

MIN_CHARS: Final = 8
MAX_CHARS: Final = 512
# Letters alone, or words with a number, are a value from here on, if their case changes inside (`PebbleGarnet`).
MIN_WORDY_CHARS: Final = 12
# So much of a value is as good as the value; what vendors begin their keys with is shorter.
MIN_CUT_CHARS: Final = 10
# Each value is one pass over the text, at the speed of `str.find`; a text with more of them is a list of secrets, all named.
MAX_VALUES: Final = 16
# So many copies are masked; what repeats one value without end is made to cost.
MAX_COPIES: Final = 1024
_WRITTEN: Final = re.compile(r"[A-Za-z0-9_.+/=@%^!*~$#&:-]+$", re.ASCII)
_CHANGES_CASE: Final = re.compile(r"[a-z][A-Z]", re.ASCII)
_WORD: Final = re.compile(r"\w")
# Where a text was cut, or the string that it stands in ends.
_CUT: Final = re.compile(r"…|\.{3}|\\u2026|\\{0,8}\"|\Z")
_ESCAPES: Final = frozenset(("\\n", "\\r", "\\t"))


def is_repeatable(value: str) -> bool:
    """Tell whether a value that was masked would be the same secret wherever else it stood."""
    if not MIN_CHARS <= len(value) <= MAX_CHARS or _WRITTEN.match(value) is None or is_path(value):
        return False
    if looks_random(value):
        return True
    return len(value) >= MIN_WORDY_CHARS and (
        looks_like_password(value) or _CHANGES_CASE.search(value) is not None
    )


def note(known: Known, value: str, replacement: str, rule_id: str) -> None:
    """Remember a value that was masked, if a copy of it is to be masked too and there is room."""
    if len(known) < MAX_VALUES and rule_id != UNJUDGED_ID and is_repeatable(value):
        known.setdefault(value, (replacement, rule_id))


def copies(text: str, values: Collection[str], taken: Sequence[Span]) -> Iterator[tuple[int, int, str]]:
    """Find where the values stand again, apart from the places that are taken: start, end and the value, in order and apart."""
    found: list[tuple[int, int, str]] = []
    for value in values:
        found.extend(_places(text, value))
        if len(found) > MAX_COPIES:
            break
    return _apart(sorted(found)[:MAX_COPIES], sorted(taken))


def _places(text: str, value: str) -> Iterator[tuple[int, int, str]]:
    for at in _occurrences(text, value):
        if _stands_alone(text, at, at + len(value)):
            yield at, at + len(value), value
    # Counted by themselves: what only begins like the value uses up no whole copy's place.
    for at in _occurrences(text, value[:MIN_CUT_CHARS]):
        end = at + _shared(text, at, value)
        if _stands_alone(text, at, end) and _is_cut(text, end, value[end - at - 1 :]):
            yield at, end, value


def _occurrences(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    for _ in range(MAX_COPIES):
        if at < 0:
            return
        yield at
        at = text.find(part, at + len(part))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether it is no part of a longer word, which is another word; what an escape ends in is none."""
    glued = _WORD.match(text[start - 1 : start]) and text[start - 2 : start] not in _ESCAPES
    return not (glued or _WORD.match(text[end : end + 1]))


def _shared(text: str, at: int, value: str) -> int:
    """Count the characters of a value that stand at a place of a text."""
    if text.startswith(value, at):
        return len(value)
    pairs = enumerate(zip(text[at : at + len(value)], value, strict=False))
    return next((number for number, (there, here) in pairs if there != here), len(text) - at)


def _is_cut(text: str, end: int, rest: str) -> bool:
    """Tell whether a text ends inside a word of a value: `rest` is its last character there and what is missing, if anything is."""
    return len(rest) > 1 and rest[:2].isalnum() and _CUT.match(text, end) is not None


def _apart(found: Iterable[tuple[int, int, str]], taken: Sequence[Span]) -> Iterator[tuple[int, int, str]]:
    number, done = 0, 0
    for start, end, value in found:
        while number < len(taken) and taken[number][1] <= start:
            number += 1
        if start >= done and (number == len(taken) or taken[number][0] >= end):
            yield start, end, value
            done = end
