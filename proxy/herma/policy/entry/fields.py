"""The fields of an entry as text: command and arguments, environment, address, headers, and whatever else it has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from herma.policy.command.argv import SHELLS, basename
from herma.policy.command.code import code_of
from herma.policy.entry.keys import fold
from herma.policy.text.views import reading

__all__ = ["DIRECTORIES", "Fields"]

# What a server entry may say of itself; nothing of it runs.
_KNOWN = frozenset({"command", "args", "env", "url", "headers", "name", "description", "tools", "sampling"})
# Options and variables that list what a server must not do.
_DENIES = re.compile(
    r"-{0,2}(?:[a-z]{1,20}[-_]){0,4}(?:deny|denied|denylist|block|blocked|blocklist|forbid|forbidden|exclude|excluded|disallow|disallowed"
    r"|blacklist|banned)(?:[-_][a-z]{1,20}){0,4}",
    re.IGNORECASE,
)
# Where the command runs.
DIRECTORIES = frozenset({"cwd", "workdir", "workingdirectory", "workingdir", "directory", "dir", "basedir"})
_RUNS = SHELLS | {"eval", "exec", "xargs", "env", "ssh"}


@dataclass(frozen=True, slots=True)
class Fields:
    """What an entry holds; every text twice where it does not read as it is written."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    url: str
    headers: Mapping[str, str]
    others: tuple[str, ...]
    directories: tuple[str, ...] = ()

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Fields":
        """Take an entry apart; nested lists and mappings are flattened, for some clients join them.

        What options and variables forbid (`--deny "rm -rf /"`) is left out where no shell or program could run it.
        """
        env = {
            str(key): str(value) if isinstance(value, (str, int, float)) else " ".join(_flat(value))
            for key, value in _mapping(fields.get("env")).items()
            if value is not None
        }
        url = fields.get("url")
        words = tuple(_flat([fields.get("command"), fields.get("args")]))
        kept = _allowed(words)
        if (len(kept) < len(words) or any(map(_DENIES.fullmatch, env))) and not _runs_text(kept):
            words = kept
            env = {name: value for name, value in env.items() if _DENIES.fullmatch(name) is None}
        return cls(
            words,
            env,
            url if isinstance(url, str) else "",
            {str(key): str(value) for key, value in _mapping(fields.get("headers")).items()},
            tuple(text for key, value in fields.items() if key not in _KNOWN for text in _flat(value)),
            tuple(
                value
                for key, value in fields.items()
                if fold(key) in DIRECTORIES and isinstance(value, str) and value
            ),
        )

    def read(self) -> "Fields":
        """Give the same fields as they look to a reader, letters that imitate Latin ones replaced."""
        texts = (*self.words, *self.env, *self.env.values(), *self.others)
        if all(map(str.isascii, texts)):
            return self
        return Fields(
            tuple(map(reading, self.words)),
            {reading(name): reading(value) for name, value in self.env.items()},
            self.url,
            self.headers,
            tuple(map(reading, self.others)),
            self.directories,
        )


def _allowed(words: Sequence[str]) -> tuple[str, ...]:
    """Give the words without those that an option forbids."""
    kept: list[str] = []
    denied = False
    for word in words:
        option, equals, _value = word.partition("=")
        denies = word.startswith("-") and _DENIES.fullmatch(option) is not None
        if not denied and not (denies and equals):
            kept.append(word)
        denied = denies and not equals
    return tuple(kept)


def _runs_text(words: Sequence[str]) -> bool:
    return bool(code_of(words)) or any(basename(part) in _RUNS for word in words for part in word.split())


def _mapping(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, list):
        # Some clients write the environment as a list of NAME=value.
        pairs = (item.partition("=") for item in value if isinstance(item, str))
        return {name: text for name, _, text in pairs}
    return value if isinstance(value, dict) else {}


def _flat(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, list):
            stack += reversed(node)
        elif isinstance(node, dict):
            stack += reversed(list(node.values()))
        elif isinstance(node, (int, float)):
            yield str(node)
