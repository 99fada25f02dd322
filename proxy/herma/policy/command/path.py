"""Paths as the kernel and the shell resolve them: `~root`, `//etc`, `/etc/../etc`, `/proc/1/root`."""

import re
from fnmatch import fnmatchcase

__all__ = ["BracesError", "braces", "glob_matches", "resolve_path"]

# `/proc/1/root/etc` is `/etc` seen through the first process; so is every container's path to its host.
_ROOT_LINKS = re.compile(r"^/proc/(?:\d{1,10}|self|thread-self)/(?:task/\d{1,10}/)?root(?=/|$)")
_HOME = re.compile(r"^(?:\$\{?HOME\}?|%USERPROFILE%|\$env:USERPROFILE)(?=[/\\]|$)", re.IGNORECASE)
_ROOT_HOME = re.compile(r"^(?:~root|/root|/var/root)(?=/|$)")
_USER_HOME = re.compile(r"^(?:~[\w.-]{1,32}|/(?:home|Users)/[^/*]{1,64})(?=/|$)")
# Alternatives one word may expand to; `{a,b}{c,d}…` doubles with every pair.
MAX_BRACES = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*|[A-Za-z]\.\.[A-Za-z])\}")


class BracesError(ValueError):
    """A word has more alternatives than are tried."""


def resolve_path(path: str) -> str:
    """Write a path in one way; homes become `~`, whoever they belong to."""
    path = _HOME.sub("~", path).replace("\\", "/") if ":" not in path[:2] else path
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts and parts[-1] != "~":
                parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    joined = "/".join(parts)
    path = "/" + joined if absolute else joined
    while (inner := _ROOT_LINKS.sub("", path, count=1)) != path:
        path = inner or "/"
    return _USER_HOME.sub("~", _ROOT_HOME.sub("~", path))


def braces(word: str) -> tuple[str, ...]:
    """Expand `{a,b}` and `{a..z}` as bash does; ranges of numbers stay.

    Raises:
        BracesError: there are more alternatives than are tried.
    """
    done: list[str] = []
    pending = [word]
    while pending:
        item = pending.pop(0)
        match = _BRACES.search(item)
        if match is None:
            done.append(item)
        else:
            pending += [item[: match.start()] + choice + item[match.end() :] for choice in _choices(match[1])]
        if len(done) + len(pending) > MAX_BRACES:
            raise BracesError
    return tuple(done)


def _choices(text: str) -> list[str]:
    if "," in text:
        return text.split(",")
    first, last = ord(text[0]), ord(text[-1])
    step = 1 if first <= last else -1
    return [chr(number) for number in range(first, last + step, step)]


def glob_matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern with wildcards could name `path`, part by part as a shell does."""
    wanted, actual = resolve_path(pattern).split("/"), path.split("/")
    return len(wanted) == len(actual) and all(
        fnmatchcase(part, glob) for glob, part in zip(wanted, actual, strict=True)
    )
