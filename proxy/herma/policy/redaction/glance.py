"""A glance at a JSON document: most hold no secret, and that is told from its values alone, without their places.

The glance asks of every string what the masking asks, and gives up where it is not sure: what it calls clean, the masking
would not change.
"""

import json
import re
from typing import TYPE_CHECKING, Any, Final

from herma.policy.redaction.relation import MAX_ARGUMENTS, beside, pair_of, tells

if TYPE_CHECKING:
    from herma.policy.redaction.redactor import Redactor

__all__ = ["MAX_NESTED_JSON", "Glance", "holds_json"]

# `arguments` of a tool call inside a stored transcript inside an event: three layers and one to spare.
MAX_NESTED_JSON: Final = 4
# Documents nested deeper are left to the masking, which keeps a stack of its own.
MAX_LEVELS: Final = 32
# Names of members and constants (`assistant`, `chat.completion`) repeat in every document; what looks drawn does not.
MAX_KNOWN: Final = 4096
_CONSTANT: Final = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,39}", re.ASCII)


class _UnsureError(Exception):
    """Only the masking can tell."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    # Of two equal names one value would go unseen.
    if len(members) != len(pairs):
        raise _UnsureError
    return members


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members)


def holds_json(text: str) -> bool:
    """Tell whether a string looks like a JSON document of its own."""
    return text[:1] in {"{", "["} and text.rstrip()[-1:] in {"}", "]"}


class Glance:
    """Looks at documents with one redactor; it holds no state but the constants that it found to be clean."""

    def __init__(self, redactor: "Redactor") -> None:
        self._redactor = redactor
        self._known: set[str] = set()

    def clean(self, text: str, depth: int = 0) -> bool:
        """Tell whether a JSON text certainly holds no secret; `depth` says how many strings it stands in.

        Raises:
            ValueError: the text is no JSON.
            RecursionError: it is nested too deep to be read.
        """
        try:
            self._value(_DECODER.decode(text), "", depth, 0)
        except _UnsureError:
            return False
        return True

    def _value(self, value: Any, key: str, depth: int, level: int) -> None:
        if isinstance(value, str):
            self._string(value, key, depth)
        elif isinstance(value, dict):
            self._object(value, depth, level + 1)
        elif isinstance(value, list):
            self._array(value, key, depth, level + 1)

    def _object(self, members: dict[str, Any], depth: int, level: int) -> None:
        if level > MAX_LEVELS:
            raise _UnsureError
        texts: dict[str, str] = {}
        for name, value in members.items():
            if name not in self._known:
                self._string(name, "", depth)
            if isinstance(value, str):
                self._string(value, name, depth)
                if name:
                    texts[name.lower()] = value
            elif isinstance(value, dict | list):
                self._value(value, name, depth, level)
        pair = pair_of(texts)
        if pair is not None and any(True for _ in beside(self._redactor.finder, *pair)):
            raise _UnsureError

    def _array(self, values: list[Any], key: str, depth: int, level: int) -> None:
        if level > MAX_LEVELS:
            raise _UnsureError
        for value in values:
            self._value(value, key, depth, level)
        strings = [value for value in values if isinstance(value, str)]
        if 2 <= len(strings) == len(values) <= MAX_ARGUMENTS and self._redactor.finder.find(
            " ".join(strings)
        ):
            raise _UnsureError

    def _string(self, text: str, key: str, depth: int) -> None:
        finder = self._redactor.finder
        told = bool(key) and tells(finder, key)
        if text in self._known and not told:
            return
        if depth < MAX_NESTED_JSON and holds_json(text):
            try:
                clean = self.clean(text, depth + 1)
            except (ValueError, RecursionError):
                clean = not self._redactor.edits(text)
            if not clean:
                raise _UnsureError
            return
        if self._redactor.edits(text) or (told and any(True for _ in beside(finder, key, text))):
            raise _UnsureError
        if _CONSTANT.fullmatch(text):
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known.add(text)
