"""Entries as texts write them: JSON inside other text, YAML that may be part of prose, command lines that set keys.

The patterns take what looks like an entry from anywhere in a text; whether it is one of a harmful kind is the judge's matter.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from herma.policy.entry.entry import Entry
from herma.policy.entry.keys import fold, steps
from herma.policy.entry.kin import KNOWN_NAMES, told_by_key

__all__ = ["argv_sets", "keys_set", "on_command_lines", "written_in_json", "written_in_yaml"]

# Names such as `"command":` that JSON is tried around in one string, and how many braces before each: an entry, its
# map, the configuration around that, and one more.
MAX_NAMES = 512
MAX_ENCLOSING = 4
# Words that are taken as one value or as the arguments of a server; a server with so many is refused.
MAX_VALUE_WORDS = 1024

_JSON_NAME = re.compile(r"\"([^\"\n\\]{1,60}|[^\"\n]{0,20}u00[^\"\n]{0,40})\\{0,8}\"\s{0,20}:")
_NAMES = KNOWN_NAMES | {
    "command",
    "cmd",
    "url",
    "args",
    "serverurl",
    "httpurl",
    "terminal",
    "mcpservers",
    "value",
    "argv",
}
_YAML_COMMAND = re.compile(
    r"(?m)^[ \t]{0,40}(?:- )?[\"']?command[\"']?[ \t]{0,8}[:=][ \t]{0,8}(\S[^\n]{0,4000})((?:\n[^\n]{0,4000}){0,40})"
)
_YAML_URL = re.compile(
    r"(?m)^[ \t]{0,40}(?:- )?[\"']?url[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?(\S{4,2000}?)[\"']?[ \t]{0,40}$"
)
_YAML_ARGS = re.compile(
    r"(?m)^[ \t]{0,40}[\"']?args[\"']?[ \t]{0,8}[:=][ \t]{0,8}(\[[^\n]{0,4000})?((?:\n[ \t]{0,40}-[ \t][^\n]{0,4000}){0,40})"
)
_YAML_ENV = re.compile(
    r"(?m)^[ \t]{0,40}[\"']?([A-Z][A-Z0-9_]{1,60})[\"']?[ \t]{0,8}[:=][ \t]{0,8}(\S[^\n]{0,2000})"
)
_ITEM = re.compile(r"\"((?:[^\"\\]|\\.){0,2000})\"|'([^']{0,2000})'|([^\s,\[\]\"'][^,\[\]]{0,2000})")
_CONFIG_SET = re.compile(r"\bmcp_servers\.[\w-]{1,64}\.(command|args|url)[\"']?[ \t=]{1,4}([^\n]{1,4000})")
# A command line that sets a key of the configuration.
_KEY_SET = re.compile(
    r"\bconfig +set +[\"']?([a-zA-Z_][\w.-]{2,4000})[\"']?[ \t=]++(?:\"([^\"\n]{1,4000})\"|'([^'\n]{1,4000})'|([^\n;&|]{1,4000}))"
)
_MCP_ADD = re.compile(r"\bmcp +add(?:-json)?[ \t](?=[ \t]{0,8}[\"'$]?[\w@-])([^\n]{1,4000})")


def on_command_lines(text: str, place: str) -> Iterator[Entry]:
    """Give the server entries that command lines in a text would write."""
    for match in _CONFIG_SET.finditer(text):
        field = "url" if match[1] == "url" else "command"
        yield Entry("", {field: match[2].strip().strip("\"'")}, place)
    for match in _MCP_ADD.finditer(text):
        yield Entry("", {"command": _added(match[1])}, place)


def keys_set(text: str) -> Iterator[tuple[str, str]]:
    """Give the keys of the configuration that command lines in a text would set, with their values."""
    for match in _KEY_SET.finditer(text):
        yield match[1], (match[2] or match[3] or match[4] or "").strip()


def argv_sets(words: list[Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give what a list of words sets as a command line: a key with its value, or no key and the fields of a server."""
    if not all(isinstance(word, str) for word in words):
        return
    for at, word in enumerate(words[:-1]):
        after = words[at + 1]
        if word == "config" and after in {"set", "add"} and at + 2 < len(words):
            key, _, value = words[at + 2].partition("=")
            if told_by_key(parts := steps(key)):
                yield parts, value or " ".join(words[at + 3 : at + 3 + MAX_VALUE_WORDS])
        elif word == "mcp" and after.startswith("add"):
            rest = words[at + 2 : at + 2 + MAX_VALUE_WORDS]
            kept = [part for part in rest[1:] if part not in {"--", "--command", "--args", "--url"}]
            if "--url" in rest or (kept and kept[0].startswith(("http:", "https:"))):
                yield (), {"url": kept[0] if kept else ""}
            else:
                yield (), {"command": kept[0] if kept else "", "args": kept[1:]}


def _added(rest: str) -> str:
    """Give what `mcp add name …` would run: what follows `--` or `--command`, else all of it."""
    for mark in (" -- ", "--command ", "--command="):
        if mark in rest:
            return rest.partition(mark)[2].strip().strip("\"'")
    return rest.strip()


def written_in_json(text: str) -> list[Any] | None:
    """Read the JSON objects of a text that hold a name entries have; None where there are too many to try."""
    starts: set[int] = set()
    count = 0
    for match in _JSON_NAME.finditer(text):
        if "u00" not in match[1] and fold(match[1]) not in _NAMES:
            continue
        count += 1
        if count > MAX_NAMES:
            return None
        at = match.start()
        for _ in range(MAX_ENCLOSING):
            at = text.rfind("{", 0, at)
            if at < 0:
                break
            starts.add(at)
    values: list[Any] = []
    end = 0
    for at in sorted(starts):
        if at >= end:
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                continue
            values.append(value)
    return values


_DECODER = json.JSONDecoder(strict=False)


def written_in_yaml(text: str, place: str, *, mentions: bool) -> Iterator[Entry]:
    """Give the entries in lines that look like YAML or TOML, whatever stands around them."""
    for match in _YAML_COMMAND.finditer(text):
        rest = match[2]
        fields: dict[str, Any] = {"command": _scalar(match[1])}
        if (listed := _YAML_ARGS.search(rest)) is not None:
            fields["args"] = [_item(item) for item in _ITEM.finditer(listed[1] or "")] or [
                _scalar(line.strip().removeprefix("-").strip())
                for line in listed[2].split("\n")
                if line.strip()
            ]
        fields["env"] = {item[1]: _scalar(item[2]) for item in _YAML_ENV.finditer(rest)}
        if mentions or "args" in fields:
            yield Entry("", fields, place)
    if mentions:
        yield from (Entry("", {"url": match[1]}, place) for match in _YAML_URL.finditer(text))


def _item(match: re.Match[str]) -> str:
    return _unescaped(match[1]) if match[1] is not None else (match[2] or match[3] or "").strip()


def _scalar(text: str) -> str:
    text = text.strip().rstrip(",")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _unescaped(text[1:-1])
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
