"""Keys as people and programs write them: one form for all spellings, and keys that are paths taken apart.

`hooksAutoAccept`, `hooks-auto-accept` and `HOOKS_AUTO_ACCEPT ` are one key here. Names of servers stay as they are written.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

__all__ = ["SpellingsError", "fold", "nested", "spellings", "steps", "tree"]

# Parts of one key that is a path.
MAX_STEPS = 12
# Choices among members of one mapping whose names fold to one. Nobody writes a member twice; an attacker does, to hide one.
MAX_SPELLINGS = 16

_PARTS = re.compile(r"[./:\[\]]+")
_QUOTES = " \t\"'"


def fold(key: str) -> str:
    """Give the one form of a key: lower case, without blanks, dashes and underscores, wide letters as narrow ones."""
    if not key.isascii():
        key = unicodedata.normalize("NFKC", key)
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


class SpellingsError(ValueError):
    """A mapping has members with the same name in more ways than are judged."""


def spellings(members: Iterable[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give mappings of names to values, one for each choice among the values that share a name, first ones first.

    Raises:
        SpellingsError: there are too many choices.
    """
    held: dict[str, list[Any]] = {}
    for name, value in members:
        held.setdefault(name, []).append(value)
    if prod(map(len, held.values())) > MAX_SPELLINGS:
        raise SpellingsError
    for values in product(*held.values()):
        yield dict(zip(held, values, strict=True))


def steps(key: str) -> tuple[str, ...]:
    """Take a key apart that is written as a path: `a.b`, `/a/b`, `a[b]`, `a:b`, with the escapes of JSON Pointer."""
    text = key.replace("~1", "/").replace("~0", "~")
    return tuple(part for part in (piece.strip(_QUOTES) for piece in _PARTS.split(text)) if part)


def nested(parts: tuple[str, ...], value: Any) -> Any:
    """Write a path as the mappings it leads through."""
    for part in reversed(parts[-MAX_STEPS:]):
        value = {part: value}
    return value


def tree(pairs: Iterable[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    """Write several paths as one tree of mappings; a part `-` stands for one more item, as in JSON Patch."""
    root: dict[str, Any] = {}
    for count, (parts, value) in enumerate(pairs):
        node = root
        for part in parts[-MAX_STEPS:-1]:
            child = node.get(part)
            if not isinstance(child, dict):
                # What is set as a whole goes on being set in parts.
                child = dict(enumerate_keys(child)) if isinstance(child, list) else {}
                node[part] = child
            node = child
        if parts:
            last = f"-{count}" if parts[-1] == "-" else parts[-1]
            held = node.get(last)
            both = isinstance(held, dict) and isinstance(value, Mapping)
            node[last] = {**held, **value} if both and held else value
    return root


def enumerate_keys(items: list[Any]) -> Iterable[tuple[str, Any]]:
    """Give the items of a list under their numbers."""
    return ((str(index), item) for index, item in enumerate(items))
