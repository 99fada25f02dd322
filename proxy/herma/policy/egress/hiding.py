"""Masks what stands in watched files where it stands in a text for people: in plain text, and in the strings of JSON.

A string is read as it is meant, and one that holds JSON is taken apart in turn. Names of members are masked as values are.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from herma.policy.decision import Finding
from herma.policy.egress.watched import Span, Watched
from herma.policy.redaction.document import literal
from herma.policy.redaction.redactor import Redactor

__all__ = ["WATCHED", "Hiding", "watched_found"]

WATCHED: Final = "egress-watched"
# The class that a placeholder names.
_CLASS: Final = "watched"
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"')
# A card in a field of a form in a message is JSON three times.
MAX_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Hiding:
    """Puts placeholders where a text holds what stands in a watched file."""

    redactor: Redactor
    watched: Watched

    def text(self, text: str, but: Collection[Span] = (), depth: int = 0) -> str:
        """Mask a text; the same object where nothing changes. `but` are strings of JSON that are left."""
        if not len(self.watched):
            return text
        if depth < MAX_DEPTH and _is_json(text):
            return self._strings(text, but, depth)
        return self._replaced(
            text, [(*span, self._stand_in(text[slice(*span)])) for span in self.watched.spans(text)]
        )

    def _strings(self, text: str, but: Collection[Span], depth: int) -> str:
        edits: list[tuple[int, int, str]] = []
        for string in _STRING.finditer(text):
            span = (string.start() + 1, string.end() - 1)
            written = text[slice(*span)]
            said = json.loads(string[0], strict=False) if "\\" in written else written
            hidden = self.text(said, depth=depth + 1)
            if hidden is not said and span not in but:
                edits.append((*span, literal(hidden, written)))
        return self._replaced(text, edits)

    def _stand_in(self, value: str) -> str:
        return self.redactor.stand_in(_CLASS, value)

    @staticmethod
    def _replaced(text: str, edits: Collection[tuple[int, int, str]]) -> str:
        if not edits:
            return text
        parts: list[str] = []
        done = 0
        for start, end, written in edits:
            parts += (text[done:start], written)
            done = end
        return "".join((*parts, text[done:]))


def watched_found(place: str) -> Finding:
    """Report that something of a watched file was found."""
    return Finding(WATCHED, place=place, attack="T1041")


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "[", '"'):
        return False
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
