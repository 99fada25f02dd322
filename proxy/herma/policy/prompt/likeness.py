"""How much a prompt is like attacks that were seen: a linear model over pieces of its words and the concepts in it.

It tells of orders in words that no rule lists, and of nothing by itself: the concepts that it stands on are the reason given.
The weights are data, made from lines that are known to be hostile or innocent.
"""

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Final

__all__ = [
    "BUCKETS",
    "Likeness",
    "Mark",
    "buckets_of",
    "marks_of",
    "parts",
    "pieces_of_word",
    "risen",
    "size",
    "words",
]

# Each piece has one of so many weights, a byte each. Some 60,000 pieces occur in 3,000 lines of thirty languages.
BUCKETS: Final = 1 << 18
# A part is a sentence or two of a text; it is judged by itself and with its neighbours, so that padding dilutes nothing. With 160
# to 400 characters one sentence that was put between innocent ones was found in three cases of four, with these in all.
MIN_PART_CHARS: Final = 40
MAX_PART_CHARS: Final = 160
MAX_JOINED: Final = 3
# The more parts a text has, the likelier one of them is like an attack by chance: the floor rises with their logarithm, so that a
# text of six innocent sentences is taken for hostile no oftener than the six alone. With this an order between innocent sentences
# is found as often as the order alone (`docs/detection.md` shows the curve).
RISE: Final = 0.2
FREE_PARTS: Final = 2
# Longer words are names, hashes and links; their beginnings say enough.
MAX_WORD_CHARS: Final = 24
SHORTEST_PIECE: Final = 3
LONGEST_PIECE: Final = 5
# A text of fewer pieces, some ten words, says too little to be sure.
MIN_PIECES: Final = 150
# Words whose weight is remembered; a language has some thousand in daily use. Longer ones than `MAX_WORD_CHARS` are not:
# they are no words of daily use, and may be secrets.
MAX_KNOWN_WORDS: Final = 8192
# A part has fewer pieces than this many bits count.
PIECES_BITS: Final = 24
# Concepts and pairs of them whose weights are remembered. A vocabulary has 130, a few in up to four senses; prompts of one
# installation speak of some thousand pairs.
MAX_KNOWN_MARKS: Final = 32768
# Sets of concepts whose weights are remembered; most sentences speak of none, or of one or two.
MAX_KNOWN_SETS: Final = 4096
# Concepts of one part whose pairs count; a part that holds more is a list.
MAX_PAIRED: Final = 24

# What pairs of words add to a score at most, in all lines that were measured; they cost most.
MAX_PAIRS_SCORE: Final = 3.0

_WORD = re.compile(r"\w+|[^\w\s]")
_ASCII_WORD = re.compile(r"\w+|[^\w\s]", re.ASCII)
# Scripts that put no blanks between words: two characters stand for one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
# One class of characters, and then what is asked of each: looked for as fast as one.
_SENTENCE_END = re.compile(r"[.!?;:\n。！？；](?:(?<=[\n。！？；])|(?=\s|$))")  # noqa: RUF001 - marks of other scripts


# A concept at a place of a text, with what the sentence makes of it (`-` negated, `?` only asked about). A plain tuple, for there
# are hundreds in a text.
type Mark = tuple[int, str]


@dataclass(slots=True)
class _Part:
    """What one part of a text weighs, and of how many pieces; pairs of words are weighed only where they may decide."""

    said: list[str]
    weight: int
    # Of words and concepts; pairs of words come to it.
    pieces: int
    pairs: int = 0
    paired: int | None = None


class _Words(dict[str, int]):
    """What each word weighs, above the number of its pieces, so that one sum gives both; words of daily use stay."""

    def __init__(self, weights: memoryview) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, word: str) -> int:
        buckets = [_bucket(piece) for piece in pieces_of_word(word)]
        both = (sum(self._weights[bucket] for bucket in buckets) << PIECES_BITS) + len(buckets)
        if len(word) > MAX_WORD_CHARS:
            return both
        if len(self) >= MAX_KNOWN_WORDS:
            self.clear()
        self[word] = both
        return both


class _Marks(dict[tuple[str, ...], int]):
    """What each concept weighs, and each two that stand together."""

    def __init__(self, weights: memoryview) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, mark: tuple[str, ...]) -> int:
        if len(self) >= MAX_KNOWN_MARKS:
            self.clear()
        self[mark] = weight = self._weights[_mark_bucket(mark)]
        return weight


class _Sets(dict[tuple[str, ...], tuple[int, int]]):
    """What the concepts of a part weigh with their pairs, and how many these are."""

    def __init__(self, weights: memoryview) -> None:
        super().__init__()
        self._marks = _Marks(weights)

    def __missing__(self, marks: tuple[str, ...]) -> tuple[int, int]:
        named = min(len(set(marks)), MAX_PAIRED)
        found = sum(map(self._marks.__getitem__, marks_of(marks))), named * (named + 1) // 2
        if len(self) >= MAX_KNOWN_SETS:
            self.clear()
        self[marks] = found
        return found


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
        self._known = _Words(self._weights)
        self._sets = _Sets(self._weights)

    def reasons(
        self, text: str, marks: Sequence[Mark], floor: float, wanted: AbstractSet[str] | None = None
    ) -> tuple[str, ...]:
        """Give the concepts in what of a bare text is at least `floor` like an attack; none where nothing is.

        Where no concept of `wanted` stands, nothing is looked at.
        """
        cut = list(parts(text, marks))
        floor = risen(floor, len(cut))
        told = [wanted is None or not wanted.isdisjoint(held) for _, held in cut]
        # What weighs less is not enough, whatever its pairs say: told without a root.
        enough = (floor - MAX_PAIRS_SCORE - self._bias) / self._scale
        light = enough * enough if enough < 0 else 0.0
        read: dict[int, _Part] = {}
        for first in range(len(cut)):
            if True not in told[first : first + MAX_JOINED]:
                continue
            joined: list[_Part] = []
            weight = pieces = said = 0
            for number in range(first, min(first + MAX_JOINED, len(cut))):
                part = read.get(number)
                if part is None:
                    part = read[number] = self._part(*cut[number])
                joined.append(part)
                weight += part.weight
                pieces += part.pieces
                said += len(part.said)
                # Pairs make the divisor greater, by as many words as there are at most: what is not enough with the better one
                # is not enough.
                better = pieces if weight > 0 else pieces + said
                if weight < 0 and weight * weight > light * (max(MIN_PIECES, better)):
                    continue
                if weight < enough * size(better):
                    continue
                if self._alike(joined, weight, pieces) >= floor:
                    near = cut[first : first + MAX_JOINED]
                    return tuple(dict.fromkeys(name for _, held in near for name in held))
        return ()

    def _alike(self, joined: Sequence[_Part], weight: int, pieces: int) -> float:
        """Score parts that weigh so much without their pairs of words."""
        weight += sum(map(self._paired, joined))
        pieces += sum(part.pairs for part in joined)
        return self._bias + self._scale * weight / size(pieces)

    def _part(self, text: str, marks: tuple[str, ...]) -> _Part:
        said = words(text)
        both = sum(map(self._known.__getitem__, set(said)))
        weight, pieces = self._sets[marks]
        return _Part(said, weight + (both >> PIECES_BITS), pieces + (both & ((1 << PIECES_BITS) - 1)))

    def _paired(self, part: _Part) -> int:
        if part.paired is None:
            weights = self._weights
            pairs = dict.fromkeys(pairwise(part.said))
            part.pairs = len(pairs)
            part.paired = sum(weights[_bucket(f"{first} {second}")] for first, second in pairs)
        return part.paired


def risen(floor: float, parts: int) -> float:
    """Give the floor for a text of so many parts."""
    return floor + RISE * math.log2(max(1.0, parts / FREE_PARTS))


def parts(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Cut a text behind sentences, with the names of the marks in each part; `marks` are in the order of the text."""
    start = taken = 0
    while start < len(text):
        end = _end(text, start)
        held = taken
        while taken < len(marks) and marks[taken][0] < end:
            taken += 1
        yield text[start:end], tuple(dict.fromkeys([name for _, name in marks[held:taken]]))
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
    return chain(zip(named), combinations(named, 2))


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
