"""The contents of files that never leave: their lines and values, known by keyed hash only.

What is sent is cut the same way and looked up. A line is also its value (`NAME=value`), because whoever steals one seldom
sends the name along; a private key is known by any piece of it.
"""

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, Self

from herma.policy.egress.kept import MAX_CHARS, MIN_NAMED_CHARS, kept
from herma.policy.egress.key_body import WINDOW_CHARS, Letters, bodies, windows
from herma.policy.secret import Secret

__all__ = ["Span", "Watched"]

type Span = tuple[int, int]

_DIGEST: Final = "sha256"
_KEPT_BYTES: Final = 16

_LINE: Final = re.compile(r"[^\r\n\0\v\f\x1c-\x1e\x85\u2028\u2029]+")
_ASSIGNED: Final = re.compile(r"(?:export\s{1,8})?[\"']?[\w.-]{1,128}[\"']?\s{0,8}(?:=>?|:=|:)\s{0,8}(.+)")
_QUOTED: Final = re.compile(r"([\"'`])(.*)\1,?(?:\s+#.*)?$")
_COMMENT: Final = re.compile(r"(?<!\s)\s+#.*$")
_IN_QUOTES: Final = re.compile(r"\"[^\"]{8,4096}\"|'[^']{8,4096}'|`[^`]{8,4096}`")
_BETWEEN: Final = re.compile(r"[^\s\x00-\x1f\x7f\"'`<>(){}\[\],;&|\\]{8,4096}")
_PIECE: Final = re.compile(r"[^=:@/?]{8,}")
_SIGN: Final = re.compile(r"[=:]")
# Behind so many signs of a word, a value may begin.
MAX_SIGNS: Final = 8
# A value that nobody writes by chance is known with letters around it, too (`id_<value>`, `<value>.example.com`): names of models,
# of hosts and of files are not of this shape.
_RARE: Final = re.compile(
    r"(?=[!-~]{16})(?![/~.])(?:(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[!-~]+|[0-9a-f-]{32,}|[a-z0-9]{24,})"
)
_WORD: Final = re.compile(r"[!-~]{16,}+")
# Of such a value every piece is kept that begins at one of its first eight letters: one in eight places of a text has to be looked at.
_PIECE_CHARS: Final = 8
# The end of a sentence, and what makes a word bold.
_AROUND: Final = ".!?*_~:"


class Watched:
    """Digests of what was read; neither the files nor what is in them can be made of it."""

    def __init__(
        self,
        key: Secret,
        digests: Iterable[bytes] = (),
        hints: Iterable[int] = (),
        rare: "Mapping[int, frozenset[Span]] | None" = None,
        *,
        keys: bool = False,
    ) -> None:
        """Take digests of values, and what tells at little cost that a text has none of them.

        `rare` says where the pieces of those values stand that are known anywhere, by their hash: how far behind the beginning of a
        value, and how long that is.
        """
        self._key = key.reveal()
        self._digests = frozenset(digests)
        self._hints = frozenset(hints)
        self._rare = dict(rare or {})
        self._keys = keys

    @classmethod
    def of(cls, key: Secret, texts: Iterable[str]) -> Self:
        """Take the texts of the files.

        Raises:
            ValueError: a file has more lines than a file of keys can have.
        """
        texts = tuple(texts)
        pieces = {window for text in texts for window in bodies(text)}
        values = {part for text in texts for part in kept(text)}
        rare: dict[int, frozenset[Span]] = {}
        for value in filter(_RARE.fullmatch, values):
            for at in range(_PIECE_CHARS):
                piece = hash(value[at : at + _PIECE_CHARS])
                rare[piece] = rare.get(piece, frozenset()) | {(at, len(value))}
        values |= pieces
        empty = cls(key)
        return cls(key, map(empty._digest, values), map(hash, values), rare, keys=bool(pieces))

    def joined(self, other: Self) -> Self:
        """Give what either knows."""
        return type(self)(
            Secret(self._key),
            self._digests | other._digests,
            self._hints | other._hints,
            {
                piece: self._rare.get(piece, frozenset()) | other._rare.get(piece, frozenset())
                for piece in (*self._rare, *other._rare)
            },
            keys=self._keys or other._keys,
        )

    def __len__(self) -> int:
        return len(self._digests)

    def found(self, text: str) -> bool:
        """Tell whether a text holds a line or a value of a file."""
        return next(self._found(text), None) is not None

    def spans(self, text: str) -> list[Span]:
        """Say where in a text something of a file stands, in order and without overlaps."""
        spans: list[Span] = []
        for start, end in sorted(self._found(text)):
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        return spans

    def _found(self, text: str) -> Iterator[Span]:
        if not self._digests:
            return
        for start, end in _parts(text):
            if MIN_NAMED_CHARS <= end - start <= MAX_CHARS and self._knows(text[start:end]):
                yield start, end
        if self._rare:
            yield from self._within(text)
        if self._keys:
            letters = Letters(text)
            for at, window in windows(letters.run):
                if self._knows(window):
                    yield letters.place(at), letters.place(at + WINDOW_CHARS - 1) + 1

    def _within(self, text: str) -> Iterator[Span]:
        rare = self._rare
        for word in _WORD.finditer(text):
            for at in range(word.start(), word.end() - _PIECE_CHARS + 1, _PIECE_CHARS):
                for behind, length in rare.get(hash(text[at : at + _PIECE_CHARS]), ()):
                    start = at - behind
                    if start >= word.start() and self._knows(text[start : start + length]):
                        yield start, start + length

    def _knows(self, part: str) -> bool:
        # The hash of the interpreter is cheap, and says no to nearly all; the digest decides.
        return hash(part) in self._hints and self._digest(part) in self._digests

    def _digest(self, part: str) -> bytes:
        return hmac.digest(self._key, part.encode("utf-8", "surrogatepass"), _DIGEST)[:_KEPT_BYTES]


def _parts(text: str) -> Iterator[Span]:
    """Give the parts of a text that may be a value: its lines, their values, and all that stands between blanks and quotes."""
    for line in _LINE.finditer(text):
        start, end = _stripped(text, *line.span())
        if start == end:
            continue
        yield start, end
        if (assigned := _ASSIGNED.fullmatch(text, start, end)) is not None:
            yield from _values(text, *_stripped(text, *assigned.span(1)))
        for quoted in _IN_QUOTES.finditer(text, start, end):
            yield _stripped(text, quoted.start() + 1, quoted.end() - 1)
        for word in _BETWEEN.finditer(text, start, end):
            yield from _words(text, *word.span())


def _values(text: str, start: int, end: int) -> Iterator[Span]:
    yield start, end
    if (quoted := _QUOTED.match(text, start, end)) is not None:
        yield quoted.span(2)
    elif (comment := _COMMENT.search(text, start, end)) is not None:
        yield start, comment.start()


def _words(text: str, start: int, end: int) -> Iterator[Span]:
    yield start, end
    while start < end and text[end - 1] in _AROUND:
        end -= 1
    while start < end and text[start] in _AROUND:
        start += 1
    yield start, end
    # `NAME=value` in the middle of a line, `user:value@host` in an address.
    for piece in _PIECE.finditer(text, start, end):
        yield piece.span()
    for sign in islice(_SIGN.finditer(text, start, end), MAX_SIGNS):
        yield sign.end(), end


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + max(
        len(part.rstrip()), len(part) - len(part.lstrip())
    )
