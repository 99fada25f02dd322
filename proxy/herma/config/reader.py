"""Builds settings from parsed YAML, driven by the types of the dataclasses, and notes every problem on the way.

A value that is wrong is noted and replaced by its default, so that the rest is still judged; whoever calls must look at
`problems` before using what comes back.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import EnumType
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from herma.config.option import Option, describe
from herma.config.scalar import SCALARS
from herma.config.secrets import SecretProblem, SecretSource
from herma.config.values import Bytes, KeyHash, Seconds
from herma.errors import Problem, Source
from herma.yamlfile import Loaded, Path

__all__ = ["MISSING", "Finish", "Reader", "parts", "settings_of"]

# More items than anybody writes by hand.
MAX_ITEMS = 1000

_INTEGERS = (int, Bytes)
_NUMBERS = (float, Seconds)


class _Missing:
    """Stands for a value that could not be built."""


MISSING = _Missing()

# Called with each object that was built, its place and its raw value; returns the object to keep.
type Finish = Callable[["Reader", Any, Path, Mapping[str, Any]], Any]


def settings_of(kind: type) -> list[tuple[str, Any, Option]]:
    """List the configurable fields of a settings class: name, type, description."""
    hints = get_type_hints(kind)
    return [(item.name, hints[item.name], found) for item in fields(kind) if (found := describe(item))]


def parts(kind: Any) -> tuple[Any, ...]:
    """Return the members of a union without None; of any other type, the type."""
    return tuple(part for part in get_args(kind) if part is not type(None)) if _is_union(kind) else (kind,)


class Reader:
    """Reads one file."""

    def __init__(self, loaded: Loaded, secrets: SecretSource, finish: Mapping[type, Finish]) -> None:
        self._loaded = loaded
        self._secrets = secrets
        self._finish = finish
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def problem(self, at: Source, code: str, message: str) -> None:
        """Note something that forbids a start."""
        self.problems.append(Problem(at, code, message))

    def warn(self, at: Source, code: str, message: str) -> None:
        """Note something that should not stay."""
        self.warnings.append(Problem(at, code, message))

    def at(self, path: Path) -> Source:
        """Return the place of a value."""
        return self._loaded.at(path)

    def key_at(self, path: Path) -> Source:
        """Return the place of a key."""
        return self._loaded.key_at(path)

    def has(self, path: Path) -> bool:
        """Tell whether the file has a value at this place."""
        return self._loaded.has(path)

    def read(self, kind: type) -> Any:
        """Build the root; MISSING when something without a default is wrong."""
        return self._object(kind, self._loaded.value, ())

    def _object(self, kind: type, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            self._mismatch(value, path, "keys and values")
            return MISSING
        known = settings_of(kind)
        self._refuse_unknown(value, path, [key for name, _, option in known for key in _keys(name, option)])
        arguments: dict[str, Any] = {}
        complete = True
        for name, hint, option in known:
            built = self._field(name, hint, option, value, path)
            if built is not MISSING:
                arguments[name] = built
            elif option.required:
                complete = False
        if not complete:
            return MISSING
        made = kind(**arguments)
        finish = self._finish.get(kind)
        return finish(self, made, path, value) if finish else made

    def _field(self, name: str, hint: Any, option: Option, value: dict[str, Any], path: Path) -> Any:
        if option.secret:
            return self._secret(name, option, value, path)
        if name not in value:
            if option.required:
                self.problem(
                    self._loaded.key_at(path), "config.missing", f"the key {name!r} is missing; add it"
                )
            return MISSING
        return self._value(hint, option, value[name], (*path, name))

    def _refuse_unknown(self, value: dict[str, Any], path: Path, known: list[str]) -> None:
        for key in value:
            if key not in known:
                near = difflib.get_close_matches(key[:64], known, n=1)
                fix = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
                self.problem(
                    self._loaded.key_at((*path, key)), "config.unknown", f"unknown key {_shown(key)}; {fix}"
                )

    def _value(self, kind: Any, option: Option, value: Any, path: Path) -> Any:
        (kind,) = parts(kind)
        origin = get_origin(kind)
        if is_dataclass(kind) and isinstance(kind, type):
            scalar = SCALARS.get(kind)
            return self._text(kind, value, path) if scalar else self._object(kind, value, path)
        if origin in {tuple, frozenset}:
            return self._items(kind, option, value, path)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(get_args(kind)[1], value, path)
        if kind is bool:
            return value if isinstance(value, bool) else self._mismatch(value, path, "true or false")
        if kind in _INTEGERS or kind in _NUMBERS:
            return self._number(kind, option, value, path)
        if isinstance(kind, EnumType):
            return self._choice(kind, option, value, path)
        return self._text(kind, value, path)

    def _items(self, kind: Any, option: Option, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            return self._mismatch(value, path, "a list")
        if not option.min_items <= len(value) <= MAX_ITEMS:
            expected = f"expected {option.min_items} to {MAX_ITEMS}; add or remove some"
            self.problem(self.at(path), "config.items", f"found {len(value)} items, {expected}")
        inner = get_args(kind)[0]
        built = [
            self._value(inner, option, item, (*path, index)) for index, item in enumerate(value[:MAX_ITEMS])
        ]
        kept = [item for item in built if item is not MISSING]
        return frozenset(kept) if get_origin(kind) is frozenset else tuple(kept)

    def _mapping(self, inner: Any, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            return self._mismatch(value, path, "keys and values")
        built = {key: self._object(inner, item, (*path, key)) for key, item in value.items()}
        return {key: item for key, item in built.items() if item is not MISSING}

    def _number(self, kind: Any, option: Option, value: Any, path: Path) -> Any:
        whole = kind in _INTEGERS
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            return self._mismatch(value, path, "a whole number" if whole else "a number")
        low, high = option.minimum, option.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            self.problem(self.at(path), "config.range", f"found {value}, expected {low:.15g} to {high:.15g}")
            return MISSING
        return value if whole else float(value)

    def _choice(self, kind: EnumType, option: Option, value: Any, path: Path) -> Any:
        choices = option.choices or tuple(map(str, kind.__members__.values()))
        if isinstance(value, str) and value in choices:
            return kind(value)
        if not isinstance(value, str):
            return self._mismatch(value, path, f"one of {', '.join(choices)}")
        near = difflib.get_close_matches(value[:64], choices, n=1)
        fix = f"; did you mean {near[0]!r}?" if near else ""
        self.problem(self.at(path), "config.value", f"expected one of {', '.join(choices)}{fix}")
        return MISSING

    def _text(self, kind: Any, value: Any, path: Path) -> Any:
        scalar = SCALARS[kind]
        if not isinstance(value, str):
            return self._mismatch(value, path, scalar.expected)
        try:
            return scalar.parse(value)
        except ValueError as error:
            self.problem(self.at(path), "config.value", str(error))
            return MISSING

    def _secret(self, name: str, option: Option, value: dict[str, Any], path: Path) -> Any:
        given = [key for key in _keys(name, option) if key in value]
        if len(given) != 1:
            if given:
                self.problem(
                    self._loaded.key_at((*path, given[1])),
                    "config.secret.several",
                    f"found {' and '.join(given)}; keep one",
                )
            elif option.required:
                wanted = " or ".join(_keys(name, option))
                self.problem(self.at(path), "config.missing", f"a key is missing; add {wanted}")
            return MISSING
        key = given[0]
        place = (*path, key)
        text = value[key]
        if not isinstance(text, str):
            return self._mismatch(text, place, "text; put it in quotes")
        try:
            if key == "hash":
                return KeyHash.parse(text)
            if key.endswith("_file"):
                return self._secrets.from_file(text)
            return self._secrets.from_value(
                text, lambda code, message: self.warn(self.at(place), f"config.secret.{code}", message)
            )
        except SecretProblem as problem:
            self.problem(self.at(place), f"config.secret.{problem.code}", str(problem))
        except ValueError as error:
            self.problem(self.at(place), "config.secret.hash", str(error))
        return MISSING

    def _mismatch(self, value: Any, path: Path, expected: str) -> _Missing:
        self.problem(self.at(path), "config.type", f"found {_kind_of(value)}, expected {expected}")
        return MISSING


def _keys(name: str, option: Option) -> list[str]:
    """List the keys a field may be given by."""
    if not option.secret:
        return [name]
    return [name, f"{name}_file", *(["hash"] if option.hashed else [])]


def _is_union(kind: Any) -> bool:
    # `X | None` is the one for classes and the other for NewTypes.
    return get_origin(kind) in {Union, UnionType}


def _kind_of(value: Any) -> str:
    """Name the kind of a value; never the value."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "keys and values"


def _shown(key: str) -> str:
    return ascii(key if len(key) <= 40 else key[:40] + "...")
