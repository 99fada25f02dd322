"""A body as it comes, without a network."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.wire.chunked import ChunkDecoder
from herma.wire.failures import BodyMalformed, BodyTimeout, BodyTooLarge
from herma.wire.framing import FixedDecoder
from herma.wire.request_body import MIN_RATE_BYTES_S, WATERMARK_BYTES, RequestBody


def body(length: int | None = None) -> RequestBody:
    decoder = ChunkDecoder(frugal=True) if length is None else FixedDecoder(length)
    return RequestBody(decoder, asyncio.get_running_loop())


async def test_a_body_that_is_there_is_read_without_waiting() -> None:
    """What follows it is given back."""
    made = body(3)
    assert made.feed(b"ab") == b""
    assert made.feed(b"cGET") == b"GET"
    made.begin(3)
    assert await made.whole() == b"abc"


async def test_a_reader_waits_for_the_end() -> None:
    """And gets it in one piece."""
    made = body(3)
    made.begin(3)
    reader = asyncio.get_running_loop().create_task(made.whole())
    await asyncio.sleep(0)
    assert made.waited_for
    made.feed(b"a")
    await asyncio.sleep(0)
    assert not reader.done()
    made.feed(b"bc")
    assert await reader == b"abc"
    assert not made.waited_for


async def test_failures_reach_a_reader_now_or_later() -> None:
    """The first one is the one; nothing is fed or kept after it."""
    for begin_first in (True, False):
        made = body()
        if begin_first:
            made.begin(10)
        assert made.feed(b"zz\r\n") == b""
        assert made.feed(b"1\r\na\r\n0\r\n\r\n") == b""
        made.expire()
        if not begin_first:
            made.begin(10)
        assert (made.failed, made.unwanted) == (True, True)
        with pytest.raises(BodyMalformed):
            await made.whole()


async def test_the_limit_holds_before_and_after_reading_begins() -> None:
    """One byte more is too large."""
    early = body()
    early.feed(b"3\r\nabc\r\n")
    early.begin(2)
    with pytest.raises(BodyTooLarge):
        await early.whole()
    late = body()
    late.begin(2)
    late.feed(b"3\r\nabc\r\n")
    with pytest.raises(BodyTooLarge):
        await late.whole()


async def test_a_late_body_is_a_timeout() -> None:
    """If nothing worse happened before."""
    made = body(3)
    made.begin(3)
    made.expire()
    with pytest.raises(BodyTimeout):
        await made.whole()


async def test_bytes_earn_time() -> None:
    """A body that keeps coming is not late; one byte a second is."""
    made = body(1 << 20)
    made.begin(1 << 20)
    before = made.overdue_in(30)
    made.feed(b"x" * MIN_RATE_BYTES_S * 10)
    assert made.overdue_in(30) - before == pytest.approx(10, abs=1)


async def test_only_an_unread_body_is_ever_full() -> None:
    """Until somebody reads or throws it away a watermark's worth is held."""
    made = body(1 << 20)
    made.feed(b"x" * (WATERMARK_BYTES - 1))
    assert not made.full
    made.feed(b"x")
    assert made.full
    made.begin(1 << 20)
    assert not made.full
    thrown = body(1 << 20)
    thrown.discard()
    thrown.feed(b"x" * WATERMARK_BYTES)
    assert (thrown.full, thrown.unwanted, thrown.received) == (False, True, WATERMARK_BYTES)


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=10))
def test_pieces_make_the_same_body(pieces: list[bytes]) -> None:
    """In order, nothing lost."""

    async def read() -> bytes:
        made = body(sum(map(len, pieces)))
        for piece in pieces:
            made.feed(piece)
        made.begin(1000)
        return await made.whole()

    assert asyncio.run(read()) == b"".join(pieces)
