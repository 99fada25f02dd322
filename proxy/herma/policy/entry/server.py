"""What of a mapping is a server entry, however its members are spelled."""

from collections.abc import Iterator, Mapping
from typing import Any

from herma.policy.entry.keys import fold, spellings

__all__ = ["MEMBERS", "PLACES", "servers_of"]

# Keys below which servers stand under their names.
PLACES = frozenset({"mcpservers", "mcpserver", "mcp"})
_TRANSPORTS = frozenset({"sse", "http", "https", "streamablehttp", "websocket", "ws", "stdio"})
_OWN = frozenset({"command", "args", "url", "env", "headers"})
# What other programs call these members. Outside a place of servers, such a mapping is a step of a workflow.
_ALIASES = {
    "cmd": "command",
    "exec": "command",
    "executable": "command",
    "program": "command",
    "run": "command",
    "arguments": "args",
    "argv": "args",
    "serverurl": "url",
    "httpurl": "url",
    "environment": "env",
    "envvars": "env",
    "httpheaders": "headers",
}
# The members that say whether a mapping is a server, folded.
MEMBERS = _OWN | _ALIASES.keys() | {"transport", "type"}


def servers_of(
    node: Mapping[str, Any], members: Mapping[str, Any], *, inside: bool
) -> Iterator[Mapping[str, Any]]:
    """Give the fields of the server entries that a mapping is: none, one, or one for each choice among its members.

    `members` are those of the mapping with their keys folded.

    Raises:
        SpellingsError: there are too many choices.
    """
    if not inside and "command" not in members and "url" not in members:
        return
    kind = members.get("transport") or members.get("type")
    typed = isinstance(kind, str) and fold(kind) in _TRANSPORTS
    for fields in _canonical(node, inside=inside):
        if _is_entry(fields, inside=inside, typed=typed):
            yield fields
        if inside and "command" not in fields:
            # The arguments alone: whatever runs them may be a shell.
            yield from ({"command": text} for text in _lines(fields.get("args")))


def _lines(value: Any) -> Iterator[str]:
    items = (
        list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    )
    yield from (item for item in items if isinstance(item, str) and " " in item)


def _canonical(node: Mapping[str, Any], *, inside: bool) -> Iterator[Mapping[str, Any]]:
    """Give a mapping with the names that the judge knows, once for each choice among those that mean the same."""
    named: dict[str, list[tuple[str, Any]]] = {}
    for key, value in node.items():
        folded = fold(key)
        name = folded if folded in _OWN else _ALIASES.get(folded, "") if inside else ""
        if name:
            named.setdefault(name, []).append((key, value))
    if all(len(found) == 1 and found[0][0] == name for name, found in named.items()):
        yield node
        return
    used = {key for found in named.values() for key, _ in found}
    others = {key: value for key, value in node.items() if key not in used}
    for found in named.values():
        # The agent reads the member with the exact name, wherever it stands.
        found.sort(key=lambda held: held[0] not in named)
    for chosen in spellings((name, member) for name, found in named.items() for member in found):
        taken = {key for key, _ in chosen.values()}
        # What is not chosen stays a text of the entry, under a name that no reader knows.
        rest = {f"{key} ": value for key, value in node.items() if key in used - taken}
        yield others | rest | {name: value for name, (_, value) in chosen.items()}


def _is_entry(node: Mapping[str, Any], *, inside: bool, typed: bool) -> bool:
    command, url = node.get("command"), node.get("url")
    if isinstance(command, (str, list)):
        return inside or isinstance(node.get("args"), (list, dict, str)) or isinstance(node.get("env"), dict)
    if isinstance(url, str):
        return inside or isinstance(node.get("headers"), dict) or typed
    return inside and isinstance(node.get("args"), (list, dict))
