"""Where a body holds something that would become an MCP server entry, or one of its kin.

Entries arrive as values of the body, as JSON, YAML or TOML text inside a string (raw configuration, tool arguments), and as
command lines that write the configuration. A dict with only a `command` is no entry outside an `mcp_servers` place: the
arguments of a terminal tool look the same, and chats are full of them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import ahocorasick_rs

from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.kin import GATE_WORDS, kin_of, steps
from herma.policy.entry.outline import outline

__all__ = ["Entry", "Kind", "entries", "may_hold_entry"]

# JSON inside JSON strings: tool arguments inside a transcript inside a body.
MAX_NESTING = 3
# The longest real configuration seen has 40 KiB. A longer string than this that writes names of entries is not read in part,
# but judged as an entry of its size, which is refused.
MAX_STRING_CHARS = 256 * 1024
# Names such as `"command":` that JSON is tried around in one string, and how many braces before each: an entry, its
# map, the configuration around that, and one more.
MAX_NAMES = 512
MAX_ENCLOSING = 4
# Keys of the way to a value that tell what it is: `config.tts.providers.<name>.command`.
_KEPT = 4

_PLACES = frozenset({"mcpservers", "mcpserver", "mcp"})
_TRANSPORTS = frozenset({"sse", "http", "https", "streamablehttp", "websocket", "ws", "stdio"})
_FOLD = str.maketrans("", "", "_- .")

_JSON_NAME = re.compile(
    r"\"(?:command|url|args|hooks|quick_commands|startup\w{0,12}|approvals|lsp|tts|stt|plugins|skills|terminal|base_url|path|key|mcp_?servers|[^\"\n]{0,20}u00[^\"\n]{0,40})\\{0,8}\"\s{0,20}:"
)
_WRITTEN_NAME = re.compile(
    r"(?:command|args|url|u00[^\"\n]{0,40})[\"'\\]{0,9}\s{0,20}[:=]|\bmcp_servers\.|\bmcp +add"
)
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
_KEY_SET = re.compile(r"\bconfig +set +[\"']?([a-zA-Z_][\w.-]{2,120})[\"']?[ \t=]{1,4}([^\n;&|]{1,4000})")
_KIN = re.compile("|".join(re.escape(word.decode()) for word in GATE_WORDS))
_MCP_ADD = re.compile(r"\bmcp +add(?:-json)?\b([^\n]{1,4000})")


_WORDS = (b"command", b"args", b"env", b"mcp", b"headers", b"transport", b"streamable", b'"sse"', *GATE_WORDS)
_COMMAND, _BESIDE, _TELLING = 0, frozenset({1, 2}), frozenset(range(3, len(_WORDS)))
_GATE = ahocorasick_rs.BytesAhoCorasick(
    _WORDS, matchkind=ahocorasick_rs.MatchKind.Standard, implementation=ahocorasick_rs.Implementation.DFA
)


def may_hold_entry(raw: bytes) -> bool:
    """Take the quick look: False means that no entry is in these bytes."""
    if b"\\u00" in raw:
        return True
    found = {index for index, _, _ in _GATE.find_matches_as_indexes(raw.lower(), overlapping=True)}
    # A command alone is a tool's argument: it takes arguments or an environment to be an entry.
    return not found.isdisjoint(_TELLING) or (_COMMAND in found and not found.isdisjoint(_BESIDE))


def entries(value: Any, *, whole: bool = False) -> Iterator[Entry]:
    """Give the entries of a parsed body, as many as there are; with `whole`, the body itself is one."""
    yield from _walk(value, "", inside=whole, nesting=0)


def _walk(
    value: Any, place: str, *, inside: bool, nesting: int, keys: tuple[str, ...] = ()
) -> Iterator[Entry]:
    """Walk with an explicit stack; `inside` tells that an ancestor is a place of server entries, `keys` are the last ones."""
    stack: list[tuple[Any, str, tuple[str, ...], bool]] = [(value, place, keys, inside)]
    while stack:
        node, place, keys, inside = stack.pop()
        if keys:
            yield from kin_of(keys, node, place)
        if isinstance(node, dict):
            if _is_entry(node, inside=inside):
                own = node.get("name")
                yield Entry(own if isinstance(own, str) else keys[-1] if keys else "", node, place)
            told = node.get("path") or node.get("key")
            if isinstance(told, str) and "value" in node:
                # JSON Patch, `config.set` and their like: the key is a value.
                parts = steps(told)
                stack.append((node["value"], f"{place}/value", parts[-_KEPT:], inside or _is_place(parts)))
            stack += [
                (
                    child,
                    f"{place}/{key.replace('~', '~0').replace('/', '~1')}",
                    (*keys, *(steps(key) if "." in key else (key.lower(),)))[-_KEPT:],
                    inside
                    or key.lower().translate(_FOLD) in _PLACES
                    or ("." in key and _is_place(steps(key))),
                )
                for key, child in node.items()
            ]
        elif isinstance(node, list):
            stack += [
                (child, f"{place}/{index}", keys if isinstance(child, dict) else (), inside)
                for index, child in enumerate(node)
            ]
        elif isinstance(node, str) and len(node) > 12:
            yield from _in_text(node, place, inside=inside, nesting=nesting)


def _is_place(parts: tuple[str, ...]) -> bool:
    return any(part.translate(_FOLD) in _PLACES for part in parts)


def _is_entry(node: dict[str, Any], *, inside: bool) -> bool:
    command, url = node.get("command"), node.get("url")
    if isinstance(command, (str, list)):
        return inside or isinstance(node.get("args"), (list, dict, str)) or isinstance(node.get("env"), dict)
    if isinstance(url, str):
        kind = node.get("transport") or node.get("type")
        typed = isinstance(kind, str) and kind.lower().translate(_FOLD) in _TRANSPORTS
        return inside or isinstance(node.get("headers"), dict) or typed
    return inside and isinstance(node.get("args"), list)


def _in_text(text: str, place: str, *, inside: bool, nesting: int) -> Iterator[Entry]:
    lowered = text.lower()
    mentions = "mcp" in lowered
    kin = _KIN.search(lowered) is not None
    if not mentions and not kin and "command" not in lowered and "args" not in lowered:
        return
    if len(text) > MAX_STRING_CHARS:
        whole = "command" in lowered and ("args" in lowered or "env" in lowered)
        if (mentions or inside or whole) and _WRITTEN_NAME.search(lowered) is not None:
            yield Entry("", {"command": "", "rest": text}, place)
        return
    if nesting < MAX_NESTING:
        for value in _json_in(text):
            yield from (
                Entry(entry.name, entry.fields, place, entry.kind)
                for entry in _walk(value, place, inside=inside, nesting=nesting + 1)
            )
        if ((mentions or kin) and "\n" in text) or (kin and text.lstrip()[:1] == "{"):
            yield from (
                Entry(entry.name, entry.fields, place, entry.kind)
                for entry in _walk(outline(text), place, inside=inside, nesting=MAX_NESTING)
            )
    if mentions or ("command" in lowered and "args" in lowered):
        yield from _yaml_in(text, place, mentions=mentions)
    if mentions:
        for match in _CONFIG_SET.finditer(text):
            field = "url" if match[1] == "url" else "command"
            yield Entry("", {field: match[2].strip().strip("\"'")}, place)
        for match in _MCP_ADD.finditer(text):
            yield Entry("", {"command": _added(match[1])}, place)
    if kin:
        for match in _KEY_SET.finditer(text):
            for entry in kin_of(steps(match[1])[-_KEPT:], match[2].strip().strip("\"'"), place):
                fields = {**entry.fields, "told": True} if entry.kind is Kind.SETTING else entry.fields
                yield Entry(entry.name, fields, place, entry.kind)


def _added(rest: str) -> str:
    """Give what `mcp add name …` would run: what follows `--` or `--command`, else all of it."""
    for mark in (" -- ", "--command ", "--command="):
        if mark in rest:
            return rest.partition(mark)[2].strip().strip("\"'")
    return rest.strip()


def _json_in(text: str) -> Iterator[Any]:
    """Read the JSON objects of a text that hold a name entries have: from the braces before each such name."""
    starts: set[int] = set()
    for count, match in enumerate(_JSON_NAME.finditer(text)):
        if count >= MAX_NAMES:
            # Too many to try: judged as one entry of this size, which is refused.
            yield {"command": "", "args": [], "rest": text}
            break
        at = match.start()
        for _ in range(MAX_ENCLOSING):
            at = text.rfind("{", 0, at)
            if at < 0:
                break
            starts.add(at)
    end = 0
    for at in sorted(starts):
        if at >= end:
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                continue
            yield value


_DECODER = json.JSONDecoder(strict=False)


def _yaml_in(text: str, place: str, *, mentions: bool) -> Iterator[Entry]:
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
