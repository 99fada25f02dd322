"""Where a body holds something that would become an MCP server entry, or one of its kin.

Entries arrive as values of the body, as JSON, YAML or TOML text inside a string (raw configuration, tool arguments), and as
command lines that write the configuration. A dict with only a `command` is no entry outside an `mcp_servers` place: the
arguments of a terminal tool look the same, and chats are full of them.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.kin import GATE_WORDS, KEPT_KEYS, kin_of, steps
from herma.policy.entry.outline import outline
from herma.policy.entry.written import keys_set, on_command_lines, written_in_json, written_in_yaml

__all__ = ["Entry", "Kind", "entries", "may_hold_entry"]

# JSON inside JSON strings: tool arguments inside a transcript inside a body.
MAX_NESTING = 3
# The longest real configuration seen has 40 KiB. A longer string than this that writes names of entries is not read in part,
# but judged as an entry of its size, which is refused.
MAX_STRING_CHARS = 256 * 1024
# Configuration text of one body that is read as YAML: reading takes half a second for each MiB.
MAX_OUTLINED_CHARS = 256 * 1024
# JSON objects in the texts of one body. A long session of an agent has some hundreds of calls of tools.
MAX_VALUES = 8 * 1024
# Keys that command lines in the texts of one body set; a guide names a dozen.
MAX_KEYS_SET = 256
# Parts of one key that is a path.
MAX_STEPS = 8
# Shorter strings say nothing that runs.
_SHORTEST = 12

_PLACES = frozenset({"mcpservers", "mcpserver", "mcp"})
_TRANSPORTS = frozenset({"sse", "http", "https", "streamablehttp", "websocket", "ws", "stdio"})
_FOLD = str.maketrans("", "", "_- .")

_WRITTEN_NAME = re.compile(
    r"(?:command|args|url|u00[^\"\n]{0,40})[\"'\\]{0,9}\s{0,20}[:=]|\bmcp_servers\.|\bmcp +add"
)
# A key as YAML writes it below which something may run, or a flow collection that may have one.
_OUTLINED = re.compile(
    r"(?m)^[ \t]{0,40}(?:- )?[\"']?(?:mcp_?servers|hooks|quick_commands|startup\w{0,12}|pre_start|post_start|on_start|lsp|tts|stt"
    r"|approvals?|approval_mode|command_allowlist|hooks_auto_accept|subagent_auto_approve|allow_unsafe_evaluate|inline_shell"
    r"|tirith_path|binary_path|docker_volumes|docker_extra_args|env_passthrough|shell_init_files|base_url|plugins|<<)[\"']?[ \t]{0,8}:"
    r"|^[ \t]{0,8}\{[^\"]"
)
_KIN = re.compile("|".join(re.escape(word.decode()) for word in GATE_WORDS))


_TELLING = (b"mcp", b"headers", b"transport", b"streamable", b'"sse"', *GATE_WORDS)


def may_hold_entry(raw: bytes) -> bool:
    """Take the quick look: False means that no entry is in these bytes."""
    if b"\\u00" in raw:
        return True
    lowered = raw.lower()
    if any(word in lowered for word in _TELLING):
        return True
    # A command alone is a tool's argument: it takes arguments or an environment to be an entry.
    return b"command" in lowered and (b"args" in lowered or b"env" in lowered)


def entries(value: Any, *, whole: bool = False) -> Iterator[Entry]:
    """Give the entries of a parsed body, as many as there are; with `whole`, the body itself is one."""
    yield from _Finder().walk(value, "", inside=whole, nesting=0)


class _Finder:
    """One pass over a body."""

    def __init__(self) -> None:
        self._outlined = 0
        self._values = 0
        self._keys = 0

    def walk(self, value: Any, place: str, *, inside: bool, nesting: int) -> Iterator[Entry]:
        """Walk with an explicit stack; `inside` tells that an ancestor is a place of server entries."""
        stack: list[tuple[Any, str, tuple[str, ...], bool]] = [(value, place, (), inside)]
        while stack:
            node, place, keys, inside = stack.pop()
            if keys or isinstance(node, dict):
                yield from kin_of(keys, node, place)
            if isinstance(node, dict):
                if _is_entry(node, inside=inside):
                    own = node.get("name")
                    yield Entry(own if isinstance(own, str) else keys[-1] if keys else "", node, place)
                stack += _members(node, place, keys, inside=inside)
            elif isinstance(node, list):
                stack += [
                    (child, f"{place}/{index}", keys if isinstance(child, dict) else (), inside)
                    for index, child in enumerate(node)
                ]
            elif isinstance(node, str) and len(node) > _SHORTEST:
                yield from self._in_text(node, place, inside=inside, nesting=nesting)

    def _in_text(self, text: str, place: str, *, inside: bool, nesting: int) -> Iterator[Entry]:
        lowered = text.lower()
        mentions = "mcp" in lowered
        commands = "command" in lowered
        if not (mentions or commands or "args" in lowered or _KIN.search(lowered) is not None):
            return
        if ":" not in text and "=" not in text and " " not in text:
            # A name or a path.
            return
        if len(text) > MAX_STRING_CHARS:
            whole = commands and ("args" in lowered or "env" in lowered)
            if (mentions or inside or whole) and _WRITTEN_NAME.search(lowered) is not None:
                yield Entry("", {}, place, Kind.UNREAD)
            return
        if nesting < MAX_NESTING:
            values = self._written(text, lowered)
            if values is None:
                yield Entry("", {}, place, Kind.UNREAD)
                return
            yield from (
                Entry(entry.name, entry.fields, place, entry.kind)
                for entry in self.walk(values, place, inside=inside, nesting=nesting + 1)
            )
        if mentions or (commands and "args" in lowered):
            yield from written_in_yaml(text, place, mentions=mentions)
        if mentions:
            yield from on_command_lines(text, place)
        yield from self._keys_set(text, place, inside=inside)

    def _keys_set(self, text: str, place: str, *, inside: bool) -> Iterator[Entry]:
        """Give the entries of keys that command lines in a text would set."""
        values = [_nested(steps(key), value) for key, value in islice(keys_set(text), MAX_KEYS_SET + 1)]
        self._keys += len(values)
        if self._keys > MAX_KEYS_SET:
            yield Entry("", {}, place, Kind.UNREAD)
            return
        for entry in self.walk(values, place, inside=inside, nesting=MAX_NESTING):
            # Somebody may ask what such a line does: a setting is reported, and not refused.
            told = {"told": True} if entry.kind is Kind.SETTING else {}
            yield Entry(entry.name, {**entry.fields, **told}, place, entry.kind)

    def _written(self, text: str, lowered: str) -> list[Any] | None:
        """Give the values a text writes: the JSON in it, and all of it as YAML; None where that is too much to read."""
        values = written_in_json(text)
        if values is not None:
            self._values += len(values)
            values = values if self._values <= MAX_VALUES else None
        if _OUTLINED.search(lowered) is not None:
            self._outlined += len(text)
            if values is None or self._outlined > MAX_OUTLINED_CHARS:
                return None
            values.append(outline(text))
        return values


def _members(
    node: dict[str, Any], place: str, keys: tuple[str, ...], *, inside: bool
) -> Iterator[tuple[Any, str, tuple[str, ...], bool]]:
    """Give the members of a mapping, each with its place, the keys that lead to it, and whether it is among servers."""
    told = node.get("path") or node.get("key")
    if isinstance(told, str) and "value" in node:
        # JSON Patch, `config.set` and their like: the key is a value.
        yield _nested(steps(told), node["value"]), f"{place}/value", (), inside
    for key, child in node.items():
        escaped = key.replace("~", "~0").replace("/", "~1")
        if "." in key and (parts := steps(key)):
            yield _nested(parts, child), f"{place}/{escaped}", keys, inside
        else:
            name = key.lower()
            yield (
                child,
                f"{place}/{escaped}",
                (*keys, name)[-KEPT_KEYS:],
                inside or name.translate(_FOLD) in _PLACES,
            )


def _nested(parts: tuple[str, ...], value: Any) -> Any:
    """Write a key that is a path as the mappings it leads through."""
    for part in reversed(parts[-MAX_STEPS:]):
        value = {part: value}
    return value


def _is_entry(node: dict[str, Any], *, inside: bool) -> bool:
    command, url = node.get("command"), node.get("url")
    if isinstance(command, (str, list)):
        return inside or isinstance(node.get("args"), (list, dict, str)) or isinstance(node.get("env"), dict)
    if isinstance(url, str):
        kind = node.get("transport") or node.get("type")
        typed = isinstance(kind, str) and kind.lower().translate(_FOLD) in _TRANSPORTS
        return inside or isinstance(node.get("headers"), dict) or typed
    return inside and isinstance(node.get("args"), list)
