"""Chunks: one meaning, bounded waste, trailers dropped."""

import itertools

import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.wire import chunked
from herma.wire.chunked import ChunkDecoder
from herma.wire.failures import FramingError

STREAM = (
    b"3\r\nabc\r\n0A;x=y;z\r\n0123456789\r\n"
    b'1;chunk-signature="a b"\r\n\r\r\n0;last\r\nX-Forwarded-User: admin\r\nA: b\r\n\r\nGET /next'
)
BODY = b"abc0123456789\r"

BROKEN = {
    "hexadecimal prefix": b"0x2\r\nab\r\n0\r\n\r\n",
    "negative": b"-2\r\nab\r\n0\r\n\r\n",
    "plus": b"+2\r\nab\r\n0\r\n\r\n",
    "underscore": b"1_0\r\n0123456789abcdef\r\n0\r\n\r\n",
    "seventeen digits": b"10000000000000002\r\nab\r\n0\r\n\r\n",
    "overflow": b"fffffffffffffffe\r\nab\r\n0\r\n\r\n",
    "empty size": b"\r\nab\r\n0\r\n\r\n",
    "leading space": b" 2\r\nab\r\n0\r\n\r\n",
    "trailing space": b"2 \r\nab\r\n0\r\n\r\n",
    "extension without a name": b"2;\r\nab\r\n0\r\n\r\n",
    "extension with a bare LF": b"2;a\nb\r\nab\r\n0\r\n\r\n",
    "extension with a bare CR": b"2;a\rb\r\nab\r\n0\r\n\r\n",
    "extension of 64 KiB": b"2;a=" + b"b" * 65536 + b"\r\nab\r\n0\r\n\r\n",
    "bare LF after the size": b"2\nab\r\n0\r\n\r\n",
    "data longer than the size": b"2\r\nabc\r\n0\r\n\r\n",
    "data without its end": b"2\r\nab0\r\n\r\n",
    "bare LF after the data": b"2\r\nab\n0\r\n\r\n",
    "trailer without a colon": b"0\r\nabc\r\n\r\n",
    "trailer with a bare LF": b"0\r\nA: b\n\r\n\r\n",
    "folded trailer": b"0\r\nA: b\r\n c\r\n\r\n",
    "trailer of 16 KiB": b"0\r\nA: " + b"b" * 16384 + b"\r\n\r\n",
    "many trailers": b"0\r\n" + b"A: b\r\n" * 40 + b"\r\n",
    "endless trailer": b"0\r\nA: " + b"b" * 16384,
    "endless size line": b"2;" + b"b" * 1000,
}


def decode(pieces: list[bytes], *, frugal: bool = True) -> tuple[bytes, bytes, bool]:
    """Return body, rest, and whether the message is complete."""
    decoder = ChunkDecoder(frugal=frugal)
    out: list[bytes] = []
    rest = b""
    for piece in pieces:
        if decoder.done:
            rest += piece
        else:
            decoder.feed(piece, out)
            rest = decoder.rest
    return b"".join(out), rest, decoder.done


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(edges) if a != b]


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM))))
def test_decoding_does_not_depend_on_how_the_network_cuts(places: list[int]) -> None:
    """Body, end and what follows are the same for every split; trailers are in none of them."""
    assert decode(cut(STREAM, places)) == (BODY, b"GET /next", True)


def test_decoding_byte_by_byte() -> None:
    """The slowest split of all."""
    assert decode([bytes([byte]) for byte in STREAM]) == (BODY, b"GET /next", True)


def test_feeding_counts_the_body_only() -> None:
    """Overhead is not body."""
    assert ChunkDecoder(frugal=True).feed(STREAM, []) == len(BODY)


@pytest.mark.parametrize("stream", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_broken_chunks_are_refused(stream: bytes, step: int) -> None:
    """Each of these is read differently by some server."""
    with pytest.raises(FramingError):
        decode([stream[at : at + step] for at in range(0, len(stream), step)])


def test_small_chunks_are_free_up_to_a_bound() -> None:
    """A client that writes byte by byte is served, an attack on the parser is not."""
    free = b"1\r\na\r\n" * chunked.FREE_CHUNKS
    assert decode([free + b"0\r\n\r\n"])[2]
    many = b"1\r\na\r\n" * (chunked.FREE_CHUNKS * 2)
    with pytest.raises(FramingError):
        decode([many])
    assert decode([many + b"0\r\n\r\n"], frugal=False)[2]


def test_large_chunks_pay_for_small_ones() -> None:
    """The bound is on the average, so a long honest stream never meets it."""
    stream = (b"40\r\n" + b"a" * 64 + b"\r\n") * (chunked.FREE_CHUNKS + 1000)
    assert decode([stream + b"0\r\n\r\n"])[2]


class Oracle:
    """llhttp, all leniency off."""

    def __init__(self) -> None:
        self.body = b""
        self.complete = False

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.complete = True


_near = st.lists(
    st.sampled_from(
        [
            b"0",
            b"1",
            b"2",
            b"a",
            b"\r\n",
            b"\r",
            b"\n",
            b";",
            b"x=y",
            b'"q"',
            b" ",
            b"0\r\n\r\n",
            b"2\r\nab\r\n",
            b":",
        ]
    ),
    max_size=12,
).map(b"".join)


@settings(max_examples=300)
@given(_near)
def test_whatever_is_accepted_llhttp_accepts_with_the_same_body(stream: bytes) -> None:
    """Our decoder is never the more tolerant of the two."""
    try:
        body, rest, done = decode([stream])
    except FramingError:
        return
    if not done:
        return
    oracle = Oracle()
    parser = httptools.HttpRequestParser(oracle)
    message = stream[: len(stream) - len(rest)]
    parser.feed_data(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + message)
    assert oracle.complete
    assert oracle.body == body
