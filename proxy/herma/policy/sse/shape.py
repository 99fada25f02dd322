"""Events of one text are alike but for a piece of the text and some numbers: what was judged once is not judged again.

A shape is taken from an event whose other strings were all found clean. An event of the same shape has the same bytes outside
its holes, so that its channel and the verdict on its other strings are the same; only the piece is new.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Final

from herma.policy.redaction.document import TOKEN
from herma.policy.sse.channels import IDENTITY

__all__ = ["MAX_BARREN", "MAX_SHAPES", "Piece", "Shape", "Shapes"]

# Texts that grow at the same time: a message, its reasoning, the arguments of some parallel calls.
MAX_SHAPES: Final = 8
# The frame around a piece is 100 to 500 bytes in every dialect; a longer one is an event of its own kind.
MAX_FRAME_CHARS: Final = 4096
# Whoever names every event anew is not learned from for ever; one event that is recognised begins the count again.
MAX_BARREN: Final = 32
# RFC 8259 section 6, with bounds: what is longer is not what was judged.
_NUMBER: Final = re.compile(
    rb"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,32})?(?:[eE][+-]?[0-9]{1,3})?(?![0-9.eE+-])"
)
# RFC 8259 section 7, up to the closing quote.
_STRING: Final = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+(?=")')


@dataclass(frozen=True, slots=True)
class Piece:
    """What is new in an event of a known shape: the next piece of the text that `key` names."""

    key: tuple[object, ...]
    pointer: str
    text: str = field(repr=False)
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """The bytes around the holes of an event; `string` is the number of the hole that holds the piece."""

    name: str
    key: tuple[object, ...]
    pointer: str
    literals: tuple[bytes, ...] = field(repr=False)
    string: int

    def piece(self, data: bytes) -> Piece | None:
        """Read an event of this shape; None when it has another."""
        at = first = end = 0
        for number, literal in enumerate(self.literals[:-1]):
            if not data.startswith(literal, at):
                return None
            at += len(literal)
            hole = (_STRING if number == self.string else _NUMBER).match(data, at)
            if hole is None:
                return None
            if number == self.string:
                first, end = hole.span()
            at = hole.end()
        if data[at:] != self.literals[-1]:
            return None
        return self._read(data, data[first:end])

    def _read(self, data: bytes, written: bytes) -> Piece | None:
        try:
            whole, text = data.decode("utf-8"), written.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return Piece(self.key, self.pointer, json.loads(f'"{text}"') if "\\" in text else text, whole)


def _shape(name: str, key: tuple[object, ...], pointer: str, text: str, start: int, end: int) -> Shape | None:
    """Take the shape of an event whose piece stands at `start` to `end`; numbers that name a text are no holes."""
    if len(text) - (end - start) > MAX_FRAME_CHARS:
        return None
    holes: list[tuple[int, int]] = []
    member, before = "", ""
    for found in TOKEN.finditer(text):
        sign = found.group()
        if found.start() + 1 == start and sign[0] == '"':
            holes.append((start, end))
        elif before == ":" and sign[0] in "-0123456789" and not (member in IDENTITY or "\\" in member):
            holes.append(found.span())
        if sign == ":":
            member = before[1:-1]
        before = sign
    literals: list[bytes] = []
    done = 0
    for first, last in holes:
        literals.append(text[done:first].encode("utf-8", "surrogateescape"))
        done = last
    literals.append(text[done:].encode("utf-8", "surrogateescape"))
    return Shape(name, key, pointer, tuple(literals), holes.index((start, end)))


class Shapes:
    """The shapes of one stream, the last used first."""

    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        # Shapes that were learned since one was of use.
        self._barren = 0

    def piece(self, name: str, data: bytes) -> Piece | None:
        """Read an event of a known shape."""
        for place, shape in enumerate(self._shapes):
            piece = shape.piece(data) if shape.name == name else None
            if piece is not None:
                self._barren = 0
                if place:
                    self._shapes.insert(0, self._shapes.pop(place))
                return piece
        return None

    def learn(
        self, name: str, key: tuple[object, ...], pointer: str, text: str, span: tuple[int, int]
    ) -> None:
        """Remember the shape of an event in which nothing but the piece at `span` has to be looked at."""
        if self._barren == MAX_BARREN:
            return
        self._barren += 1
        shape = _shape(name, key, pointer, text, *span)
        if shape is not None:
            self._shapes.insert(0, shape)
            del self._shapes[MAX_SHAPES:]
