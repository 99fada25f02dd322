"""Everything that some bytes hold, packed and encoded in any order: a tar.gz in base64 in JSON, hex of a ZIP in a form.

For inspection only. Each thing is given once; how deep and how much is bounded, and beyond the bound nothing is said to be whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from herma.policy.egress.coded import decoded_in, narrowed, rewritten
from herma.policy.egress.dense import dense_in
from herma.policy.egress.packed import Room, TooLargeError, packed_in

__all__ = ["MAX_LAYERS", "View", "inside"]

# An archive in base64 in JSON in a form in percent takes five; whoever goes on hides.
MAX_LAYERS: Final = 8
# Runs of text in bytes that are none, as `strings` shows them.
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{8,}+")


@dataclass(frozen=True, slots=True)
class View:
    """Bytes at which somebody looks. `layers` is how much was taken off them, `signs` that the last were signs for others."""

    raw: bytes = field(repr=False)
    layers: int = 0
    signs: bool = False

    def text(self) -> str:
        """Read what is text in them."""
        return self.readable().decode("utf-8")

    def readable(self) -> bytes:
        """Give all of it if it is text, else the runs that are."""
        try:
            self.raw.decode("utf-8")
        except UnicodeDecodeError:
            return b"\n".join(_READABLE.findall(self.raw))
        return self.raw


def inside(raw: bytes) -> Iterator[View]:
    """Give some bytes, and then whatever is in them.

    Raises:
        TooLargeError: there is more than the room, or it is wrapped more often than is looked at.
    """
    yield View(raw)
    yield from _below(View(raw), Room(len(raw)), {hash(raw)})


def _below(view: View, room: Room, seen: set[int]) -> Iterator[View]:
    for found in _one_layer(view, room):
        if hash(found.raw) in seen:
            continue
        if found.layers > MAX_LAYERS:
            raise TooLargeError
        seen.add(hash(found.raw))
        yield found
        yield from _below(found, room, seen)


def _one_layer(view: View, room: Room) -> Iterator[View]:
    layers = view.layers + 1
    for part in packed_in(view.raw, room):
        yield View(part, layers)
    readable = view.readable()
    for part in chain(decoded_in(readable), dense_in(readable), narrowed(view.raw)):
        yield View(room.take(part), layers)
    for part in rewritten(readable):
        yield View(room.take(part), layers, signs=True)
