"""One request, one answer: what an upstream may do, and what it may not."""

import asyncio
import itertools
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.wire import (
    Pool,
    PoolLimits,
    ResponseHead,
    TcpAddress,
    Tunnel,
    UpstreamError,
    UpstreamFailure,
    UpstreamResponse,
)
from herma.wire.upstream_connection import MAX_INTERIM, WATERMARK_BYTES
from support.wire_client import PATIENCE_S, bound
from support.wire_upstream import OK, Scripted, Side, playing

SOON_S = 0.05
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n"
    b"5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nTrailer: x\r\n\r\n"
)
FIXED = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-A: b\r\n\r\nhello!"
BY_CLOSE = b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nhello!"


async def fetch(
    up: Scripted,
    method: bytes = b"GET",
    body: bytes = b"",
    *,
    timeout_s: float = PATIENCE_S,
    upgrade: bool = False,
) -> tuple[ResponseHead, bytes]:
    async with up.pool.request(
        method, b"/", [], body, idempotent=False, head_timeout_s=timeout_s, upgrade=upgrade
    ) as response:
        return response.head, await response.read(1 << 26, timeout_s)


async def failure(up: Scripted, method: bytes = b"GET", *, timeout_s: float = PATIENCE_S) -> UpstreamFailure:
    with pytest.raises(UpstreamError) as caught:
        await fetch(up, method, timeout_s=timeout_s)
    assert caught.value.sent
    return caught.value.kind


def once(*pieces: bytes, end: bool = False, reset: bool = False):
    """Answer one request with these pieces, then wait, close or reset."""

    async def script(side: Side) -> None:
        await side.request()
        for piece in pieces:
            side.send(piece)
            await asyncio.sleep(0)
        await side.flush()
        if end:
            side.fin()
        if reset:
            side.reset()

    return script


@settings(max_examples=30, deadline=None)
@given(stream=st.sampled_from([CHUNKED, FIXED, BY_CLOSE]), places=st.lists(st.integers(0, 200), max_size=5))
async def test_the_same_answer_however_the_network_cuts(stream: bytes, places: list[int]) -> None:
    """Head and body do not depend on packets; trailers are in neither."""
    edges = [0, *sorted(place for place in places if place < len(stream)), len(stream)]
    pieces = [stream[a:b] for a, b in itertools.pairwise(edges)]
    async with playing(once(*pieces, end=stream is BY_CLOSE)) as up:
        head, body = await fetch(up)
        assert body == b"hello!"
        assert (b"X-A", b"b") in head.headers
        assert all(name != b"Trailer" for name, _ in head.headers)


@settings(max_examples=30, deadline=None)
@given(garbage=st.binary(min_size=1, max_size=200))
async def test_a_garbled_answer_is_one_kind_of_failure(garbage: bytes) -> None:
    """Whatever an upstream sends instead of an answer, the caller gets an UpstreamError."""
    async with playing(once(b"HTTP/1.1" + garbage, end=True)) as up:
        with pytest.raises(UpstreamError):
            await fetch(up)


BROKEN = {
    "CL and TE": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two CL": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "bare CR": b"HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 2\r\n\r\nok",
    "folding": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "bare LF in one line": b"HTTP/1.1 200 OK\r\nA: b\nContent-Length: 2\r\n\r\nok",
    "broken chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n",
    "201 headers": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 201 + b"\r\n",
    "interim answers only": b"HTTP/1.1 100 Continue\r\n\r\n" * (MAX_INTERIM + 1) + OK,
}


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN.keys())
async def test_a_loose_answer_is_a_protocol_failure(raw: bytes) -> None:
    """What could mean two things to two readers is nothing to us."""
    async with playing(once(raw)) as up:
        assert await failure(up) is UpstreamFailure.PROTOCOL
        assert up.pool.open == 0


@pytest.mark.parametrize("end", [b"\r\n\r\n", b""])
async def test_a_head_is_bounded(end: bytes) -> None:
    """Beyond 64 KiB a head is too large, finished or not."""
    raw = b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000 + end
    async with playing(once(raw)) as up:
        assert await failure(up) is UpstreamFailure.TOO_LARGE


@pytest.mark.parametrize(
    "interim", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"]
)
@pytest.mark.parametrize("together", [True, False])
async def test_interim_answers_are_skipped(interim: bytes, together: bool) -> None:
    """100 and 103 are not the answer, in one packet with it or not."""
    async with playing(once(interim + OK) if together else once(interim, OK)) as up:
        head, body = await fetch(up)
        assert (head.status, body) == (200, b"ok")


@pytest.mark.parametrize(
    ("method", "raw"),
    [
        (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"),
        (b"GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 50\r\n\r\n"),
    ],
)
async def test_answers_without_a_body_end_with_their_head(method: bytes, raw: bytes) -> None:
    """And the connection is reused."""

    async def script(side: Side) -> None:
        while True:
            await side.request()
            side.send(raw)

    async with playing(script) as up:
        for _ in range(3):
            assert (await fetch(up, method))[1] == b""
        assert up.connects == 1


@pytest.mark.parametrize(
    ("raw", "end", "reset"),
    [
        (FIXED[:-1], True, False),
        (FIXED[:-1], False, True),
        (CHUNKED[:-1], True, False),
        (CHUNKED[:-20], True, False),
        (BY_CLOSE, False, True),
        (b"HTTP/1.1 200 OK\r\nX", True, False),
        (b"", True, False),
    ],
)
async def test_a_truncated_answer_is_a_failure(raw: bytes, end: bool, reset: bool) -> None:
    """A body that breaks off is never delivered as whole; without a length only a clean close is an end."""
    async with playing(once(raw, end=end, reset=reset)) as up:
        assert await failure(up) is UpstreamFailure.CLOSED


async def test_a_close_delimited_answer_is_never_reused() -> None:
    """Its connection is gone."""
    async with playing(once(BY_CLOSE, end=True)) as up:
        await fetch(up)
        await fetch(up)
        assert up.connects == 2


async def test_an_unasked_upgrade_is_a_failure() -> None:
    """A 101 to a plain request is not passed on, and neither is what follows."""
    raw = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nevil"
    async with playing(once(raw)) as up:
        assert await failure(up) is UpstreamFailure.UNASKED_UPGRADE


async def test_an_asked_upgrade_is_a_tunnel() -> None:
    """What came with the 101 is the tunnel's first bytes; the request asked in full."""
    raw = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst"
    async with playing(once(raw)) as up:
        async with up.pool.request(
            b"GET", b"/ws", [], b"", idempotent=True, head_timeout_s=5, upgrade=True
        ) as response:
            assert response.head.status == 101
            assert isinstance(response.upgrade, Tunnel)
        assert b"connection: Upgrade\r\nupgrade: websocket\r\n" in up.requests[0]
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.005)


async def test_a_refused_upgrade_is_an_answer_like_any_other() -> None:
    """426 has a body and no tunnel."""
    async with playing(once(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno")) as up:
        head, body = await fetch(up, upgrade=True)
        assert (head.status, body) == (426, b"no")


async def test_the_head_has_a_deadline() -> None:
    """An upstream that says nothing, or half a head, is a timeout."""
    async with playing(once()) as up:
        assert await failure(up, timeout_s=SOON_S) is UpstreamFailure.TIMEOUT
    async with playing(once(b"HTTP/1.1 200 OK\r\n")) as up:
        assert await failure(up, timeout_s=SOON_S) is UpstreamFailure.TIMEOUT


async def test_the_body_has_a_deadline_between_its_bytes() -> None:
    """A stream may last, but not in silence."""
    async with playing(once(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")) as up:  # noqa: SIM117 - reads better
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            pieces = response.chunks(SOON_S)
            assert await anext(pieces) == b"abc"
            with pytest.raises(UpstreamError) as caught:
                await anext(pieces)
            assert caught.value.kind is UpstreamFailure.TIMEOUT


async def test_many_chunks_of_one_read_are_one_piece() -> None:
    """Writes are coalesced per read, not per chunk."""
    many = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 1000 + b"0\r\n\r\n"
    async with playing(once(many)) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            pieces = [piece async for piece in response.chunks(5)]
        assert b"".join(pieces) == b"a" * 1000
        assert len(pieces) < 10


async def test_an_upstream_waits_for_a_slow_caller() -> None:
    """Back-pressure: what the caller does not take is held up to a watermark, the rest stays where it is."""
    size = 1 << 26
    side_seen: list[Side] = []

    async def pour(side: Side) -> None:
        side_seen.append(side)
        await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        side.send(b"x" * size)
        await side.flush()
        await side.request()
        side.send(OK)

    async def total(response: UpstreamResponse) -> int:
        return sum([len(piece) async for piece in response.chunks(PATIENCE_S)])

    async with playing(pour) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            for _ in range(50):
                await asyncio.sleep(0.001)
            assert side_seen[0].writer.transport.get_write_buffer_size() > WATERMARK_BYTES
            assert await total(response) == size
        assert (await fetch(up))[1] == b"ok"
        assert up.connects == 1


async def test_a_paused_connection_is_read_again_when_reused() -> None:
    """An answer that arrived whole but was never taken does not leave the next one unread."""
    big = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (WATERMARK_BYTES * 2) + b"x" * (
        WATERMARK_BYTES * 2
    )

    async def script(side: Side) -> None:
        await side.request()
        side.send(big)
        await side.request()
        side.send(OK)

    async with playing(script) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            async with asyncio.timeout(PATIENCE_S):
                while not response.complete:
                    await response.read(1 << 30)
        assert (await fetch(up))[1] == b"ok"


async def test_an_early_answer_ends_the_upload() -> None:
    """An upstream that answers 413 before it reads gets its answer delivered, and the connection is dropped."""

    async def refuse(side: Side) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await side.reader.readuntil(b"\r\n\r\n")
        side.writer.transport.pause_reading()
        side.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await side.flush()
        side.writer.transport.resume_reading()

    async with playing(refuse) as up:
        head, body = await fetch(up, b"POST", b"x" * (1 << 26))
        assert (head.status, body) == (413, b"no")
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.005)


async def test_a_half_sent_request_is_never_followed_by_another() -> None:
    """Even when its buffer has drained: the upstream would read the next request as the rest of the body."""

    async def refuse(side: Side) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await side.reader.readuntil(b"\r\n\r\n")
        side.send(OK)
        await side.gone()

    async with playing(refuse) as up:
        assert (await fetch(up, b"POST", b"x" * (1 << 26)))[1] == b"ok"
        assert (await fetch(up, b"POST", b"y"))[1] == b"ok"
        assert up.connects == 2


async def test_a_large_body_is_sent_whole() -> None:
    """In pieces, with back-pressure, byte for byte."""

    async def script(side: Side) -> None:
        raw = await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (b"ok" if raw.endswith(b"y") else b"no"))

    async with playing(script, PoolLimits()) as up:
        body = b"x" * (1 << 23) + b"y"
        assert (await fetch(up, b"POST", body))[1] == b"ok"
        assert up.requests[0].endswith(b"\r\n\r\n" + body)


async def test_an_upload_that_stalls_is_a_timeout() -> None:
    """An upstream that neither reads nor answers does not hold us."""

    async def stall(side: Side) -> None:
        side.writer.transport.pause_reading()
        await asyncio.sleep(SOON_S * 4)
        side.writer.transport.resume_reading()

    async with playing(stall) as up:
        with pytest.raises(UpstreamError) as caught:
            await fetch(up, b"POST", b"x" * (1 << 26), timeout_s=SOON_S)
        assert caught.value.kind is UpstreamFailure.TIMEOUT


async def test_an_upload_into_a_closed_connection_fails() -> None:
    """The upstream hangs up in mid-upload without a word."""

    async def leave(side: Side) -> None:
        side.reset()

    async with playing(leave) as up:
        with pytest.raises(UpstreamError) as caught:
            await fetch(up, b"POST", b"x" * (1 << 26))
        assert caught.value.kind is UpstreamFailure.CLOSED


async def test_an_answer_longer_than_the_limit_is_refused() -> None:
    """Counted while it comes, not after."""
    async with playing(once(FIXED)) as up:  # noqa: SIM117 - reads better
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            with pytest.raises(UpstreamError) as caught:
                await response.read(5)
            assert caught.value.kind is UpstreamFailure.TOO_LARGE


REFUSAL = b'{"error":{"message":"too large"}}'
REFUSED = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: %d\r\n\r\n" % len(REFUSAL) + REFUSAL
TRUNCATED = REFUSED[:-1]
UNFRAMED = b"HTTP/1.1 413 Payload Too Large\r\n\r\n" + REFUSAL
LARGE = b"x" * (8 << 20)


async def upload(answer: bytes, body: bytes = LARGE) -> tuple[ResponseHead, bytes]:
    """Send a body to an upstream that reads the head only, answers and closes: what is unread makes its kernel send RST."""

    def play() -> None:
        sock, _ = listening.accept()
        with sock:
            sock.settimeout(PATIENCE_S)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += sock.recv(1)
            sock.recv(1, socket.MSG_PEEK)
            sock.sendall(answer)

    loop = asyncio.get_running_loop()
    with bound() as listening:
        listening.listen()
        listening.settimeout(PATIENCE_S)
        pool = Pool(TcpAddress(*listening.getsockname()))
        playing_it = loop.run_in_executor(None, play)
        try:
            async with pool.request(
                b"POST", b"/", [], body, idempotent=False, head_timeout_s=PATIENCE_S
            ) as response:
                return response.head, await response.read(1 << 20, PATIENCE_S)
        finally:
            await playing_it
            async with asyncio.timeout(PATIENCE_S):
                while pool.open:
                    await asyncio.sleep(0.001)


@pytest.mark.parametrize("size", [100 << 10, 1 << 20, 8 << 20])
async def test_an_answer_behind_which_the_upstream_slams_the_door_is_delivered(size: int) -> None:
    """The reset that ends the upload does not take the answer with it, whichever the loop notices first."""
    for _ in range(20):
        head, body = await upload(REFUSED, b"x" * size)
        assert (head.status, body) == (413, REFUSAL)


@pytest.mark.parametrize("answer", [TRUNCATED, UNFRAMED, b"", b"HTTP/1.1 413 Payl", b"nonsense\r\n\r\n"])
async def test_half_an_answer_before_a_reset_is_none(answer: bytes) -> None:
    """Only a length or a last chunk says that an answer is whole; a reset never does."""
    for _ in range(5):
        with pytest.raises(UpstreamError):
            await upload(answer)


async def test_an_answer_that_ends_with_the_connection_ends_an_upload() -> None:
    """The upstream's FIN says that it is whole, though it reads no further."""
    answered = asyncio.Event()

    async def refuse(side: Side) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await side.reader.readuntil(b"\r\n\r\n")
            side.writer.transport.pause_reading()
            side.send(UNFRAMED)
            side.writer.write_eof()
            await answered.wait()
        side.writer.transport.abort()

    async with playing(refuse) as up:
        head, body = await fetch(up, b"POST", LARGE)
        answered.set()
        assert (head.status, body) == (413, REFUSAL)


async def test_an_upload_to_an_upstream_that_says_no_more_fails_at_once() -> None:
    """After its FIN no answer can come, whether it still reads or not."""
    failed = asyncio.Event()

    async def leave(side: Side) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await side.reader.readuntil(b"\r\n\r\n")
            side.writer.transport.pause_reading()
            side.writer.write_eof()
            await failed.wait()
        side.writer.transport.abort()

    async with playing(leave) as up:
        with pytest.raises(UpstreamError) as caught:
            await fetch(up, b"POST", LARGE)
        failed.set()
        assert caught.value.kind is UpstreamFailure.CLOSED


async def test_what_was_held_for_a_slow_caller_outlives_the_connection() -> None:
    """It is given, and then the failure is told, though there is no transport any more that could read on."""
    size = WATERMARK_BYTES * 8
    begin = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
    async with playing(once(begin + b"x" * (size - 1))) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            async with asyncio.timeout(PATIENCE_S):
                while response._connection._reading:
                    await asyncio.sleep(0.001)
            await up.pool.close()
            async with asyncio.timeout(PATIENCE_S):
                while up.pool.open:
                    await asyncio.sleep(0.001)
            assert len(await response.piece(PATIENCE_S)) > WATERMARK_BYTES
            with pytest.raises(UpstreamError) as caught:
                await response.piece(PATIENCE_S)
        assert caught.value.kind is UpstreamFailure.CLOSED
