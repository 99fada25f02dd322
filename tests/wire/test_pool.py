"""Connections are reused, never trusted further than their last byte, and a POST is sent once."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from herma.wire import Pool, PoolLimits, TcpAddress, UnixAddress, UpstreamError, UpstreamFailure, pool
from support.wire_client import PATIENCE_S, bound
from support.wire_upstream import OK, Script, Side, playing

SOON_S = 0.05


async def ask(
    pool: Pool,
    method: bytes = b"GET",
    body: bytes = b"",
    *,
    idempotent: bool = False,
    timeout_s: float = PATIENCE_S,
    upgrade: bool = False,
) -> tuple[int, bytes]:
    async with pool.request(
        method,
        b"/x",
        [(b"host", b"up")],
        body,
        idempotent=idempotent,
        head_timeout_s=timeout_s,
        upgrade=upgrade,
    ) as response:
        return response.head.status, await response.read(1 << 20)


async def always_ok(side: Side) -> None:
    while True:
        await side.request()
        side.send(OK)


def answers(*raw: bytes) -> Script:
    """Give one answer to each request of a connection, then wait."""

    async def script(side: Side) -> None:
        for answer in raw:
            await side.request()
            side.send(answer)

    return script


async def test_a_connection_is_really_reused() -> None:
    """Fifty requests, one connection; llhttp's own answer to the question is false once the message is over."""
    async with playing(always_ok) as up:
        for _ in range(50):
            assert await ask(up.pool) == (200, b"ok")
        assert (up.connects, up.pool.connects, up.pool.open) == (1, 1, 1)


async def test_requests_at_once_get_connections_of_their_own() -> None:
    """A connection carries one request at a time."""
    async with playing(always_ok) as up:
        await asyncio.gather(*(ask(up.pool) for _ in range(5)))
        assert up.connects == 5
        await asyncio.gather(*(ask(up.pool) for _ in range(5)))
        assert up.connects == 5


async def test_the_request_on_the_wire() -> None:
    """Head and body as given; framing is ours, theirs is dropped."""
    headers = [
        (b"Host", b"up"),
        (b"X-A", b"\xff"),
        (b"Content-Length", b"99"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Connection", b"close"),
    ]
    async with playing(always_ok) as up:
        async with up.pool.request(
            b"POST", b"/%2e?x", headers, b"abc", idempotent=False, head_timeout_s=5
        ) as response:
            assert await response.read(10) == b"ok"
        assert up.requests == [
            b"POST /%2e?x HTTP/1.1\r\nHost: up\r\nX-A: \xff\r\ncontent-length: 3\r\n\r\nabc"
        ]


async def test_an_empty_post_says_so_and_a_get_does_not() -> None:
    """RFC 9110 section 8.6."""
    async with playing(always_ok) as up:
        await ask(up.pool, b"POST")
        await ask(up.pool, b"GET")
        assert b"content-length: 0" in up.requests[0]
        assert b"content-length" not in up.requests[1]


async def test_a_header_that_would_split_is_never_sent() -> None:
    """Whatever went wrong before, no value begins a line of its own."""
    async with playing(always_ok) as up:
        for headers in ([(b"a", b"b\r\nc: d")], [(b"a", b"b\rc")], [(b"a\n", b"b")], [(b"a", b"\0")]):
            with pytest.raises(ValueError, match="control byte"):
                up.pool.request(b"GET", b"/", headers, b"", idempotent=True, head_timeout_s=5)
        with pytest.raises(ValueError, match="control byte"):
            up.pool.request(b"GET", b"/ HTTP/1.1\r\nx: y", [], b"", idempotent=True, head_timeout_s=5)
        assert up.connects == 0


NOT_REUSED = {
    "Connection: close": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "bytes after the answer": OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    "a body after 204": b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil",
}


@pytest.mark.parametrize("answer", NOT_REUSED.values(), ids=NOT_REUSED.keys())
async def test_a_doubtful_connection_is_not_reused(answer: bytes) -> None:
    """Bytes after an answer are never a second answer."""
    async with playing(answers(answer, answer)) as up:
        first = await ask(up.pool)
        second = await ask(up.pool)
        assert first == second
        assert b"evil" not in first[1]
        assert up.connects == 2


async def test_bytes_while_idle_are_never_an_answer() -> None:
    """An answer nobody asked for ends the connection."""

    async def early(side: Side) -> None:
        await side.request()
        side.send(OK)
        if side.number == 0:
            await asyncio.sleep(0)
            side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")

    async with playing(early) as up:
        assert await ask(up.pool) == (200, b"ok")
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.005)
        assert await ask(up.pool) == (200, b"ok")
        assert up.connects == 2


async def test_an_answer_left_unread_is_not_reused() -> None:
    """Leaving in mid-body aborts the upstream's work."""
    aborted = asyncio.Event()

    async def long(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc")
        await side.gone()
        aborted.set()

    async with playing(long) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            assert not response.complete
        async with asyncio.timeout(PATIENCE_S):
            await aborted.wait()
        assert up.pool.open == 0


async def test_a_cancelled_request_is_not_reused() -> None:
    """Cancelling while the upstream works tells the upstream."""
    aborted = asyncio.Event()
    asked = asyncio.Event()

    async def silent(side: Side) -> None:
        await side.request()
        asked.set()
        await side.gone()
        aborted.set()

    async with playing(silent) as up:
        task = asyncio.get_running_loop().create_task(ask(up.pool))
        await asked.wait()
        task.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await aborted.wait()
        with pytest.raises(asyncio.CancelledError):
            await task


def stale(end: Callable[[Side], None]) -> Script:
    """Answer once, then end the first connection in the middle of the second request."""

    async def script(side: Side) -> None:
        await side.request()
        side.send(OK)
        await side.request()
        if side.number == 0:
            end(side)
        else:
            side.send(OK)

    return script


@pytest.mark.parametrize("end", [Side.fin, Side.reset], ids=["fin", "reset"])
async def test_a_stale_connection_costs_a_safe_request_nothing(end: Callable[[Side], None]) -> None:
    """It is sent once more, on a new connection."""
    async with playing(stale(end)) as up:
        assert await ask(up.pool, idempotent=True) == (200, b"ok")
        assert await ask(up.pool, idempotent=True) == (200, b"ok")
        assert (up.connects, len(up.requests)) == (2, 3)


@pytest.mark.parametrize("idempotent", [False, True])
async def test_a_post_is_never_sent_twice(idempotent: bool) -> None:
    """Whoever says so: the upstream may have begun a turn."""
    async with playing(stale(Side.fin)) as up:
        await ask(up.pool, b"POST", b"a", idempotent=idempotent)
        with pytest.raises(UpstreamError) as caught:
            await ask(up.pool, b"POST", b"b", idempotent=idempotent)
        assert (caught.value.kind, caught.value.sent) == (UpstreamFailure.CLOSED, True)
        assert len(up.requests) == 2


async def test_a_request_is_not_repeated_after_a_first_byte() -> None:
    """An upstream that began to answer has seen the request."""

    async def half(side: Side) -> None:
        await side.request()
        side.send(OK)
        await side.request()
        side.send(b"HTTP/1.1 2")
        side.fin()

    async with playing(half) as up:
        await ask(up.pool, idempotent=True)
        with pytest.raises(UpstreamError):
            await ask(up.pool, idempotent=True)
        assert len(up.requests) == 2


async def test_a_request_is_repeated_once_only() -> None:
    """If the new connection fails as well, that is the answer."""

    async def script(side: Side) -> None:
        await side.request()
        if side.number == 0:
            side.send(OK)
            await side.request()
        side.fin()

    async with playing(script) as up:
        await ask(up.pool, idempotent=True)
        with pytest.raises(UpstreamError) as caught:
            await ask(up.pool, idempotent=True)
        assert caught.value.kind is UpstreamFailure.CLOSED
        assert len(up.requests) == 3


async def test_a_new_connection_that_closes_is_not_stale() -> None:
    """The first request of a connection is not repeated."""

    async def hang_up(side: Side) -> None:
        await side.request()
        side.fin()

    async with playing(hang_up) as up:
        with pytest.raises(UpstreamError):
            await ask(up.pool, idempotent=True)
        assert len(up.requests) == 1


async def test_a_post_does_not_take_a_connection_the_upstream_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a POST the kernel is asked, even if the loop has not heard of the close yet."""
    monkeypatch.setattr(pool, "LOOK_AFTER_S", 0.0)
    listening = bound()
    listening.listen()
    ours = Pool(TcpAddress(*listening.getsockname()))

    def answer(sock: socket.socket) -> None:
        sock.settimeout(PATIENCE_S)
        assert sock.recv(65536)
        sock.sendall(OK)

    async def served() -> socket.socket:
        sock, _ = await loop.run_in_executor(None, listening.accept)
        await loop.run_in_executor(None, answer, sock)
        return sock

    loop = asyncio.get_running_loop()
    with listening:
        _, first = await asyncio.gather(ask(ours, b"POST", b"a"), served())
        first.close()  # the loop does not turn between here and the next request
        (status, _), second = await asyncio.gather(ask(ours, b"POST", b"b"), served())
        assert (status, ours.connects) == (200, 2)
        second.close()
        await ours.close()


async def test_idle_connections_are_closed_by_us_first() -> None:
    """The pool's idle time ends before the upstream's."""
    async with playing(always_ok, PoolLimits(keepalive_s=SOON_S)) as up:
        await ask(up.pool)
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.005)


async def test_waiting_for_a_connection_is_bounded() -> None:
    """With every connection taken a request waits its time, then fails as busy, unsent."""
    async with playing(always_ok, PoolLimits(max_connections=1, acquire_timeout_s=SOON_S)) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            await response.read(10)
            with pytest.raises(UpstreamError) as caught:
                await ask(up.pool)
        assert (caught.value.kind, caught.value.sent) == (UpstreamFailure.BUSY, False)
        assert await ask(up.pool) == (200, b"ok")


async def test_a_connection_given_back_goes_to_who_waits() -> None:
    """Many requests over few connections all get through."""
    async with playing(always_ok, PoolLimits(max_connections=2)) as up:
        results = await asyncio.gather(*(ask(up.pool) for _ in range(20)))
        assert results == [(200, b"ok")] * 20
        assert up.connects == 2


async def test_a_waiter_that_gives_up_does_not_take_a_turn_with_it() -> None:
    """Cancelling who waits, even after being told, passes the turn on."""
    async with playing(always_ok, PoolLimits(max_connections=1, keepalive_s=60, acquire_timeout_s=60)) as up:
        loop = asyncio.get_running_loop()
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            await response.read(10)
            quitter = loop.create_task(ask(up.pool))
            heir = loop.create_task(ask(up.pool))
            await asyncio.sleep(0)
        quitter.cancel()
        async with asyncio.timeout(PATIENCE_S):
            assert await heir == (200, b"ok")
        with pytest.raises(asyncio.CancelledError):
            await quitter


async def test_nobody_listening_is_a_connect_failure() -> None:
    """Nothing was sent, so anything may be tried again."""
    with bound() as sock:
        ours = Pool(TcpAddress(*sock.getsockname()), PoolLimits(max_connections=1))
        for _ in range(3):
            with pytest.raises(UpstreamError) as caught:
                await ask(ours)
            assert (caught.value.kind, caught.value.sent) == (UpstreamFailure.CONNECT, False)
        assert ours.open == 0


async def test_connecting_has_a_deadline() -> None:
    """A full backlog does not hold a request for the kernel's two minutes."""
    with bound() as sock:
        sock.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        try:
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(sock.getsockname())
            ours = Pool(TcpAddress(*sock.getsockname()), PoolLimits(connect_timeout_s=SOON_S))
            with pytest.raises(UpstreamError) as caught:
                await ask(ours)
            assert caught.value.kind is UpstreamFailure.CONNECT
        finally:
            for filler in fillers:
                filler.close()


async def test_names_are_resolved_for_every_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """An upstream that moves is found again; no proxy of the environment comes between."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    loop = asyncio.get_running_loop()
    asked: list[str] = []
    real = loop.getaddrinfo

    async def watched(host: str, *args: object, **kwargs: object) -> object:
        asked.append(host)
        return await real(host, *args, **kwargs)  # type: ignore[arg-type] # passes on what it got

    async with playing(answers(NOT_REUSED["HTTP/1.0"])) as up:
        ours = Pool(TcpAddress("localhost", up.address[1]))
        if type(loop).__module__.startswith("asyncio"):
            monkeypatch.setattr(loop, "getaddrinfo", watched)
        await ask(ours)
        await ask(ours)
        assert ours.connects == 2
        if type(loop).__module__.startswith("asyncio"):
            assert asked == ["localhost", "localhost"]
        await ours.close()


async def test_an_upstream_on_a_unix_socket(tmp_path: Path) -> None:
    """The same client, another address."""
    path = str(tmp_path / "up.sock")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        writer.close()

    server = await asyncio.start_unix_server(connected, path)
    ours = Pool(UnixAddress(path))
    assert await ask(ours) == (200, b"ok")
    await ours.close()
    server.close()
    with pytest.raises(UpstreamError):
        await ask(Pool(UnixAddress(str(tmp_path / "none.sock")), ssl=ssl.create_default_context()))


async def test_a_closed_pool_lets_nobody_in() -> None:
    """Idle connections are closed, others aborted, waiters told."""

    async def hold(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")

    async with playing(hold, PoolLimits(max_connections=1)) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            waiting = asyncio.get_running_loop().create_task(ask(up.pool))
            await asyncio.sleep(0)
            await up.pool.close()
            with pytest.raises(UpstreamError):
                await response.read(10)
        with pytest.raises(UpstreamError):
            await waiting
        with pytest.raises(UpstreamError) as caught:
            await ask(up.pool)
        assert not caught.value.sent


async def test_a_retired_pool_lets_exchanges_end_and_nobody_in() -> None:
    """After a reload the old pool serves out what it began; everybody who waits is told at once."""
    go_on = asyncio.Event()

    async def slow(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        await go_on.wait()
        side.send(b"ok")

    async with playing(slow, PoolLimits(max_connections=1, acquire_timeout_s=60)) as up:
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            waiting = [asyncio.get_running_loop().create_task(ask(up.pool)) for _ in range(3)]
            await asyncio.sleep(0)
            up.pool.retire()
            for waiter in waiting:
                with pytest.raises(UpstreamError):
                    await waiter
            go_on.set()
            assert await response.read(10) == b"ok"
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.001)


async def test_retiring_closes_idle_connections() -> None:
    """Nothing is left open for requests that will not come."""
    async with playing(always_ok) as up:
        await ask(up.pool)
        up.pool.retire()
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.open:
                await asyncio.sleep(0.001)


async def test_reaching_asks_nothing_and_leaves_a_connection_to_use() -> None:
    """The proof that an upstream accepts is a connection, which the next request takes."""
    async with playing(always_ok) as up:
        await up.pool.reach()
        await up.pool.reach()
        assert (up.pool.connects, up.pool.open, up.requests) == (1, 1, [])
        assert await ask(up.pool) == (200, b"ok")
        assert up.pool.connects == 1
        await up.pool.reach()
        assert (up.pool.connects, len(up.requests)) == (1, 1)


async def test_reaching_does_not_keep_a_connection_from_its_end() -> None:
    """However often one looks, an idle connection ends in its time, or a lost host would look alive for ever."""
    async with playing(always_ok, PoolLimits(keepalive_s=SOON_S)) as up:
        async with asyncio.timeout(PATIENCE_S):
            while up.pool.connects < 3:
                await up.pool.reach()
                await asyncio.sleep(0.005)


async def test_nobody_there_is_not_reached() -> None:
    """Neither is the upstream of a pool that is closed."""
    with bound() as sock:
        ours = Pool(TcpAddress(*sock.getsockname()))
        with pytest.raises(UpstreamError) as caught:
            await ours.reach()
        assert caught.value.kind is UpstreamFailure.CONNECT
        assert ours.open == 0
    async with playing(always_ok) as up:
        up.pool.retire()
        with pytest.raises(UpstreamError):
            await up.pool.reach()
        assert up.pool.connects == 0


async def test_an_idle_connection_that_the_upstream_left_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is asked, and then the upstream, with a new connection."""
    monkeypatch.setattr(pool, "LOOK_AFTER_S", 0.0)
    listening = bound()
    listening.listen()
    ours = Pool(TcpAddress(*listening.getsockname()))
    await ours.reach()
    accepted, _ = listening.accept()
    listening.close()
    accepted.close()  # the loop does not turn between here and the next look
    with pytest.raises(UpstreamError) as caught:
        await ours.reach()
    assert (caught.value.kind, ours.open) == (UpstreamFailure.CONNECT, 0)


async def test_an_upstream_is_reached_while_every_connection_is_in_use() -> None:
    """A busy gate is not an upstream that is down; the connection beyond the cap does not stay."""
    async with playing(always_ok, PoolLimits(max_connections=1)) as up:  # noqa: SIM117 - reads better
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as response:
            await up.pool.reach()
            await response.read(10)
            assert up.pool.connects == 2
            async with asyncio.timeout(PATIENCE_S):
                while up.pool.open > 1:
                    await asyncio.sleep(0.001)


async def test_a_connection_opened_to_reach_serves_who_waits() -> None:
    """Whoever waits for a connection may have this one."""
    async with playing(always_ok, PoolLimits(max_connections=2, acquire_timeout_s=60)) as up:
        loop = asyncio.get_running_loop()
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5) as first:
            reaching = loop.create_task(up.pool.reach())
            await asyncio.sleep(0)
            waiting = loop.create_task(ask(up.pool))
            await reaching
            async with asyncio.timeout(PATIENCE_S):
                assert await waiting == (200, b"ok")
            await first.read(10)


async def test_a_connection_that_went_stale_before_its_first_request_costs_a_safe_request_nothing() -> None:
    """It was opened to look whether the upstream is there, and had rested since."""

    async def script(side: Side) -> None:
        await side.request()
        if side.number == 0:
            side.fin()
        else:
            side.send(OK)

    async with playing(script) as up:
        await up.pool.reach()
        assert await ask(up.pool, idempotent=True) == (200, b"ok")
        assert up.connects == 2


async def test_a_pool_knows_when_it_was_answered_last() -> None:
    """From the head of an answer on, whatever its status or its body; a request without an answer changes nothing."""

    async def script(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 9\r\n\r\n")
        await side.request()

    async with playing(script) as up:
        loop = asyncio.get_running_loop()
        await up.pool.reach()
        assert up.pool.answered_at == 0.0
        before = loop.time()
        async with up.pool.request(b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5):
            answered_at = up.pool.answered_at
            assert before <= answered_at <= loop.time()
    async with playing(answers()) as silent:
        with pytest.raises(UpstreamError):
            await ask(silent.pool, timeout_s=SOON_S)
        assert silent.pool.answered_at == 0.0
