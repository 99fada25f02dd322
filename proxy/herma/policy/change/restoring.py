"""Masked values put back: what a page was shown with a placeholder, and is saved with it, becomes again what it was.

Rule 1: a placeholder is replaced at the place where it was shown, by what stood there, and nowhere else; an item of a list may have
moved within the list, whole. Who may write a
configuration must not be able to move a secret that was never shown to a place from which it travels.
Rule 2: only a whole value that is the same as the shown one is put back. What was edited around a placeholder stays as it is, and
is refused by `MaskGuard`.
"""

from typing import Any, NamedTuple

from herma.policy.change.difference import same, written

__all__ = ["Restored", "restored"]


class Restored(NamedTuple):
    """The document with what was put back, and where (JSON Pointers)."""

    value: Any
    places: tuple[str, ...]


def restored(new: Any, shown: Any, held: Any) -> Restored:
    """Put back what was masked.

    Args:
        new: what is written.
        shown: what callers are shown of what the upstream holds.
        held: what it holds. Where the two differ, something was masked.
    """
    places: list[str] = []
    return Restored(_restored(new, shown, held, "", places), tuple(places))


def _restored(new: Any, shown: Any, held: Any, place: str, places: list[str]) -> Any:
    """Walk three documents at once; as deep as the written one is, which `parse` bounded."""
    if same(shown, held):
        return new
    if same(new, shown):
        places.append(place)
        return held
    if isinstance(new, dict) and isinstance(shown, dict) and isinstance(held, dict):
        return {
            name: _restored(value, shown[name], held[name], f"{place}/{_escaped(name)}", places)
            if name in shown and name in held
            else value
            for name, value in new.items()
        }
    if isinstance(new, list) and isinstance(shown, list) and isinstance(held, list):
        pairs = list(zip(shown, held, strict=False))
        # When an item is taken out, those behind it move up.
        moved = {written(item): pair for pair in pairs if not same(*pair) for item in pair[:1]}
        return [
            _item(value, moved, pairs[index : index + 1], f"{place}/{index}", places)
            for index, value in enumerate(new)
        ]
    return new


def _item(
    value: Any, moved: dict[str, tuple[Any, Any]], there: list[tuple[Any, Any]], place: str, places: list[str]
) -> Any:
    pair = moved.get(written(value)) or (there[0] if there else None)
    return value if pair is None else _restored(value, *pair, place, places)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
