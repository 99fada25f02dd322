"""The texts of a body, each read in every way in which it may write an entry, within what one body may cost."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from herma.policy.entry.entry import Entry
from herma.policy.entry.keys import steps
from herma.policy.entry.look import KEY_WORDS, keys_named, squeezed
from herma.policy.entry.notation import MAX_CHARS, relaxed_json, sections, tables, unwrapped
from herma.policy.entry.outline import outline
from herma.policy.entry.written import keys_set, on_command_lines, written_in_json, written_in_yaml
from herma.policy.entry.yamltext import YamlError, read_yaml

__all__ = ["MAX_KEYS_SET", "SHORTEST", "Reading", "Texts"]

# The longest real configuration seen has 40 KiB. A longer string than this that writes names of entries is not read in part,
# but judged as an entry of its size, which is refused.
MAX_STRING_CHARS = 256 * 1024
# Configuration text of one body that is read as YAML: reading takes half a second for each MiB.
MAX_OUTLINED_CHARS = 256 * 1024
# Texts of one body that are tried as documents of YAML though they need not be; of others, the blocks are read that name keys.
MAX_WHOLE_CHARS = 32 * 1024
# Texts of one body that are tried as TOML, INI or JSON with liberties. The agent itself reads none of these.
MAX_OTHER_CHARS = 128 * 1024
# How far before a key its line is looked at.
MAX_BEFORE_CHARS = 200
# JSON objects in the texts of one body. A long session of an agent has some hundreds of calls of tools.
MAX_VALUES = 8 * 1024
# Keys that command lines in the texts of one body set; a guide names a dozen.
MAX_KEYS_SET = 256
# Shorter strings say nothing: the shortest is `yolo: on`.
SHORTEST = 8

_WRITTEN_NAME = re.compile(
    r"(?:command|args|url|u00[^\"\n]{0,40})[\"'\\]{0,9}\s{0,20}[:=]|\bmcp_servers\.|\bmcp +add"
)
_ESCAPED_KEY = re.compile(r"\"[^\"\n]{0,60}\\{1,8}[xuU][0-9a-fA-F]{2}[^\"\n]{0,60}\"")
_WORD = re.compile(r"\w")
_FLOW = frozenset("{&!\\")
_WIDE = re.compile("[\uff21-\uff5a]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text writes: values as of a body, entries, keys that are set with their values; or that it cannot be read."""

    values: Sequence[Any] = ()
    entries: Sequence[Entry] = ()
    keys: Sequence[tuple[tuple[str, ...], str]] = ()
    unread: bool = False


_NOTHING = Reading()
_UNREAD = Reading(unread=True)


class Texts:
    """Reads the texts of one body."""

    def __init__(self) -> None:
        self._outlined = 0
        self._whole = 0
        self._others = 0
        self._values = 0
        self._keys = 0

    def read(self, text: str, *, strict: bool, inside: bool, deep: bool) -> Reading:
        """Read a text; with `strict` it is configuration and nothing else, with `deep` nothing in it is unwrapped any more."""
        if len(text) < (1 if strict else SHORTEST):
            return _NOTHING
        inner = None if strict else _inner(text)
        if inner is not None:
            return Reading([inner]) if not deep else _UNREAD if keys_named(squeezed(inner)) else _NOTHING
        bare = text.lstrip()
        short = squeezed(text)
        commands, mentions = "command" in short, "mcp" in short
        escaped = _ESCAPED_KEY.search(text) is not None or _WIDE.search(text) is not None
        told = escaped or commands or "args" in short or "config" in short
        places = keys_named(short)
        if not (strict or told or mentions or places):
            # JSON may tell a key as a value.
            structured = bare[:1] in {"{", "["} and any(word in short for word in KEY_WORDS)
            if not structured:
                return _NOTHING
        if not strict and ":" not in text and "=" not in text and " " not in text:
            # A name or a path.
            return _NOTHING

        if len(text) > MAX_STRING_CHARS:
            lowered = text.lower()
            whole = commands and ("args" in lowered or "env" in lowered)
            told = (mentions or inside or whole) and _WRITTEN_NAME.search(lowered) is not None
            return _UNREAD if told or strict else _NOTHING
        values = self._written(text, short, places, escaped=escaped, strict=strict)
        if values is None:
            return _UNREAD
        if deep and any(isinstance(value, (dict, list)) and value for value in values):
            return _UNREAD
        sure = strict or self._sure
        entries: list[Entry] = []
        if not sure and (mentions or (commands and "args" in short)):
            entries += written_in_yaml(text, "", mentions=mentions)
        if mentions:
            entries += on_command_lines(text, "")
        keys = [(steps(key), value) for key, value in islice(keys_set(text), MAX_KEYS_SET + 1)]
        self._keys += len(keys)
        return _UNREAD if self._keys > MAX_KEYS_SET else Reading(values, entries, keys)

    def _written(
        self, text: str, short: str, places: list[int], *, escaped: bool, strict: bool
    ) -> list[Any] | None:
        """Give the values a text writes: the JSON in it, and all of it as configuration; None where that is too much to read."""
        self._sure = False
        if text.lstrip()[:1] in {"{", "["} and (whole := _json(text)) is not None:
            self._values += 1
            self._sure = True
            return [whole] if self._values <= MAX_VALUES else None
        values = written_in_json(text)
        if values is None:
            return None
        self._values += len(values)
        if self._values > MAX_VALUES:
            return None
        if strict:
            return self._strictly(text)
        if not places and not escaped:
            return values
        self._whole += len(text)
        if self._whole <= MAX_WHOLE_CHARS:
            try:
                value = read_yaml(text)
            except YamlError:
                value = None
            if isinstance(value, (dict, list)):
                # What is YAML as a whole holds the JSON in it as values or as texts.
                self._sure = True
                # To other programs, what is in braces is JSON with liberties, and reads another way.
                other = relaxed_json(text) if text.lstrip()[:1] == "{" else None
                return [value] if other is None else [value, other]
        blocks = _blocks(text, short, places)
        if not self._counts(blocks):
            return None
        self._others += len(text)
        if len(text) <= MAX_CHARS and self._others <= MAX_OTHER_CHARS:
            values += [sections(text), relaxed_json(text)]
        else:
            # Of a long text, what begins with a key that counts.
            found = tables(text, _lines_of(short, places))
            if found is None:
                return None
            values.append(sections(found))
        return [*values, outline(blocks)]

    def _strictly(self, text: str) -> list[Any] | None:
        """Read a text that is configuration; None if it cannot be read with certainty."""
        if not self._counts(text):
            return None
        try:
            value = read_yaml(text)
        except YamlError:
            return None
        self._sure = True
        return [value]

    def _counts(self, text: str) -> bool:
        self._outlined += len(text)
        return self._outlined <= MAX_OUTLINED_CHARS


def _blocks(text: str, short: str, places: list[int]) -> str:
    """Give the blocks of lines that begin with a key that counts: what is indented further, and the items of a list."""
    lines = text.split("\n")
    kept: list[str] = []
    done = at = start = 0
    for place in places:
        start += short.count("\n", at, place)
        at = place
        if start < done or not _begins(short, place):
            continue
        indent = _indent(lines[start])
        end = start + 1
        while end < len(lines) and (
            not lines[end].strip() or _indent(lines[end]) > indent or _goes_on(lines[end], indent)
        ):
            end += 1
        kept += lines[start:end]
        done = end
    return "\n".join(kept)


def _lines_of(short: str, places: list[int]) -> Iterator[int]:
    """Give the lines in which places lie."""
    line = at = 0
    for place in places:
        line += short.count("\n", at, place)
        at = place
        yield line


def _begins(short: str, place: int) -> bool:
    """Tell whether what stands here may be the key of a line: nothing but signs before it, or an open flow."""
    start = short.rfind("\n", 0, place) + 1
    if place - start > MAX_BEFORE_CHARS:
        # What is not looked at may open a flow.
        return True
    before = short[start:place]
    return _WORD.search(before) is None or not _FLOW.isdisjoint(before)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _goes_on(line: str, indent: int) -> bool:
    return _indent(line) == indent and line.lstrip()[:1] in {"-", "]", "}", ":"}


def _inner(text: str) -> str | None:
    """Give the text that a text is, as JSON or wrapped in another alphabet."""
    bare = text.strip()
    if bare[:1] == '"' and bare[-1:] == '"':
        inner = _json(bare)
        return inner if isinstance(inner, str) else None
    return unwrapped(bare)


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
