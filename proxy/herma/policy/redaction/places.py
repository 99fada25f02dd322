"""The way back from a view: which characters of its source each part of it stands for.

A map of all parts of a long text takes longer to draw than the text takes to decode, and most of it is never asked for. So the map
knows how long its blocks of parts are, and draws a block when a place in it is asked for.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, MutableSequence, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

__all__ = ["Block", "Places", "Span"]

type Span = tuple[int, int]

# Even, so that each second part of a block is an escape, as in the whole.
BLOCK_PARTS: Final = 512


class Block(NamedTuple):
    """Where parts of a view begin, and where in the source they begin and end; each second part is an escape.

    Beginnings in the view are one more than parts. What has no place in the source ends where it begins.
    """

    at: MutableSequence[int]
    start: MutableSequence[int]
    end: MutableSequence[int]

    def add(self, start: int, end: int, chars: int) -> None:
        """Note a part that was copied, or that has no place, as the one that is no escape of two."""
        self.at.extend([self.at[-1] + chars] * 2)
        self.start.extend((start, end))
        self.end.extend((end, end))

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Give the parts of the source that characters `start` to `end` stand for."""
        for number in range(max(0, bisect_right(self.at, start) - 1), len(self.start)):
            at, first, last = self.at[number], self.start[number], self.end[number]
            if at >= end:
                return
            if at == self.at[number + 1]:
                # The decoding dropped it.
                continue
            if number % 2 == 0:
                last = min(last, first + end - at)
                first += max(0, start - at)
            if first < last:
                yield first, last

    def number(self, at: int) -> int:
        """Tell which part a character of the view is in; the last one when it is behind all."""
        return min(max(0, bisect_right(self.at, at) - 1), len(self.start) - 1)

    def part(self, number: int) -> tuple[int, int, int]:
        """Tell where a part begins in the view, and where in the source it begins and ends."""
        return self.at[number], self.start[number], self.end[number]

    def reach(self, start: int, end: int) -> Span:
        """Give the one part of the source that characters `start` to `end` come from."""
        return _reach(self, start, end)


class Places:
    """The map of a view whose parts are those of its source, each second one written otherwise."""

    def __init__(self, parts: Sequence[str], read: Sequence[str], far: Collection[int] = ()) -> None:
        """Take the parts as the source has them and as the view reads them, and the numbers of those that have no place."""
        self._parts = parts
        self._read = read
        self._far = frozenset(far)
        self._at = _lengths(read)
        self._start = _lengths(parts)
        self._drawn: dict[int, Block] = {}

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Give the parts of the source that characters `start` to `end` stand for."""
        for number in range(self._block_of(start), len(self._at) - 1):
            if self._at[number] >= end:
                return
            yield from self._block(number).spans(start, end)

    def reach(self, start: int, end: int) -> Span:
        """Give the one part of the source that characters `start` to `end` come from."""
        return _reach(self, start, end)

    def number(self, at: int) -> int:
        """Tell which part a character of the view is in; the last one when it is behind all."""
        block = self._block_of(at)
        return block * BLOCK_PARTS + self._block(block).number(at)

    def part(self, number: int) -> tuple[int, int, int]:
        """Tell where a part begins in the view, and where in the source it begins and ends."""
        return self._block(number // BLOCK_PARTS).part(number % BLOCK_PARTS)

    def _block_of(self, at: int) -> int:
        return min(max(0, bisect_right(self._at, at) - 1), len(self._at) - 2)

    def _block(self, number: int) -> Block:
        block = self._drawn.get(number)
        if block is None:
            block = self._drawn[number] = self._draw(number)
        return block

    def _draw(self, number: int) -> Block:
        first = number * BLOCK_PARTS
        parts, read = self._parts[first : first + BLOCK_PARTS], self._read[first : first + BLOCK_PARTS]
        # A list of as many numbers takes five times the memory, and most of its time to get it.
        at = array("q", accumulate(map(len, read), initial=self._at[number]))
        start = array("q", accumulate(map(len, parts), initial=self._start[number]))
        end = start[1:]
        del start[-1]
        for part in range(len(parts)) if self._far else ():
            if first + part in self._far:
                end[part] = start[part]
        return Block(at, start, end)


def _reach(places: Block | Places, start: int, end: int) -> Span:
    number, final = places.number(start), places.number(max(start, end - 1))
    at, first, last = places.part(number)
    if number < final and first == last:
        number += 1
        at, first, _ = places.part(number)
    if number % 2 == 0:
        first += max(0, start - at)
    at, begin, last = places.part(final)
    if final % 2 == 0:
        last = min(last, begin + end - at)
    return first, last


def _lengths(parts: Sequence[str]) -> list[int]:
    """Tell where each block of parts begins, and where the last one ends."""
    # Joined, they are measured ten times faster than one by one.
    blocks = (len("".join(parts[first : first + BLOCK_PARTS])) for first in range(0, len(parts), BLOCK_PARTS))
    return list(accumulate(blocks, initial=0))
