"""Directories that the programs of a script run in: where it begins, where it changes to, where a program is told to start."""

from collections.abc import Sequence

from herma.policy.command.argv import basename
from herma.policy.command.call import Call

__all__ = ["MAX_PLACES", "directories", "own_place", "seen_from"]

# Directories that one script may be in; a start script changes to one or two.
MAX_PLACES = 24
_PLACES = frozenset({"-C", "--chdir", "--directory", "--working-directory"})
_STARTING = frozenset({"-D", "-d"})
# Programs that start another one in a directory that they are told.
_STARTERS = frozenset({"env", "sudo", "systemd-run", "bwrap", "start-stop-daemon", "unshare", "nsenter"})


def directories(calls: Sequence[Call], where: str) -> tuple[str, ...]:
    """Give every directory that what runs here may run in, at most one more than `MAX_PLACES`."""
    places = {seen_from("", where): None}
    for call in calls:
        name = basename(call.argv[0])
        moved = ""
        if name in {"cd", "pushd"} and len(call.argv) > 1:
            moved = call.argv[1]
        elif name in _STARTERS:
            # The vector behind it comes next.
            moved = own_place(call.argv, _PLACES | _STARTING)
        if moved and not call.inside:
            places |= dict.fromkeys(seen_from(place, moved) for place in tuple(places))
        if len(places) > MAX_PLACES:
            break
    return tuple(places)[: MAX_PLACES + 1]


def seen_from(where: str, place: str) -> str:
    """Give the directory that a path names, seen from another one."""
    if not place:
        return where
    return (where + place if where and not place.startswith(("/", "~", "$")) else place).rstrip("/") + "/"


def own_place(argv: Sequence[str], options: frozenset[str] = _PLACES) -> str:
    """Give the directory that a program is told to change to."""
    for index, word in enumerate(argv):
        if word in options and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith(("--chdir=", "--directory=", "--working-directory=", "-C/", "-C~")):
            return word.partition("=")[2] or word[2:]
    return ""
