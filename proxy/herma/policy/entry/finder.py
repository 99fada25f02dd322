"""Where a body holds something that would become an MCP server entry, or one of its kin.

Entries arrive as values of the body, as JSON, YAML, TOML or INI text inside a string (raw configuration, files, tool arguments),
wrapped in base64 or percent signs, and as command lines that write the configuration. A dict with only a `command` is no entry
outside a place of servers: the arguments of a terminal tool look the same, and chats are full of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.keys import SpellingsError, fold, nested, spellings, steps, tree
from herma.policy.entry.kin import KEPT_KEYS, KNOWN_NAMES, WRAPPERS, environment, kin_of
from herma.policy.entry.kin import MEMBERS as KIN_MEMBERS
from herma.policy.entry.look import YAML_MEMBERS, may_hold_entry
from herma.policy.entry.server import MEMBERS as SERVER_MEMBERS
from herma.policy.entry.server import PLACES, servers_of
from herma.policy.entry.text import MAX_KEYS_SET, SHORTEST, Texts
from herma.policy.entry.told import MEMBERS as TOLD_MEMBERS
from herma.policy.entry.told import keys_told, variable, written_file
from herma.policy.entry.written import argv_sets

__all__ = ["Entry", "Kind", "entries", "may_hold_entry"]

# JSON inside JSON strings: tool arguments inside a transcript inside a body. Each level doubles its escapes.
MAX_NESTING = 8
# A file of commands that is judged as one line; a longer one is not judged in part.
MAX_SCRIPT_CHARS = 6 * 1024
# Mappings of one body, with their choices, of which two members have names that fold to one.
MAX_CHOICES = 128
# Levels of a body in which a mapping `{key, value}` or a member `env` is a setting of the environment, and no value of a tool.
_TOP_LEVELS = 2

# Members whose text is a command line of the agent's console.
_LINE_MEMBERS = frozenset({"line", "argv", "cmd", "command", "commandline", "args"})
_TRANSCRIPTS = frozenset(
    {"messages", "history", "transcript", "input", "prompt", "content", "conversationhistory"}
)
# Members in which somebody says something: an address of a model that stands there is reported, and not refused.
_SPOKEN = _TRANSCRIPTS | {
    "text",
    "body",
    "title",
    "message",
    "query",
    "goal",
    "description",
    "comment",
    "notes",
}
# Members that are read together with others of the same mapping.
_READ_TOGETHER = KIN_MEMBERS | SERVER_MEMBERS | TOLD_MEMBERS
_INTERPRETERS = {".sh": "sh", ".bash": "bash", ".py": "python3", ".js": "node"}


def entries(value: Any, *, whole: bool = False, top: bool = False) -> Iterator[Entry]:
    """Give the entries of a parsed body, as many as there are; with `whole`, the body itself is one.

    With `top`, a body with a name and a command or an address is one, too: nobody knows what its route takes.
    """
    body = whole or (top and _is_named(value))
    yield from _Finder().walk(_Node(value, inside=whole, alone=body))


@dataclass(slots=True)
class _Node:
    """A value on the way through a body; never changed, and not frozen because a body has a hundred thousand."""

    value: Any
    place: str = ""
    # The folded keys that lead to it, the innermost last, and the innermost as written if it is a member.
    keys: tuple[str, ...] = ()
    name: str = ""
    # It stands below a place of servers; its name is that of a server; it is an entry itself.
    inside: bool = False
    named: bool = False
    alone: bool = False
    level: int = 0
    nesting: int = 0
    # It belongs to what people and models said, or to a text; to something that is said for certain.
    said: bool = False
    spoken: bool = False


class _Finder:
    """One pass over a body."""

    def __init__(self) -> None:
        self._texts = Texts()
        # A body repeats its keys.
        self._folds: dict[str, str] = {}
        self._choices = 0

    def walk(self, first: _Node) -> Iterator[Entry]:
        """Walk with an explicit stack."""
        stack = [first]
        while stack:
            node = stack.pop()
            value = node.value
            if isinstance(value, dict):
                try:
                    yield from self._mapping(node, stack)
                except SpellingsError:
                    yield Entry("", {}, node.place, Kind.UNREAD)
                continue
            if node.keys:
                yield from kin_of(node.keys, value, node.place)
            if isinstance(value, list):
                yield from self._argv(node)
                stack += self._items(node)
            elif isinstance(value, str):
                yield from self._in_text(node)

    def _mapping(self, node: _Node, stack: list[_Node]) -> Iterator[Entry]:
        """Give the entries that a mapping is, and put on the stack what it holds and says."""
        stack += self._members(node)
        for members in self._readings(node.value):
            for entry in kin_of(node.keys, node.value, node.place, members):
                yield _told(entry) if node.spoken and entry.kind is Kind.ENDPOINT else entry
            yield from _own(node, members)
            stack += _said(node, members)

    def _in_text(self, node: _Node) -> Iterator[Entry]:
        member = node.keys[-1] if node.keys else ""
        strict = member in YAML_MEMBERS and not node.said
        reading = self._texts.read(
            node.value, strict=strict, inside=node.inside, deep=node.nesting >= MAX_NESTING
        )
        if reading.unread:
            yield Entry("", {}, node.place, Kind.UNREAD)
            return
        for value in reading.values:
            for entry in self.walk(
                _Node(
                    value,
                    node.place,
                    inside=node.inside,
                    nesting=node.nesting + 1,
                    said=True,
                    spoken=node.spoken,
                    level=_TOP_LEVELS,
                )
            ):
                yield replace(entry, place=node.place)
        yield from (replace(entry, place=node.place) for entry in reading.entries)
        # Somebody may ask what such a line does: a setting is reported, and not refused.
        told = node.said or node.nesting > 0 or member not in _LINE_MEMBERS
        for parts, value in reading.keys:
            yield from self._set(node, parts, value, told=told)

    def _set(self, node: _Node, parts: tuple[str, ...], value: Any, *, told: bool) -> Iterator[Entry]:
        """Give the entries of a key that a command line would set."""
        for entry in self.walk(
            _Node(nested(parts, value), node.place, inside=node.inside, nesting=MAX_NESTING, said=True)
        ):
            judged = _told(entry) if told and entry.kind in {Kind.SETTING, Kind.ENDPOINT} else entry
            yield replace(judged, place=node.place)

    def _argv(self, node: _Node) -> Iterator[Entry]:
        """Give what a list of words would set as a command line of the agent."""
        for count, (parts, value) in enumerate(argv_sets(node.value)):
            if count >= MAX_KEYS_SET:
                yield Entry("", {}, node.place, Kind.UNREAD)
                return
            if parts:
                yield from self._set(node, parts, value, told=node.said or node.nesting > 0)
            else:
                yield Entry("", value, node.place)

    def _items(self, node: _Node) -> Iterator[_Node]:
        operations = [item for item in node.value if isinstance(item, dict) and "value" in item]
        told = [pair for item in operations for pair in self._told(item)]
        if len(told) > 1:
            # A patch says in parts what only the whole shows.
            yield replace(node, value=tree(told), keys=())
        alone = node.alone or node.keys[-1:] == ("servers",)
        for index, child in enumerate(node.value):
            if not _says_nothing(child):
                yield _Node(
                    child,
                    f"{node.place}/{index}",
                    node.keys if isinstance(child, dict) else (),
                    inside=node.inside,
                    alone=alone,
                    level=node.level + 1,
                    nesting=node.nesting,
                    said=node.said,
                    spoken=node.spoken,
                )

    def _told(self, item: dict[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
        try:
            return [pair for members in self._readings(item) for pair in keys_told(members)]
        except SpellingsError:
            # The item is refused by itself.
            return []

    def _readings(self, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Give a mapping with its keys folded, once for each choice among members with one name."""
        folds = self._folds
        for key in value:
            if key not in folds:
                folds[key] = fold(key)
        members = {folds[key]: held for key, held in value.items()}
        if len(members) == len(value):
            yield members
            return
        for chosen in spellings(
            (folds[key], held) for key, held in value.items() if folds[key] in _READ_TOGETHER
        ):
            self._choices += 1
            if self._choices > MAX_CHOICES:
                raise SpellingsError
            yield members | chosen

    def _members(self, node: _Node) -> Iterator[_Node]:
        """Give the members of a mapping."""
        place, among = node.place, node.keys[-1:]
        folds = self._folds
        paths: list[tuple[tuple[str, ...], Any]] = []
        servers = among == ("servers",)
        for key, child in node.value.items():
            if ("." in key or "[" in key) and len(parts := steps(key)) > 1:
                paths.append((parts, child))
                continue
            if (folded := folds.get(key)) is None:
                folded = folds[key] = fold(key)
            if (
                _says_nothing(child)
                and folded not in KNOWN_NAMES
                and KNOWN_NAMES.isdisjoint(node.keys if folded in WRAPPERS else among)
            ):
                continue
            yield _Node(
                child,
                f"{place}/{key.replace('~', '~0').replace('/', '~1')}",
                (*node.keys, folded)[-KEPT_KEYS:],
                key,
                inside=node.inside or folded in PLACES,
                named=bool(among) and (among[0] in PLACES or servers),
                alone=servers,
                level=node.level + 1,
                nesting=node.nesting,
                said=node.said or folded in _TRANSCRIPTS,
                spoken=node.spoken or folded in _SPOKEN,
            )
        if len(paths) > 1:
            # One may stand in the way of another.
            for parts, child in paths:
                yield replace(node, value=nested(parts, child), name="", alone=False)
        if paths:
            yield replace(node, value=tree(paths), name="", alone=False)


def _said(node: _Node, members: dict[str, Any]) -> Iterator[_Node]:
    """Give what the members of a mapping say together: the file that they write, the key that they set."""
    if (written := written_file(members)) is not None:
        yield replace(
            node,
            value=_File(*written).value(whole=node.nesting == 0),
            keys=("",),
            name="",
            level=_TOP_LEVELS,
        )
    for parts, value in keys_told(members):
        yield replace(
            node,
            value=nested(parts, value),
            place=f"{node.place}/value",
            keys=(),
            name="",
            said=node.said,
            level=9,
        )


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the agent's own that is written."""

    path: str
    text: str

    def value(self, *, whole: bool) -> Any:
        """Give it as a body: configuration as text of one, variables as such, programs as commands."""
        name = self.path.replace("\\", "/").rpartition("/")[2].lower()
        ending = name[name.rfind(".") :] if "." in name else ""
        if ending in {".yaml", ".yml"}:
            return {"yaml_text": self.text} if name.startswith("config.") and whole else [self.text]
        if name == ".env" or name.startswith(".env."):
            pairs = (line.strip().removeprefix("export ").partition("=") for line in self.text.splitlines())
            return {
                "quick_commands": [
                    {"env": {key.strip(): text.strip().strip("\"'") for key, _, text in pairs if text}}
                ]
            }
        if (program := _INTERPRETERS.get(ending)) is not None and (
            whole or len(self.text) <= MAX_SCRIPT_CHARS
        ):
            return {
                "quick_commands": [
                    {"command": program, "args": ["-e" if program == "node" else "-c", self.text]}
                ]
            }
        return [self.text]


def _own(node: _Node, members: dict[str, Any]) -> Iterator[Entry]:
    """Give the entries that a mapping is, under its name."""
    value = node.value
    own = value.get("name")
    own = own if isinstance(own, str) else ""
    names = (
        [node.name]
        if node.named and node.name
        else [own or node.name or (node.keys[-1] if node.keys else "")]
    )
    doubted = node.named and bool(node.name) and bool(own) and own != node.name
    if doubted:
        names.append(own)
    for fields in servers_of(value, members, inside=node.inside or node.alone):
        yield from (Entry(name, fields, node.place, doubted=doubted) for name in names)
    if node.level <= _TOP_LEVELS and node.nesting == 0 and not node.said:
        if (held := variable(members)) is not None:
            yield from environment(held, node.place)
        env = members.get("env")
        if isinstance(env, dict) and "command" not in members:
            yield from environment(env, f"{node.place}/env")


def _told(entry: Entry) -> Entry:
    """Mark an entry as something that is spoken of."""
    return replace(entry, fields={**entry.fields, "told": True})


def _is_named(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    texts = {fold(key) for key, held in value.items() if isinstance(held, (str, list))}
    return "name" in texts and not texts.isdisjoint(("command", "url"))


def _says_nothing(value: Any) -> bool:
    return not isinstance(value, (dict, list)) and (not isinstance(value, str) or len(value) < SHORTEST)
