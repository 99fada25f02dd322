"""A client's connection: one request at a time, answers that arrive, ends in bounded time."""

import asyncio
import itertools
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from herma.wire import ServerLimits, ServerRequest, connection
from support.wire_client import PATIENCE_S, Client, bound, echo, reset, serving

# A deadline short enough to be awaited and long enough that a busy machine does not meet it by accident.
SOON_S = 0.05
POST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
TWO = (
    POST
    + b"PUT /y HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\nTrail: er\r\n\r\n"
)

REFUSED = {
    "CL.TE": b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE in 1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "CL +3": b"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc",
    "bare LF": b"GET / HTTP/1.1\nHost: h\n\n",
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "TLS on a plain port": b"\x16\x03\x01\x02\x00\x01",
    "chunk size 0x2": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
    "chunk extension with a LF": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\nab\r\n0\r\n\r\n",
}


class Recorder:
    """A handler that remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[bytes, bytes]] = []
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, request: ServerRequest) -> None:
        body = await request.read_body(1000)
        self.headers += request.head.headers
        self.seen.append((request.head.target, body))
        await request.respond(200, [], b"ok")


class Held:
    """A handler that waits until it is told to go on, and remembers how it ended."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.calls = 0

    async def __call__(self, request: ServerRequest) -> None:
        self.calls += 1
        self.started.set()
        try:
            await request.read_body(1 << 24)
            async with asyncio.timeout(PATIENCE_S):
                await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        await request.respond(200, [], b"done")


async def test_requests_follow_each_other_on_one_connection() -> None:
    """Keep-alive, also after chunks."""
    async with serving() as served:
        client = await served.client()
        client.send(POST)
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")
        client.send(b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n")
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"de")
        assert served.server.connections == 1


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED.keys())
async def test_a_malformed_request_is_answered_and_the_connection_closed(raw: bytes) -> None:
    """The answer is 400, the handler hears nothing, and what follows is never looked at."""
    recorder = Recorder()
    async with serving(recorder) as served:
        answer = await served.talk(raw + b"GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert answer.count(b"HTTP/1.1") == 1
        assert b"connection: close" in answer
        assert recorder.seen == []


async def test_limits_have_their_own_status() -> None:
    """414 for the target, 431 for headers, 505 for a version, 417 for an expectation, 405 for a method."""
    limits = ServerLimits(max_headers=3, max_header_bytes=200, max_target_bytes=50)
    async with serving(limits=limits) as served:
        for status, raw in (
            (414, b"GET /" + b"a" * 60 + b" HTTP/1.1\r\n\r\n"),
            (414, b"GET /" + b"a" * 600),
            (431, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 4 + b"\r\n"),
            (431, b"GET / HTTP/1.1\r\nA: " + b"b" * 300 + b"\r\n\r\n"),
            (505, b"GET / HTTP/1.2\r\n\r\n"),
            (417, b"GET / HTTP/1.1\r\nExpect: more\r\n\r\n"),
            (405, b"get / HTTP/1.1\r\n\r\n"),
        ):
            assert (await served.talk(raw)).startswith(b"HTTP/1.1 %d " % status)


async def test_one_empty_line_before_a_request_is_skipped() -> None:
    """RFC 9112 section 2.2: old clients send one behind a body."""
    async with serving() as served:
        client = await served.client()
        client.send(POST + b"\r\n" + POST)
        assert await client.answer() == await client.answer()


async def test_trailers_are_never_headers() -> None:
    """A field that arrives behind the body is dropped."""
    recorder = Recorder()
    async with serving(recorder) as served:
        client = await served.client()
        client.send(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Forwarded-User: admin\r\n\r\n"
        )
        await client.answer()
        client.send(POST)
        await client.answer()
    assert recorder.seen == [(b"/", b"a"), (b"/x", b"abc")]
    assert b"X-Forwarded-User" not in dict(recorder.headers)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.integers(min_value=0, max_value=len(TWO)), max_size=6))
async def test_the_same_requests_however_the_network_cuts(places: list[int]) -> None:
    """Two pipelined requests, split anywhere, are the same two requests."""
    recorder = Recorder()
    async with serving(recorder) as served:
        client = await served.client()
        edges = [0, *sorted(places), len(TWO)]
        for start, end in itertools.pairwise(edges):
            client.send(TWO[start:end])
            await asyncio.sleep(0)
        await client.answer()
        await client.answer()
    assert recorder.seen == [(b"/x", b"abc"), (b"/y", b"de")]


@settings(max_examples=40, deadline=None)
@given(garbage=st.binary(min_size=1, max_size=300))
async def test_garbage_ends_in_an_answer_or_a_close(garbage: bytes) -> None:
    """Nothing a client sends leaves its connection open without a deadline, and nothing raises."""
    limits = ServerLimits(head_timeout_s=SOON_S, body_timeout_s=SOON_S, idle_timeout_s=SOON_S)
    async with serving(limits=limits) as served:
        client = await served.client()
        client.send(garbage)
        await client.gone()


async def test_the_next_request_waits_for_the_answer_of_the_one_before() -> None:
    """Pipelined requests are handled one at a time."""
    held = Held()
    async with serving(held) as served:
        client = await served.client()
        client.send(POST + POST)
        await held.started.wait()
        await asyncio.sleep(0)
        assert held.calls == 1
        held.go_on.set()
        await client.answer()
        await client.answer()
        assert held.calls == 2


async def test_nothing_follows_a_close() -> None:
    """A request behind `Connection: close` is not processed."""
    recorder = Recorder()
    async with serving(recorder) as served:
        answer = await served.talk(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n" + POST)
        assert answer.count(b"HTTP/1.1") == 1
        assert len(recorder.seen) == 1


async def test_nothing_follows_a_body_that_was_not_read() -> None:
    """Even if all of it has arrived: what was judged unread is the last thing a client sends."""
    calls = 0

    async def refuse(request: ServerRequest) -> None:
        nonlocal calls
        calls += 1
        await request.respond(401, [], b"who")

    async with serving(refuse) as served:
        answer = await served.talk(POST + POST)
        assert b"connection: close" in answer
        assert answer.endswith(b"who")
        assert calls == 1


async def test_nothing_follows_an_answer_that_closes() -> None:
    """After a refusal with `close` what was pipelined is thrown away."""
    calls = 0

    async def refuse(request: ServerRequest) -> None:
        nonlocal calls
        calls += 1
        await request.respond(401, [], b"who", close=True)

    async with serving(refuse) as served:
        answer = await served.talk(b"GET / HTTP/1.1\r\n\r\n" + POST)
        assert answer.endswith(b"who")
        assert calls == 1


async def test_an_early_answer_is_readable_although_the_body_is_not_read() -> None:
    """A client in mid-upload gets the 413, not a reset, and its body is never taken for a request."""

    async def refuse(request: ServerRequest) -> None:
        await request.respond(413, [], b"too much")

    async with serving(refuse) as served:
        client = await served.client()
        body = b"GET /smuggled HTTP/1.1\r\n\r\n".ljust(4 << 20, b"x")
        client.send(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body))
        client.send(body)
        async with asyncio.timeout(PATIENCE_S):
            await client.writer.drain()
        answer = await client.rest()
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer
        assert answer.count(b"HTTP/1.1") == 1


async def test_lingering_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes on sending after the answer is cut off."""
    monkeypatch.setattr(connection, "LINGER_BYTES", 100_000)
    async with serving() as served:
        client = await served.client()
        client.send(b"nonsense\n")
        with suppress(OSError):
            for _ in range(1000):
                client.send(b"x" * 10_000)
                async with asyncio.timeout(PATIENCE_S):
                    await client.writer.drain()
        await client.gone()


async def test_lingering_is_bounded_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who neither sends nor closes after the answer is cut off."""
    monkeypatch.setattr(connection, "LINGER_S", SOON_S)
    async with serving() as served:
        client = await served.client()
        client.send(b"nonsense\n")
        await client.rest()
        while served.server.connections:
            await asyncio.sleep(0.01)


async def test_100_continue_comes_only_when_the_body_is_wanted() -> None:
    """A verdict of no is given before the body is sent."""

    async def judge(request: ServerRequest) -> None:
        if request.head.target == b"/no":
            await request.respond(401, [], b"no")
        else:
            await echo(request)

    head = b"POST %b HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    async with serving(judge) as served:
        answer = await served.talk(head % b"/no")
        assert answer.startswith(b"HTTP/1.1 401 ")
        client = await served.client()
        client.send(head % b"/yes")
        assert await client.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(b"abc")
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")


async def test_no_100_continue_for_a_body_that_is_there_or_too_large() -> None:
    """Who did not wait needs no leave, and who sends too much gets none."""
    head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"

    async def small(request: ServerRequest) -> None:
        await request.respond(200, [], await request.read_body(10))

    async with serving(small) as served:
        client = await served.client()
        client.send(head % 3 + b"abc")
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"abc")
        assert (await served.talk(head % 11)).startswith(b"HTTP/1.1 413 ")


async def test_an_h2c_upgrade_keeps_its_body() -> None:
    """The body is read as body, and the connection goes on in HTTP/1.1."""
    recorder = Recorder()
    async with serving(recorder) as served:
        client = await served.client()
        client.send(
            b"POST /a HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc"
        )
        await client.answer()
        client.send(POST)
        await client.answer()
    assert recorder.seen == [(b"/a", b"abc"), (b"/x", b"abc")]


@pytest.mark.parametrize("leave", ["fin", "reset", "half close"])
@pytest.mark.parametrize("where", ["handling", "in the body", "behind pipelined bytes"])
async def test_a_client_that_leaves_ends_the_work_done_for_it(leave: str, where: str) -> None:
    """The handler is cancelled at once, whatever it waits for."""
    held = Held()
    async with serving(held) as served:
        client = await served.client()
        client.send(
            {
                "handling": POST,
                "in the body": b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nabc",
                "behind pipelined bytes": POST + b"GET / HTTP/1.1\r\nA: " + b"b" * (1 << 20),
            }[where]
        )
        await held.started.wait()
        async with asyncio.timeout(PATIENCE_S):
            await client.writer.drain()
            if leave == "fin":
                client.writer.close()
            elif leave == "reset":
                reset(client.writer)
            else:
                client.writer.write_eof()
            await held.cancelled.wait()


async def test_a_client_that_leaves_after_its_answer_lets_the_handler_finish() -> None:
    """What is left to do once the answer is out is done."""
    answered = asyncio.Event()
    go_on = asyncio.Event()
    finished = asyncio.Event()

    async def handler(request: ServerRequest) -> None:
        await request.respond(200, [], b"ok")
        answered.set()
        await go_on.wait()
        finished.set()

    async with serving(handler) as served:
        client = await served.client()
        client.send(b"GET / HTTP/1.1\r\n\r\n")
        await client.answer()
        client.writer.write_eof()
        await client.gone()
        go_on.set()
        async with asyncio.timeout(PATIENCE_S):
            await finished.wait()


async def test_what_is_pipelined_too_far_ahead_is_thrown_away() -> None:
    """The answer in flight is then the last one."""
    held = Held()
    async with serving(held) as served:
        client = await served.client()
        client.send(POST + b"x" * (connection.MAX_PIPELINED_BYTES * 4))
        await held.started.wait()
        async with asyncio.timeout(PATIENCE_S):
            await client.writer.drain()
        held.go_on.set()
        answer = await client.rest()
        assert answer.count(b"HTTP/1.1") == 1
        assert held.calls == 1


async def test_who_sends_without_end_while_served_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes nobody wants are bounded even while a request is in flight."""
    monkeypatch.setattr(connection, "LINGER_BYTES", 200_000)
    held = Held()
    async with serving(held) as served:
        client = await served.client()
        client.send(POST + b"x" * (8 << 20))
        async with asyncio.timeout(PATIENCE_S):
            await held.cancelled.wait()


async def test_the_head_has_a_deadline() -> None:
    """A head that trickles is answered 408; a connection that says nothing is just closed."""
    async with serving(limits=ServerLimits(head_timeout_s=SOON_S)) as served:
        assert await served.talk(b"") == b""
        assert (await served.talk(b"GET / HTTP/1.1\r\nA: b")).startswith(b"HTTP/1.1 408 ")
        client = await served.client()
        client.send(POST)
        await client.answer()
        client.send(b"GET / ")
        assert (await client.rest()).startswith(b"HTTP/1.1 408 ")


async def test_an_idle_connection_has_a_deadline() -> None:
    """Between two requests a client may wait, not for ever."""
    async with serving(limits=ServerLimits(idle_timeout_s=SOON_S)) as served:
        client = await served.client()
        client.send(POST)
        await client.answer()
        assert await client.rest() == b""


async def test_a_body_has_a_deadline() -> None:
    """A body that stops coming is answered 408."""
    async with serving(limits=ServerLimits(body_timeout_s=SOON_S)) as served:
        answer = await served.talk(b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\nabc")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"herma.body.timeout" in answer


async def test_a_slow_reader_is_cut_off() -> None:
    """A client that does not read makes the handler fail, not wait."""
    failed = asyncio.Event()

    async def pour(request: ServerRequest) -> None:
        await request.start(200, [])
        try:
            while True:
                await request.send(b"x" * 100_000)
        finally:
            failed.set()

    async with serving(pour, ServerLimits(send_timeout_s=SOON_S)) as served:
        client = await served.client()
        client.writer.transport.pause_reading()
        client.send(POST)
        async with asyncio.timeout(PATIENCE_S):
            await failed.wait()


async def test_a_handler_waiting_for_something_else_is_cancelled_with_its_slow_reader() -> None:
    """The answer can no longer arrive, so nothing needs to be waited for."""
    cancelled = asyncio.Event()

    async def pour_and_wait(request: ServerRequest) -> None:
        await request.start(200, [], length=1 << 26)
        sending = asyncio.get_running_loop().create_task(request.send(b"x" * (1 << 26)))
        try:
            await asyncio.sleep(0)
            sending.cancel()
            await asyncio.sleep(PATIENCE_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with serving(pour_and_wait, ServerLimits(send_timeout_s=SOON_S)) as served:
        client = await served.client()
        client.writer.transport.pause_reading()
        client.send(POST)
        async with asyncio.timeout(PATIENCE_S):
            await cancelled.wait()


async def test_a_body_nobody_reads_yet_is_left_in_the_socket() -> None:
    """Before the verdict a client can make us hold a watermark's worth, not its whole body."""
    held = asyncio.Event()

    async def late(request: ServerRequest) -> None:
        await held.wait()
        body = await request.read_body(1 << 27)
        await request.respond(200, [], b"%d" % len(body))

    async with serving(late) as served:
        client = await served.client()
        size = 1 << 26
        client.send(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size)
        client.send(b"x" * size)
        for _ in range(20):
            await asyncio.sleep(0)
        assert client.writer.transport.get_write_buffer_size() > 0
        held.set()
        assert await client.answer() == (b"HTTP/1.1 200 OK", b"%d" % size)


async def test_a_failing_handler_is_500(caplog: pytest.LogCaptureFixture) -> None:
    """Before anything was written, a failure is an answer that says nothing of its cause."""

    async def fail(request: ServerRequest) -> None:
        raise ValueError("a secret")

    async with serving(fail) as served:
        answer = await served.talk(POST)
        assert answer.startswith(b"HTTP/1.1 500 ")
        assert b"secret" not in answer
    assert "a request handler failed" in caplog.text


async def test_a_handler_that_fails_in_its_answer_aborts(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is written into an open body, and the end is a reset."""

    async def fail(request: ServerRequest) -> None:
        await request.start(200, [])
        await request.send(b"half")
        raise ValueError

    async with serving(fail) as served:
        client = await served.client()
        client.send(POST)
        await client.until(b"half\r\n")
        with pytest.raises(ConnectionResetError):
            await client.rest()
    assert "a request handler failed" in caplog.text


async def test_a_handler_that_says_nothing_is_500() -> None:
    """An answer is owed."""

    async def nothing(request: ServerRequest) -> None:
        await request.read_body(100)

    async with serving(nothing) as served:
        assert (await served.talk(POST)).startswith(b"HTTP/1.1 500 ")


async def test_a_handler_that_stops_half_way_aborts() -> None:
    """Returning early must not look like the end of the body."""

    async def half(request: ServerRequest) -> None:
        await request.start(200, [], length=10)
        await request.send(b"half")

    async with serving(half) as served:
        client = await served.client()
        client.send(POST)
        with pytest.raises(ConnectionResetError):
            await client.rest()


async def test_a_handler_that_is_cancelled_by_itself_closes() -> None:
    """Even then the client does not wait."""

    async def cancelled(request: ServerRequest) -> None:
        raise asyncio.CancelledError

    async with serving(cancelled) as served:
        assert await served.talk(POST) == b""


async def test_peers_are_named() -> None:
    """The handler knows who asks and where they came in."""
    peers = []

    async def who(request: ServerRequest) -> None:
        peers.append(request.peer)
        await request.respond(200, [], b"")

    async with serving(who) as served:
        client = await served.client()
        client.send(POST)
        await client.answer()
        local = f"{served.address[0]}:{served.address[1]}"
        ours = client.writer.get_extra_info("sockname")
    (peer,) = peers
    assert (peer.address, peer.port, peer.local, peer.tls, peer.unix) == (*ours, local, False, False)


def test_the_helpers_bind_loopback_only() -> None:
    """No test opens a port to the world."""
    with bound() as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
    assert Client.__slots__
