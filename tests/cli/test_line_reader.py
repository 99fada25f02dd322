"""Lines from a stream that may stay open."""

import io
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from herma.cli.line_reader import TooLong, line_batches


class Trickle(io.RawIOBase):
    """A stream whose reads give the pieces that it was made of."""

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self._pieces = [piece for piece in pieces if piece]
        self.reads = 0

    def read1(self, _size: int = -1) -> bytes:
        self.reads += 1
        return self._pieces.pop(0) if self._pieces else b""


def lines(pieces: list[bytes], max_bytes: int = 10**6) -> list[Any]:
    batches = line_batches(Trickle(pieces), max_bytes)  # type: ignore[arg-type] - only read1 is called
    return [None if isinstance(line, TooLong) else line for batch in batches for line in batch]


@given(st.lists(st.binary(max_size=12)))
def test_any_bytes_in_any_pieces_give_the_same_lines(pieces: list[bytes]) -> None:
    """One line for each line, however they arrive; nothing is lost or added."""
    whole = b"".join(pieces)
    expected = whole.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert lines(pieces) == expected


@given(st.lists(st.binary(max_size=12)), st.integers(min_value=0, max_value=6))
def test_a_line_that_is_too_long_costs_only_itself(pieces: list[bytes], limit: int) -> None:
    """It stands as too long, and the lines behind it as they are."""
    whole = lines(pieces)
    assert lines(pieces, limit) == [line if len(line) <= limit else None for line in whole]


def test_a_line_is_given_as_soon_as_it_is_there() -> None:
    """Whoever writes a line and waits for its answer gets it."""
    stream = Trickle([b"a\nb\nc", b"\n", b"d"])
    batches = line_batches(stream)  # type: ignore[arg-type] - only read1 is called
    assert next(batches) == [b"a", b"b"]
    assert stream.reads == 1
    assert list(batches) == [[b"c"], [b"d"]]


def test_a_stream_in_memory_is_read_too() -> None:
    """Whatever kind of stream stands in for standard input."""
    assert list(line_batches(io.BytesIO(b"a\nb"))) == [[b"a"], [b"b"]]
