"""Strict reading of a parsed YAML file: every key is known, every value has its type, every error has its place."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from herma.errors import ContentError
from herma.yamlfile import Loaded, Path

__all__ = ["Node"]


class Node:
    """A mapping in a file. Each reader returns its default for an absent key and raises `ContentError` for a bad value."""

    def __init__(
        self, loaded: Loaded, path: Path, value: Any, known: Sequence[str], required: Sequence[str]
    ) -> None:
        self._loaded = loaded
        self._path = path
        if not isinstance(value, dict):
            raise ContentError("expected a mapping of keys to values", loaded.at(path))
        self._value: dict[str, Any] = value
        for key in value:
            if key not in known:
                raise self.error(f"unknown key; expected one of {', '.join(known)}", key)
        for key in required:
            if key not in value:
                raise self.error(f"the key {key!r} is missing")

    def error(self, message: str, *path: str | int) -> ContentError:
        """Make an error for this mapping or something in it."""
        return ContentError(message, self._loaded.at((*self._path, *path)))

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        return key in self._value

    def text(self, key: str, default: str = "") -> str:
        """Read text that is not empty."""
        if key not in self._value:
            return default
        value = self._value[key]
        if not isinstance(value, str) or not value:
            raise self.error("expected text that is not empty", key)
        return value

    def flag(self, key: str) -> bool:
        """Read true or false; absent is false."""
        value = self._value.get(key, False)
        if not isinstance(value, bool):
            raise self.error("expected true or false", key)
        return value

    def size(self, key: str) -> int | None:
        """Read a positive whole number."""
        value = self._value.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise self.error("expected a whole number above 0", key)
        return value

    def choice[E: StrEnum](self, key: str, kind: type[E], default: E) -> E:
        """Read one of the values of an enumeration."""
        if key not in self._value:
            return default
        try:
            return kind(self.text(key))
        except ValueError:
            raise self.error(f"expected one of {', '.join(item.value for item in kind)}", key) from None

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts; an empty text is one."""
        value = self._value.get(key, [])
        if not isinstance(value, list):
            raise self.error("expected a list of texts", key)
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise self.error("expected text", key, index)
        return tuple(value)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Read a mapping of texts to texts."""
        value = self._value.get(key, {})
        if not isinstance(value, dict):
            raise self.error("expected a mapping of texts to texts", key)
        for name, item in value.items():
            if not isinstance(item, str) or not item:
                raise self.error("expected text that is not empty", key, name)
        return tuple(value.items())

    def node(self, key: str, known: Sequence[str], required: Sequence[str]) -> "Node | None":
        """Read a mapping; None if the key is absent."""
        if key not in self._value:
            return None
        return Node(self._loaded, (*self._path, key), self._value[key], known, required)

    def nodes(self, key: str, known: Sequence[str], required: Sequence[str]) -> "Iterator[Node]":
        """Read a list of mappings."""
        value = self._value.get(key, [])
        if not isinstance(value, list):
            raise self.error("expected a list", key)
        for index, item in enumerate(value):
            yield Node(self._loaded, (*self._path, key, index), item, known, required)

    def checked[T](self, key: str, make: Callable[[], T]) -> T:
        """Build something; a `ValueError` becomes an error at the key."""
        try:
            return make()
        except ValueError as error:
            raise self.error(str(error), key) from error
