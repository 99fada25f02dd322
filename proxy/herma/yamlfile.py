"""YAML files with one meaning, and the place of every value in them.

The only module that imports yaml. The dialect is the YAML 1.2 core schema without anchors, aliases, merge keys, tags and
directives, one document a file, string keys, no key twice. What two YAML readers would understand differently is refused
(`0600`, an octal number here and six hundred there) or is text (`on`, `yes`, `12:30:45`, dates). Messages name keys and
places, never values: a value may be a secret.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from herma.errors import ConfigError, Problem, Source

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Loaded", "Path", "YamlError", "load"]

type Path = tuple[str | int, ...]

# A configuration has a few KiB, the longest rule file about a hundred. A megabyte is no configuration.
MAX_BYTES = 1024 * 1024
# The deepest place of a configuration is 5, of a profile 6.
MAX_DEPTH = 32
# Somebody mends problems by hand: more than this many are no help.
MAX_PROBLEMS = 50
# Every number of a configuration fits in a signed 64-bit word (19 digits).
MAX_INT_DIGITS = 19

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?[0-9]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# YAML 1.1 reads these as octal numbers, YAML 1.2 as decimal numbers or text.
_OCTAL = re.compile(r"[-+]?0[0-9_]+|0o[0-7]+")
# Line ends for YAML 1.1 and for no editor: what stands behind one in a comment would be read as configuration.
_HIDDEN_BREAK = re.compile("[\x85\u2028\u2029]")


class YamlError(ConfigError):
    """A YAML file cannot be used; carries every problem that was found."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a key and its value stand; an item of a list has no key."""

    key: tuple[int, int] | None
    value: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Plain values and their places.

    `value` holds dict, list, str, int, float, bool and None only.
    """

    value: Any
    file: str
    _marks: dict[Path, _Mark] = field(repr=False)

    def at(self, path: Path) -> Source:
        """Return where the value at `path` stands; for a missing one, where the nearest thing around it does."""
        mark = self._nearest(path)
        return Source(self.file, *mark.value)

    def has(self, path: Path) -> bool:
        """Tell whether there is a value at `path`."""
        return path in self._marks

    def key_at(self, path: Path) -> Source:
        """Return where the key of `path` stands; the value's place where there is no key."""
        mark = self._nearest(path)
        return Source(self.file, *(mark.key or mark.value))

    def _nearest(self, path: Path) -> _Mark:
        while path not in self._marks:
            path = path[:-1]  # the root is always there
        return self._marks[path]


def load(text: bytes, file: str, *, max_bytes: int = MAX_BYTES) -> Loaded:
    """Parse one YAML document.

    Raises:
        YamlError: The text has no single meaning; `problems` holds all that were found.
    """
    if len(text) > max_bytes:
        _refuse(Source(file), "yaml.size", f"found {len(text)} bytes, expected at most {max_bytes}")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(file, text[: error.start].decode("utf-8", "replace"))
        raise YamlError(
            [Problem(place, "yaml.encoding", "found bytes that are not UTF-8; save the file as UTF-8")]
        ) from error
    if hidden := _HIDDEN_BREAK.search(decoded):
        message = f"found the invisible line break U+{ord(hidden[0]):04X}; remove it, or write it as an escape in double quotes"
        _refuse(_place(file, decoded[: hidden.start()]), "yaml.character", message)
    builder = _Builder(file)
    builder.run(decoded)
    return builder.loaded()


def _refuse(source: Source, code: str, message: str) -> NoReturn:
    raise YamlError([Problem(source, code, message)])


def _place(file: str, before: str) -> Source:
    """Return the place right after `before`."""
    return Source(file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _start(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


@dataclass(slots=True)
class _Frame:
    """A collection that is being filled; `key` is the pending key of a mapping."""

    container: dict[str, Any] | list[Any]
    path: Path
    kept: bool
    key: str | None = None
    key_mark: tuple[int, int] | None = None
    # A key that was refused still has a value behind it, which is read and dropped.
    dropping: bool = False


class _Stop(Exception):  # noqa: N818 - not an error: it ends the reading, the problem is already noted
    """Nothing after this can be understood."""


class _Builder:
    """Turns parser events into values, without recursion: the depth is counted before anything is built."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[Problem] = []
        self._marks: dict[Path, _Mark] = {}
        self._key_marks: dict[Path, tuple[int, int]] = {}
        self._stack: list[_Frame] = []
        self._documents = 0
        self._root: Any = None

    def run(self, text: str) -> None:
        try:
            for event in _events(text):
                self._take(event)
        except _Stop:
            pass
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
            self._note(
                at,
                "yaml.syntax",
                f"{error.problem or error.context}; the file is not valid YAML from here on",
            )
        except yaml.reader.ReaderError as error:
            place = _place(self._file, text.encode()[: error.position].decode("utf-8", "ignore"))
            message = "found a control character; remove it, or write it as an escape in double quotes"
            self._note((place.line, place.column), "yaml.character", message)

    def loaded(self) -> Loaded:
        if not self._problems and self._root is None:
            self._note((0, 0), "yaml.empty", "found nothing, expected keys and values")
        if self._problems:
            raise YamlError(self._problems)
        return Loaded(self._root, self._file, self._marks)

    def _take(self, event: Event) -> None:
        match event:
            case DocumentStartEvent():
                self._document(event)
            case AliasEvent():
                self._note(_start(event), "yaml.alias", "found an alias (*name); write the value out")
                self._value(None, event)
            case ScalarEvent():
                self._undecorated(event)
                if self._wants_key():
                    self._key(event)
                else:
                    self._value(self._scalar(event), event)
            case CollectionStartEvent():
                self._undecorated(event)
                self._open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._stack.pop()
            case _:
                pass  # stream and document ends carry nothing

    def _document(self, event: DocumentStartEvent) -> None:
        self._documents += 1
        if self._documents > 1:
            self._note(
                _start(event),
                "yaml.documents",
                "found a second document (---), expected one a file; remove it",
            )
            raise _Stop
        if event.version or event.tags:
            self._note(_start(event), "yaml.directive", "found a directive (%); remove it")

    def _undecorated(self, event: NodeEvent) -> None:
        if event.anchor is not None:
            self._note(
                _start(event), "yaml.alias", "found an anchor (&name); write the value out where it is used"
            )
        if getattr(event, "tag", None) is not None:
            self._note(_start(event), "yaml.tag", "found a tag (!name); remove it")

    def _wants_key(self) -> bool:
        return (
            bool(self._stack)
            and isinstance(self._stack[-1].container, dict)
            and not self._pending(self._stack[-1])
        )

    @staticmethod
    def _pending(frame: _Frame) -> bool:
        return frame.key is not None or frame.dropping

    def _key(self, event: ScalarEvent) -> None:
        frame = self._stack[-1]
        assert isinstance(frame.container, dict)  # noqa: S101 - for the type checker: only a mapping wants a key
        key = self._scalar(event)
        if event.implicit[0] and event.value == "<<":
            self._drop(frame, event, "yaml.merge", "found a merge key (<<); write the keys out")
        elif not isinstance(key, str):
            self._drop(frame, event, "yaml.key", "found a key that is not text; put it in quotes")
        elif key in frame.container:
            first = self._key_marks.get((*frame.path, key))
            where = f", first on line {first[0]}" if first else ""
            self._drop(frame, event, "yaml.duplicate", f"found the key {_shown(key)} twice{where}; keep one")
        else:
            frame.key, frame.key_mark = key, _start(event)

    def _drop(self, frame: _Frame, event: Event, code: str, message: str) -> None:
        self._note(_start(event), code, message)
        frame.dropping = True

    def _open(self, event: CollectionStartEvent) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._note(
                _start(event), "yaml.depth", f"found more than {MAX_DEPTH} levels, one inside the other"
            )
            raise _Stop
        container: dict[str, Any] | list[Any] = {} if isinstance(event, MappingStartEvent) else []
        if self._wants_key():
            self._note(_start(event), "yaml.key", "found a collection as a key, expected text")
            self._stack[-1].dropping = True
            self._stack.append(_Frame(container, (), kept=False))
            return
        path = self._value(container, event)
        self._stack.append(_Frame(container, path or (), kept=path is not None))

    def _value(self, value: Any, event: Event) -> Path | None:
        """Attach a value where it belongs; return its path, None where it is dropped."""
        if not self._stack:
            self._root = value
            self._marks[()] = _Mark(None, _start(event))
            return ()
        frame = self._stack[-1]
        if isinstance(frame.container, list):
            step: str | int = len(frame.container)
            frame.container.append(value)
        else:
            if frame.key is None:
                # Either the value of a key that was refused, or an alias in the place of a key.
                frame.dropping = not frame.dropping
                return None
            step = frame.key
            frame.container[frame.key] = value
            frame.key = None
        if not frame.kept:
            return None
        path = (*frame.path, step)
        self._marks[path] = _Mark(frame.key_mark, _start(event))
        if frame.key_mark:
            self._key_marks[path] = frame.key_mark
        return path

    def _scalar(self, event: ScalarEvent) -> str | int | float | bool | None:
        if not event.implicit[0]:
            return event.value
        try:
            return _plain(event.value)
        except ValueError as error:
            self._note(_start(event), "yaml.number", str(error))
            return event.value

    def _note(self, at: tuple[int, int], code: str, message: str) -> None:
        self._problems.append(Problem(Source(self._file, *at), code, message))
        if len(self._problems) >= MAX_PROBLEMS:
            raise _Stop


def _events(text: str) -> Iterator[Event]:
    # The C parser only: the one written in Python differs from it at the edges.
    return yaml.parse(text, Loader=yaml.CSafeLoader)


def _plain(text: str) -> str | int | float | bool | None:
    """Give an unquoted scalar its meaning in the YAML 1.2 core schema (section 10.3.2)."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _OCTAL.fullmatch(text):
        raise ValueError(
            'found a number that starts with 0, which YAML readers understand differently; quote it ("…")'
        )
    if _INT.fullmatch(text) or _HEX.fullmatch(text):
        if len(text.lstrip("+-")) > MAX_INT_DIGITS:
            raise ValueError(
                f'found a number with more than {MAX_INT_DIGITS} digits; quote it ("…") if it is text'
            )
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            raise ValueError('found a number that is too large; quote it ("…") if it is text')
        return number
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("found a number that is not finite, expected an ordinary number")
    return text


def _shown(key: str) -> str:
    """Quote a key for a message: short, and without bytes that a terminal would obey."""
    return repr(key if len(key) <= 40 else key[:40] + "…")
