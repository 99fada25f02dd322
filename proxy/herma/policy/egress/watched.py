"""The contents of files that never leave: their lines and values, known by keyed hash only.

What is sent is cut the same way and looked up. A line is also its value (`NAME=value`), because whoever steals one seldom
sends the name along; a short or common value is none, else every message that says `true` would be a theft.
"""

import hmac
import re
from collections.abc import Iterable, Iterator
from typing import Final, Self

from herma.policy.secret import Secret

__all__ = ["MIN_CHARS", "Watched"]

# Twelve characters of a key are as good as the key (the measure that redaction is scored by); what is shorter is a word.
MIN_CHARS: Final = 12
MAX_CHARS: Final = 4096
# A file of keys has some hundred lines. More is no such file.
MAX_LINES: Final = 20_000
_DIGEST: Final = "sha256"
_KEPT_BYTES: Final = 16

_ASSIGNED: Final = re.compile(r"[\w.-]{1,128}\s{0,8}[=:]\s{0,8}(.+)")
# A value in quotes, with a comment behind it or without.
_QUOTED: Final = re.compile(r"([\"'])(.*)\1(?:\s+#.*)?$")
_BETWEEN: Final = re.compile(r"[^\s\"'`<>(){}\[\],;&|\\]{12,4096}")
# A value of one kind of letter without a digit is a word or a path of a machine, and stands in many files.
_TELLING: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])")
# A sentence is told by its words: a phrase that somebody chose to keep.
_PHRASE: Final = re.compile(r"(?=.{20})\S+(?:\s+\S+){3}")
_HOSTED: Final = re.compile(r"(?:https?|wss?)://[^@\s]*")


class Watched:
    """Digests of what was read; neither the files nor what is in them can be made of it."""

    def __init__(self, key: Secret, digests: Iterable[bytes] = ()) -> None:
        self._key = key.reveal()
        self._digests = frozenset(digests)

    @classmethod
    def of(cls, key: Secret, texts: Iterable[str]) -> Self:
        """Take the texts of the files.

        Raises:
            ValueError: a file has more lines than a file of keys can have.
        """
        empty = cls(key)
        return cls(key, {empty._digest(part) for text in texts for part in _watched(text)})

    def joined(self, other: Self) -> Self:
        """Give what either knows."""
        return type(self)(Secret(self._key), self._digests | other._digests)

    def __len__(self) -> int:
        return len(self._digests)

    def found(self, text: str) -> bool:
        """Tell whether a text holds a line or a value of a file."""
        return bool(self._digests) and any(self._digest(part) in self._digests for part in _sent(text))

    def _digest(self, part: str) -> bytes:
        return hmac.digest(self._key, part.encode("utf-8", "surrogatepass"), _DIGEST)[:_KEPT_BYTES]


def _watched(text: str) -> Iterator[str]:
    """Give what is looked for: values, and lines that are told from others."""
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise ValueError(f"more than {MAX_LINES} lines; a file of keys was expected")
    for line in map(str.strip, lines):
        if not line or line.startswith("#"):
            continue
        assigned = _ASSIGNED.fullmatch(line.removeprefix("export ").strip())
        value = _bare(assigned[1]) if assigned else line
        if _tells(value):
            yield value


def _bare(value: str) -> str:
    value = value.strip()
    quoted = _QUOTED.match(value)
    return quoted[2] if quoted else value.partition(" #")[0].rstrip()


def _tells(value: str) -> bool:
    return (
        MIN_CHARS <= len(value) <= MAX_CHARS
        and (_TELLING.match(value) is not None or _PHRASE.match(value) is not None)
        and _HOSTED.fullmatch(value) is None
    )


def _sent(text: str) -> Iterator[str]:
    """Give the parts of a text that may be a value: its lines, their values, and all that stands between blanks and quotes."""
    seen: set[str] = set()
    for part in _parts(text):
        if part not in seen and MIN_CHARS <= len(part) <= MAX_CHARS:
            seen.add(part)
            yield part


def _parts(text: str) -> Iterator[str]:
    for line in map(str.strip, text.splitlines()):
        yield line
        assigned = _ASSIGNED.fullmatch(line.removeprefix("export ").strip())
        if assigned:
            yield _bare(assigned[1])
        for word in _BETWEEN.findall(line):
            yield word
            # `NAME=value` in the middle of a line, `user:value@host` in a URL.
            yield from re.split(r"[=:@/?]+", word)
            for sign in "=:":
                yield word.partition(sign)[2]
