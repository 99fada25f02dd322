"""A write against what the upstream holds: what is sent, and what of it is new and has to be judged.

Between the look at what is held and the write somebody else may write. What is put back then is as old as that look, a few
milliseconds, and what was taken for unchanged may bring back what the other took out; nothing that nobody ever judged gets in.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from herma.policy.change.difference import difference, merged, same
from herma.policy.change.lines import restored_text
from herma.policy.change.restoring import restored
from herma.policy.entry.yamltext import YamlError, read_yaml
from herma.policy.jsondoc import find
from herma.policy.routing.route import Current

__all__ = ["Standing", "Write", "compared", "completed", "hidden", "paired"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What the upstream holds at the place of a write: as it is, and as callers are shown it."""

    held: Any = field(repr=False)
    shown: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Write:
    """One write: the body to send, with masked values put back at `places`, and the body that holds what it changes."""

    body: Any = field(repr=False)
    news: Any = field(repr=False)
    places: tuple[str, ...] = ()


def hidden(body: Any, where: Current, standing: Standing) -> frozenset[str]:
    """Name what is written as a mapping and is told as something else: the upstream keeps more of it than it tells."""
    there = find(body, where.body)
    if len(there) != 1 or not isinstance(there[0][1], dict) or not isinstance(standing.held, dict):
        return frozenset()
    held = standing.held
    return frozenset(
        name
        for name, value in there[0][1].items()
        if isinstance(value, dict) and not isinstance(held.get(name), dict)
    )


def completed(standing: Standing, file: Standing, names: frozenset[str]) -> Standing:
    """Take what is kept under some names from a file; nobody was shown it, so nothing of it is put back."""
    try:
        kept = read_yaml(file.held) if isinstance(file.held, str) else None
    except YamlError:
        kept = None
    if not isinstance(kept, dict) or not isinstance(standing.shown, dict):
        return standing
    more = {name: kept[name] for name in names if name in kept}
    return Standing({**standing.held, **more}, {**standing.shown, **more})


def paired(listed: Any, items: tuple[str, str]) -> dict[str, Any] | None:
    """Read a list of which each item names a member and holds its value; None where it is none, or names one twice."""
    name, value = items
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        return None
    names = [item.get(name) for item in listed]
    if not all(isinstance(one, str) for one in names) or len(set(names)) != len(names):
        return None
    return {item[name]: item[value] for item in listed if value in item}


def compared(body: Any, where: Current, standing: Standing) -> Write | None:
    """Compare a body with what is held; None where the two cannot be compared, and the body is judged whole."""
    there = find(body, where.body)
    if len(there) != 1:
        return None
    new, held, shown = there[0][1], standing.held, standing.shown
    if isinstance(new, str) and isinstance(held, str) and isinstance(shown, str):
        text, places = restored_text(new, shown, held)
        news: Any = _news_of_text(held, text)
        return _write(body, where.body, text, news, tuple(f"{where.body}:{place}" for place in places))
    if isinstance(new, dict) and isinstance(held, dict):
        value, found = restored(new, shown, held)
        after = merged(held, value) if where.merges else value
        return _write(
            body, where.body, value, difference(held, after), tuple(f"{where.body}{place}" for place in found)
        )
    return None


def _news_of_text(held: str, text: str) -> str:
    """Give what a configuration text changes as another one; the whole text where one of the two cannot be read."""
    try:
        old, new = read_yaml(held), read_yaml(text)
    except YamlError:
        return text
    if not isinstance(old, dict) or not isinstance(new, dict):
        return text
    found = difference(old, new)
    # A document in which everything is new is judged as it is written.
    return text if same(found, new) else json.dumps(found)


def _write(body: Any, pointer: str, value: Any, news: Any, places: tuple[str, ...]) -> Write:
    sent = _with(body, pointer, value) if places else body
    return Write(sent, _with(body, pointer, news), places)


def _with(body: Any, pointer: str, value: Any) -> Any:
    """Give a body with another value at a pointer that names one; mappings on the way are copied."""
    if not pointer:
        return value
    step, _, rest = pointer[1:].partition("/")
    name = step.replace("~1", "/").replace("~0", "~")
    below = f"/{rest}" if rest else ""
    return {**body, name: _with(body[name], below, value)}
