"""One thing in a body that would make the agent run, load or trust something."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from herma.policy.command.crowd import crowd, unmatched

__all__ = ["Entry", "Kind"]

# What so many units of a script's crowd take, judging a character takes. A script of 3500 characters as dense as the densest
# real ones weighs no more than its characters.
CROWD_PER_CHAR = 64
# What a bracket without its other half takes. A real script has one in a hundred characters, the patterns of a case.
CHARS_PER_BRACKET = 16


class Kind(StrEnum):
    """What an entry is: a server, or one of its kin in the agent's configuration.

    `UNREAD` is text that may hold entries and is more than can be read; it is refused.
    """

    SERVER = "server"
    COMMAND = "command"
    SOURCE = "source"
    VOLUMES = "volumes"
    PASSES = "passes"
    SETTING = "setting"
    ENDPOINT = "endpoint"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its name (empty if unknown), its fields, and the JSON Pointer of the value that holds it.

    `doubted` tells that it has two names, so that nobody can say which of them the agent will use.
    """

    name: str
    fields: Mapping[str, Any]
    place: str
    kind: Kind = Kind.SERVER
    doubted: bool = False

    def size(self) -> int:
        """Count the bytes of its own strings, and one for each other value; other letters than ASCII cost more to judge."""
        return sum(_bytes(leaf) if isinstance(leaf, str) else 1 for leaf in self._leaves())

    def weight(self) -> int:
        """Count its size, or what its signs make of it where that is more: small scripts are many in a body."""
        texts = [leaf for leaf in self._leaves() if isinstance(leaf, str)]
        signs, brackets = sum(map(crowd, texts)), sum(map(unmatched, texts))
        return max(self.size(), signs // CROWD_PER_CHAR, brackets * CHARS_PER_BRACKET)

    def _leaves(self) -> Iterator[Any]:
        stack: list[Any] = [self.fields]
        while stack:
            node = stack.pop()
            if isinstance(node, Mapping):
                stack += [*node, *node.values()]
            elif isinstance(node, list):
                stack += node
            else:
                yield node


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
