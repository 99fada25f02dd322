"""What of a document is new: the units that do not stand in the old one in the same way.

A unit is the smallest part that has to be judged whole. The harm of an entry lies in its members together (`command` and
`args`), so a mapping with a value of its own beside its mappings is one unit, and changing one member makes all of it new. A
mapping of mappings is a group of units, so is a list of mappings; and so is the document itself, whatever it holds. Which model is
asked, and for how long, changes nothing about where it is asked.
"""

import json
from collections import Counter
from typing import Any, Final

__all__ = ["difference", "merged", "same", "written"]

# Members that say nothing of what runs and where it goes: one of them alone makes nothing else new.
_ASIDE: Final = frozenset(
    {"default", "model", "context_length", "max_tokens", "temperature", "timeout", "reasoning_effort"}
)
# Groups within groups; configurations nest four deep. Below that a part is one unit, whatever it is.
MAX_GROUPS: Final = 8


def same(one: Any, other: Any) -> bool:
    """Tell whether two parsed values say the same. Unlike `==` it tells 1, 1.0 and true apart; the order of members is none."""
    # Whatever differs differs for `==` too, which is fast and stops at the first difference; the rest is looked at closely.
    return bool(one == other) and written(one) == written(other)


def difference(old: Any, new: Any) -> Any:
    """Give the units of `new` that `old` does not have, at their places.

    What stands in both is left out of mappings and is None in lists; so an unchanged document is empty. What is no mapping on both
    sides is new as a whole, unless it is the same.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return _members(old, new, MAX_GROUPS)
    return None if same(old, new) else new


def merged(old: Any, new: Any) -> Any:
    """Lay a written document over the old one, mapping by mapping, as an upstream does that merges; neither is changed.

    Iterative: how deep a document is, its writer says.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    result = dict(old)
    stack = [(result, new)]
    while stack:
        target, source = stack.pop()
        for name, value in source.items():
            below = target.get(name)
            if isinstance(below, dict) and isinstance(value, dict):
                target[name] = copied = dict(below)
                stack.append((copied, value))
            else:
                target[name] = value
    return result


def _members(old: dict[str, Any], new: dict[str, Any], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in new.items():
        if name not in old:
            found[name] = value
        elif not same(old[name], value):
            found[name] = _changed(old[name], value, depth - 1)
    return found


def _changed(old: Any, new: Any, depth: int) -> Any:
    """Give what of a part that is not the same has to be judged."""
    if depth > 0 and _is_group(old) and _is_group(new):
        return _members(old, new, depth)
    if isinstance(old, dict) and isinstance(new, dict) and (aside := _aside(old, new)):
        return aside
    if _lists_mappings(old) and _lists_mappings(new):
        known = Counter(map(written, old))
        items: list[Any] = []
        for item in new:
            key = written(item)
            known[key] -= 1
            items.append(None if known[key] >= 0 else item)
        return items
    return new


def _aside(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Give what changed of one unit, if it is nothing but members that say nothing of the rest; else nothing."""
    names = [
        name
        for name in {**old, **new}
        if name not in old or name not in new or not same(old[name], new[name])
    ]
    if all(name in _ASIDE and isinstance(new.get(name), str | int | float) for name in names):
        return {name: new[name] for name in names}
    return {}


def _is_group(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(member, dict) or _lists_mappings(member) for member in value.values()
    )


def _lists_mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def written(value: Any) -> str:
    """Write a parsed value in the one way that is the same for all spellings of it."""
    return json.dumps(value, sort_keys=True)
