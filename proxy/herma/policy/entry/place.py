"""Places that say something by themselves: where everybody may write, hidden programs, shares of other hosts, whole homes."""

import re

from herma.policy.address import hosts, is_foreign
from herma.policy.command.path import resolve_path

__all__ = ["is_hidden_program", "is_scratch", "is_share", "is_uploaded", "is_well_hidden", "is_whole"]

_TEMPORARY = re.compile(
    r"^(?:/var|/private)?/(?:tmp|dev/shm)/|^/run/user/\d{1,8}/|^/dev/fd/|^/proc/(?:self|\d{1,9})/fd/|^%temp%|^%tmp%|^\$env:temp"
    r"|^/(?:var/|run/)?lock/|^/dev/mqueue/|^/var/crash/|^/users/shared/|^(?:/private)?/var/folders/|^%public%|^\$\{?tmpdir\b"
    r"|[\\/]temp[\\/]|^[a-z]:[\\/]users[\\/]public[\\/]"
)
# Out of a home, or far up from wherever one is, and down again.
_CLIMBING = re.compile(r"^(?:~[^/]{0,32}/(?:\.\./){1,16}|(?:\.\./){3,16})(?:var/|private/)?(?:tmp|dev/shm)/")
# A file whose name begins with a dot in a directory of the system. In homes and projects such names are usual.
_HIDDEN = re.compile(r"^/(?:srv|opt|var|mnt|usr|lib|etc|data)/(?:[^/]{1,80}/){0,8}\.[^./][^/]{0,80}$")
# Settings that programs are given, and no programs.
_SETTINGS = (
    ".env",
    ".venv",
    ".config",
    ".secret",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".git",
    ".docker",
    ".cache",
    ".local",
    ".data",
    ".state",
    ".log",
)
_UPLOADS = "/.hermes/uploads/"
_SHARE = re.compile(r"^(?:\\{2,8}|//)([\w.-]{1,120})(?:@\w{1,8})?[\\/]")
_WHOLE = re.compile(
    r"^(?:/|/\*|~/?\*?|/(?:home|root|etc|var|usr|srv|boot|opt|mnt|data|bin|lib|users|var/lib|var/www)(?:/\*?)?|[a-z]:[\\/]?\*?|\$\{?home\}?/?\*?"
    r"|%userprofile%|%systemdrive%\\?)$"
)


def is_scratch(word: str) -> bool:
    """Tell whether a lower-case path lies where everybody may write."""
    return _TEMPORARY.match(resolve_path(word)) is not None or _CLIMBING.match(word) is not None


def is_well_hidden(word: str) -> bool:
    """Tell whether a path where everybody may write is one that hides: a name with a dot, or any but /tmp."""
    path = resolve_path(word)
    return is_scratch(word) and ("/." in path or not path.removeprefix("/var").startswith(_USUAL))


_USUAL = ("/tmp", "$tmpdir", "${tmpdir")  # noqa: S108 - names to compare


def is_hidden_program(word: str) -> bool:
    """Tell whether a program's own name is hidden in a directory of the system."""
    path = resolve_path(word)
    return _HIDDEN.match(path) is not None and not path.rpartition("/")[2].startswith(_SETTINGS)


def is_share(word: str) -> bool:
    """Tell whether a path leads to a share of a foreign host."""
    match = _SHARE.match(word)
    return match is not None and any(map(is_foreign, hosts(match[1])))


def is_uploaded(word: str) -> bool:
    """Tell whether a lower-case path lies where the agent keeps what others sent it."""
    return _UPLOADS in word and _UPLOADS in resolve_path(word)


def is_whole(word: str) -> bool:
    """Tell whether a word names a whole disk, system or home."""
    return _WHOLE.match(word.lower().strip("'\"")) is not None
