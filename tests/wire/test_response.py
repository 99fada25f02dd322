"""The answer as its caller reads it."""

import pytest

from herma.wire import UpstreamError
from support.wire_upstream import OK, Side, playing


async def ok(side: Side) -> None:
    while True:
        await side.request()
        side.send(OK)


async def test_a_whole_answer_that_came_at_once_is_complete_at_once() -> None:
    """A caller can tell without waiting that no more will come."""
    async with playing(ok) as up:  # noqa: SIM117 - reads better
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            assert response.complete
            assert response.upgrade is None
            assert await response.read(2) == b"ok"
            assert await response.read(2) == b""


async def test_an_answer_can_be_left_alone_when_it_is_complete() -> None:
    """Its body is dropped, its connection kept."""
    async with playing(ok) as up:
        for _ in range(2):
            async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5):
                pass
        assert up.connects == 1


async def test_pieces_and_the_whole_are_the_same() -> None:
    """Streaming loses nothing."""
    async with playing(ok) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            assert b"".join([piece async for piece in response.chunks(5)]) == b"ok"
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            with pytest.raises(UpstreamError, match="too large"):
                await response.read(1)
