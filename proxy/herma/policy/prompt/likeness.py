"""How much a prompt is like attacks that were seen: a linear model over pieces of its words and the concepts in it.

It tells of orders in words that no rule lists, and of nothing by itself: the concepts that it stands on are the reason given.
The weights are data, made from lines that are known to be hostile or innocent.
"""

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Final, NamedTuple

__all__ = [
    "BUCKETS",
    "Likeness",
    "Mark",
    "buckets_of",
    "marks_of",
    "parts",
    "pieces_of_word",
    "size",
    "words",
]

# Each piece has one of so many weights, a byte each. Some 60,000 pieces occur in 3,000 lines of thirty languages.
BUCKETS: Final = 1 << 18
# A part is some sentences of a text; it is judged by itself and with its neighbours, so that padding dilutes nothing.
MIN_PART_CHARS: Final = 160
MAX_PART_CHARS: Final = 400
MAX_JOINED: Final = 3
# Longer words are names, hashes and links; their beginnings say enough.
MAX_WORD_CHARS: Final = 24
SHORTEST_PIECE: Final = 3
LONGEST_PIECE: Final = 5
# A text of fewer pieces, some ten words, says too little to be sure.
MIN_PIECES: Final = 150
# Words whose weight is remembered; a language has some thousand in daily use. Longer ones than `MAX_WORD_CHARS` are not:
# they are no words of daily use, and may be secrets.
MAX_KNOWN_WORDS: Final = 8192
# Concepts whose weights are remembered, each with those of its pairs. A vocabulary has some eighty, each in up to four senses.
MAX_KNOWN_CONCEPTS: Final = 256
# Concepts of one part whose pairs count; a part that holds more is a list.
MAX_PAIRED: Final = 24

# What pairs of words add to a score at most, in all lines that were measured; they cost most.
MAX_PAIRS_SCORE: Final = 3.0

_WORD = re.compile(r"\w+|[^\w\s]")
_ASCII_WORD = re.compile(r"\w+|[^\w\s]", re.ASCII)
# Scripts that put no blanks between words: two characters stand for one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SENTENCE_END = re.compile(r"[.!?;:\n](?=\s|$)|[。！？；\n]")  # noqa: RUF001 - marks of other scripts


class Mark(NamedTuple):
    """A concept at a place of a text, with what the sentence makes of it (`-` negated, `?` only asked about)."""

    at: int
    name: str


@dataclass(slots=True)
class _Part:
    """What one part of a text weighs, and of how many pieces; pairs of words are weighed only where they may decide."""

    said: list[str]
    marks: tuple[str, ...]
    weight: int = 0
    # Of words and concepts; pairs of words come to it.
    pieces: int = 0
    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    paired: int | None = None


class _Row(dict[str, int]):
    """What one concept weighs `alone`, and with each other one that comes behind it in the alphabet."""

    def __init__(self, weights: memoryview, name: str) -> None:
        super().__init__()
        self._weights = weights
        self._name = name
        self.alone = weights[_mark_bucket((name,))]

    def __missing__(self, other: str) -> int:
        if len(self) >= MAX_KNOWN_CONCEPTS:
            self.clear()
        self[other] = weight = self._weights[_mark_bucket((self._name, other))]
        return weight


class Likeness:
    """The model; it keeps the weights of words it has met, and no text."""

    def __init__(self, weights: bytes, scale: float, bias: float) -> None:
        """Take one signed byte for each bucket.

        Raises:
            ValueError: there are more or fewer.
        """
        if len(weights) != BUCKETS:
            raise ValueError(f"expected {BUCKETS} weights, found {len(weights)}")
        self._weights = memoryview(weights).cast("b")
        self._scale = scale
        self._bias = bias
        self._known: dict[str, tuple[int, int]] = {}
        self._rows: dict[str, _Row] = {}

    def reasons(
        self, text: str, marks: Sequence[Mark], floor: float, wanted: AbstractSet[str] | None = None
    ) -> tuple[str, ...]:
        """Give the concepts in what of a bare text is at least `floor` like an attack; none where nothing is.

        Where no concept of `wanted` stands, nothing is looked at.
        """
        cut = list(parts(text, marks))
        told = [wanted is None or not wanted.isdisjoint(held) for _, held in cut]
        read: dict[int, _Part] = {}
        for first in range(len(cut)):
            joined: list[_Part] = []
            if not any(told[first : first + MAX_JOINED]):
                continue
            for number in range(first, min(first + MAX_JOINED, len(cut))):
                part = read.get(number)
                if part is None:
                    part = read[number] = self._part(*cut[number])
                joined.append(part)
                if self._alike(joined, floor):
                    near = cut[first : first + MAX_JOINED]
                    return tuple(dict.fromkeys(name for _, held in near for name in held))
        return ()

    def _alike(self, joined: Sequence[_Part], floor: float) -> bool:
        weight = sum(part.weight for part in joined)
        pieces = sum(part.pieces for part in joined)
        # Pairs make the divisor greater, by as many words as there are at most: what is not enough with the better one is not
        # enough.
        better = pieces if weight > 0 else pieces + sum(len(part.said) for part in joined)
        if self._bias + self._scale * weight / size(better) < floor - MAX_PAIRS_SCORE:
            return False
        weight += sum(map(self._paired, joined))
        pieces += sum(len(part.pairs) for part in joined)
        return self._bias + self._scale * weight / size(pieces) >= floor

    def _part(self, text: str, marks: tuple[str, ...]) -> _Part:
        part = _Part(words(text), marks)
        known = self._known
        for word in dict.fromkeys(part.said):
            both = known.get(word)
            if both is None:
                both = self._learn(word)
            part.weight += both[0]
            part.pieces += both[1]
        named = sorted(set(marks))[:MAX_PAIRED]
        for at, name in enumerate(named):
            row = self._rows.get(name)
            if row is None:
                row = self._row(name)
            part.weight += row.alone + sum(map(row.__getitem__, named[at + 1 :]))
            part.pieces += len(named) - at
        return part

    def _paired(self, part: _Part) -> int:
        if part.paired is None:
            weights = self._weights
            part.pairs = dict.fromkeys(pairwise(part.said))
            part.paired = sum(weights[_bucket(f"{first} {second}")] for first, second in part.pairs)
        return part.paired

    def _row(self, name: str) -> "_Row":
        if len(self._rows) >= MAX_KNOWN_CONCEPTS:
            self._rows.clear()
        self._rows[name] = row = _Row(self._weights, name)
        return row

    def _learn(self, word: str) -> tuple[int, int]:
        buckets = [_bucket(piece) for piece in pieces_of_word(word)]
        both = sum(self._weights[bucket] for bucket in buckets), len(buckets)
        if len(word) > MAX_WORD_CHARS:
            return both
        if len(self._known) >= MAX_KNOWN_WORDS:
            self._known.clear()
        self._known[word] = both
        return both


def parts(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Cut a text behind sentences, with the names of the marks in each part; `marks` are in the order of the text."""
    start = taken = 0
    while start < len(text):
        end = _end(text, start)
        held = taken
        while taken < len(marks) and marks[taken].at < end:
            taken += 1
        yield text[start:end], tuple(dict.fromkeys(mark.name for mark in marks[held:taken]))
        start = end


def _end(text: str, start: int) -> int:
    if len(text) - start <= MAX_PART_CHARS:
        return len(text)
    found = _SENTENCE_END.search(text, start + MIN_PART_CHARS, start + MAX_PART_CHARS)
    if found is not None:
        return found.end()
    blank = text.rfind(" ", start + MIN_PART_CHARS, start + MAX_PART_CHARS)
    return blank + 1 if blank > 0 else start + MAX_PART_CHARS


def size(pieces: int) -> float:
    """Give what the weight of so many pieces is divided by."""
    return math.sqrt(max(pieces, MIN_PIECES))


def words(text: str) -> list[str]:
    """Take a text apart into words and signs; of scripts without blanks, into pairs of characters."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    found = _WORD.findall(text)
    said: list[str] = []
    for word in found:
        if len(word) > 1 and _UNSPACED.search(word):
            said += [word[at : at + 2] for at in range(len(word) - 1)]
        else:
            said.append(word)
    return said


def pieces_of_word(word: str) -> Iterator[str]:
    """Give a word and what it is made of."""
    yield word
    if len(word) > SHORTEST_PIECE - 1:
        framed = f"<{word[:MAX_WORD_CHARS]}>"
        for length in range(SHORTEST_PIECE, LONGEST_PIECE + 1):
            for at in range(len(framed) - length + 1):
                yield "\n" + framed[at : at + length]


def marks_of(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Give the concepts of a part and each two of them that stand together."""
    named = sorted(set(names))[:MAX_PAIRED]
    yield from ((name,) for name in named)
    yield from combinations(named, 2)


def _mark_bucket(mark: Sequence[str]) -> int:
    return _bucket("\t".join(("", *mark)))


def _bucket(piece: str) -> int:
    return zlib.crc32(piece.encode("utf-8", "replace")) % BUCKETS


def buckets_of(text: str, marks: tuple[str, ...]) -> Iterator[int]:
    """Give the buckets of all pieces of a part, as the model counts them; this is what it is trained with."""
    said = words(text)
    for word in dict.fromkeys(said):
        yield from map(_bucket, pieces_of_word(word))
    yield from (_bucket(f"{first} {second}") for first, second in dict.fromkeys(pairwise(said)))
    yield from map(_mark_bucket, marks_of(marks))
