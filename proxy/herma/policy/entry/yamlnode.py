"""What a reader of YAML makes while it reads: values with what they cost, and the members of a mapping with its merges."""

from dataclasses import dataclass
from typing import Any

from herma.policy.entry.scalar import plain

__all__ = ["Members", "Node", "Plain", "YamlError", "meant"]


class YamlError(ValueError):
    """A text that is no YAML of one document, or of a kind that is not read here; the message repeats nothing of it."""

    def __init__(self, *, too_many: bool = False) -> None:
        super().__init__(
            "more values than can be read" if too_many else "no YAML that can be read with certainty"
        )
        self.too_many = too_many


@dataclass(slots=True)
class Node:
    """A value, how many values it is, and whether it was written plainly."""

    value: Any
    count: int = 1
    bare: bool = False


class Plain(str):
    """A scalar without quotes, as written."""

    __slots__ = ()


class Members:
    """The members of one mapping while it is read."""

    def __init__(self) -> None:
        self._own: dict[str, Any] = {}
        self._merged: dict[str, Any] = {}

    def put(self, key: Node, value: Any) -> None:
        """Take a member; `<<` takes those of another mapping, or of a list of them, the first of which wins."""
        if not isinstance(key.value, str) and key.value is not None:
            # A collection cannot be a key.
            raise YamlError
        if key.bare and isinstance(key.value, Plain) and key.value == "<<":
            for mapping in reversed(value) if isinstance(value, list) else [value]:
                if not isinstance(mapping, dict):
                    raise YamlError
                self._merged |= mapping
        else:
            self._own[str(key.value or "")] = meant(value)

    def whole(self) -> dict[str, Any]:
        """Give all members; its own come before those it merged."""
        return self._merged | self._own


def meant(value: Any) -> Any:
    """Give what a value means: a scalar without quotes may be a number, a truth value or nothing."""
    return plain(str(value)) if isinstance(value, Plain) else value
