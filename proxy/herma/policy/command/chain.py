"""Where a script surely is: behind `cd x &&` it is in `x`, for what follows runs only if the change did not fail."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from herma.policy.command.argv import basename

__all__ = ["CHANGING", "Chain", "Mark"]

# Commands that change the directory; where `popd` and `cd -` lead is not known.
CHANGING = frozenset({"cd", "pushd", "popd", "chdir"})
_KNOWN = frozenset({"cd", "pushd"})
# A directory that is named in full and is the same for everybody; a variable may be empty, and `cd ""` changes nothing. `~+` and
# `~-` are where the shell is and was, and so is what /proc and /dev tell of a process.
_FIXED = re.compile(r"(?!/+(?:\./+)*(?:proc|dev)(?:/|$))(?:/|~(?:/|$|[A-Za-z_]))(?!.*/\.\.(?:/|$))")
# Variables by which a script says where `cd` leads.
_STEERING = frozenset({"CDPATH", "HOME", "PWD", "OLDPWD"})

type Mark = tuple[str, int]


class Chain:
    """The changes of directory while a script is read, and where it surely is; empty where that is not known."""

    def __init__(self) -> None:
        self.here = ""
        self._moves: list[str] = []
        self._trusted = True

    def move(self, argv: Sequence[str]) -> None:
        """Note a change; it may fail, so that from now on nothing is sure."""
        self._moves.append(argv[-1] if len(argv) > 1 else "~")
        self.here = ""

    def named(self, *names: str) -> None:
        """Note names that a script gives a meaning of its own; what `cd` does then is not known."""
        self._trusted = self._trusted and (CHANGING | _STEERING).isdisjoint(names)

    def mark(self) -> Mark:
        """Give what `behind` has to know of the time before a list of commands."""
        return self.here, len(self._moves)

    def behind(self, child: Node, mark: Mark) -> None:
        """Go on behind one of the two sides of a list: `&&` says that all changes on its left have been made."""
        before, count = mark
        moves = self._moves[count:]
        if not moves:
            return
        after = child.next_sibling
        joined = self._trusted and after is not None and after.type == "&&"
        self.here = _reached(before, child, moves) if joined else ""


def _reached(before: str, left: Node, moves: Sequence[str]) -> str:
    """Give the directory behind a list of commands that all had success; empty where one of them is no plain command."""
    commands = list(_commands(left))
    if None in commands:
        return ""
    changing = [name for name in commands if name in _KNOWN]
    if len(changing) != len(moves):
        # A function, or a command behind another word, changed it too.
        return ""
    here = before
    for move in moves:
        if _FIXED.match(move) is not None:
            here = move.rstrip("/") + "/"
        elif here and move[:1] not in {"-", "$", "~", "/", ""} and ".." not in move:
            here = f"{here}{move.rstrip('/')}/"
        else:
            return ""
    return here


def _commands(node: Node) -> Iterator[str | None]:
    """Give the names of the commands that have to succeed for a node to succeed; None for what is not read that far."""
    match node.type:
        case "command":
            name = node.child_by_field_name("name")
            yield basename((name.text or b"").decode("utf-8", "replace")) if name is not None else None
        case "redirected_statement":
            yield from _commands(node.named_children[0])
        case "list" if node.children[1].type == "&&":
            yield from _commands(node.named_children[0])
            yield from _commands(node.named_children[-1])
        case _:
            yield None
