"""One thing in a body that would make the agent run, load or trust something."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Entry", "Kind"]


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
        size = 0
        stack: list[Any] = [self.fields]
        while stack:
            node = stack.pop()
            if isinstance(node, Mapping):
                stack += [*node, *node.values()]
            elif isinstance(node, list):
                stack += node
            else:
                size += _bytes(node) if isinstance(node, str) else 1
        return size


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
