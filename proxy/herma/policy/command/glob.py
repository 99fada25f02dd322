"""Words with wildcards, read as the program or sensitive path they can only be meant for."""

import re
from fnmatch import fnmatchcase

from herma.policy.command.path import glob_matches, resolve_path

__all__ = ["GlobError", "unglob"]

_GLOB = re.compile(r"[*?]|\[[^\]]{1,64}\]")
# A longer path with wildcards is refused; what does not begin like a path is a text with signs in it.
MAX_GLOB_CHARS = 512
# Letters of a program's name that are left, for one wildcard to mean it.
MIN_LETTERS = 3
_NAMES = ("curl", "wget", "bash", "sh", "nc", "ncat", "python3", "python", "perl", "base64", "crontab", "tee", "cat", "socat")  # fmt: skip
_PATHS = (
    "~/.ssh/authorized_keys",
    "~/.ssh/id_rsa",
    "~/.ssh/id_ed25519",
    "/etc/crontab",
    "/etc/sudoers",
    "/etc/shadow",
    "/etc/passwd",
    "/etc/ld.so.preload",
    "/etc/rc.local",
    "~/.bashrc",
    "~/.profile",
    "~/.zshrc",
    "~/.hermes/.env",
    "~/.hermes/config.yaml",
    "~/.netrc",
    "~/.aws/credentials",
)


_PARTS = (
    "etc", "root", "home", "usr", "var", "opt", "spool", "systemd", "system", "cron.d", "cron.daily", "cron.hourly", "crontabs", "init.d",
    "profile.d", "rc.local", ".ssh", ".hermes", ".config", ".aws", "sudoers.d", "ld.so.preload", "ld.so.conf.d", ".bashrc", ".zshrc", ".profile",
)  # fmt: skip


class GlobError(ValueError):
    """A path with wildcards is longer than is tried."""


def _part(pattern: str) -> str:
    """Give the part of a path that a pattern with some letters of its own is meant for."""
    if len(_GLOB.sub("", pattern)) < 2:
        return pattern
    return next((part for part in _PARTS if fnmatchcase(part, pattern)), pattern)


def unglob(word: str) -> str:
    """Replace a pattern with what it is meant for, if that is one of the names known here.

    Raises:
        GlobError: it is too long a path to be tried.
    """
    if not _GLOB.search(word):
        return word
    if len(word) > MAX_GLOB_CHARS:
        if not word.startswith(("/", "~", "./", "../")) or " " in word:
            return word
        word = resolve_path(word)
        if len(word) > MAX_GLOB_CHARS:
            raise GlobError
    last = word.rsplit("/", 1)[-1]
    if word.startswith(("/", "~")) and not word.endswith("*"):
        parts = [part if _GLOB.search(part) is None else _part(part) for part in word.split("/")]
        if any(part in _PARTS for part in parts[:-1]) and not _GLOB.search("/".join(parts[:-1])):
            word = "/".join(parts)
            if not _GLOB.search(word):
                return word
    if "/" in word and len(last.strip("*")) > 0:
        for path in _PATHS:
            if glob_matches(word, path):
                return path
        if word.count("?") >= 2 or "/???" in word or len(re.sub(_GLOB, "", last)) >= MIN_LETTERS:
            return next((name for name in _NAMES if fnmatchcase(name, last)), word)
    return word
