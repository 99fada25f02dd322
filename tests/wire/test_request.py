"""The answer a handler gives is framed right, or not given."""

from collections.abc import Awaitable, Callable

import pytest

from herma.wire import BodyMalformed, BodyTooLarge, Disconnected, ServerLimits, ServerRequest, Tunnel
from support.wire_client import Client, serving

GET = b"GET / HTTP/1.1\r\n\r\n"
CLOSE = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
UPGRADE = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

type Act = Callable[[ServerRequest], Awaitable[None]]


async def said(act: Act, raw: bytes = CLOSE) -> bytes:
    """Return everything a handler's answer puts on the wire."""
    async with serving(act) as served:
        return await served.talk(raw)


async def streamed(request: ServerRequest) -> None:
    await request.start(200, [(b"A", b"b")])
    await request.send(b"hello")
    await request.send(b"")
    await request.send(b"!")
    await request.finish()


async def test_an_answer_has_a_length_and_one_head() -> None:
    """Status, reason, fields in order, length, body."""

    async def act(request: ServerRequest) -> None:
        await request.respond(404, [(b"A", b"b"), (b"A", b"c")], b"gone")

    assert await said(act) == (
        b"HTTP/1.1 404 Not Found\r\nA: b\r\nA: c\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngone"
    )


async def test_framing_fields_of_a_handler_are_dropped() -> None:
    """The wire frames; two opinions in one head would be a smuggled answer."""

    async def act(request: ServerRequest) -> None:
        fields = [
            (b"Content-Length", b"99"),
            (b"transfer-encoding", b"chunked"),
            (b"Connection", b"keep-alive"),
        ]
        await request.respond(
            200, [*fields, (b"Keep-Alive", b"1"), (b"Trailer", b"x"), (b"Upgrade", b"h2c")], b"ok"
        )

    assert await said(act) == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


@pytest.mark.parametrize("field", [(b"A", b"b\r\nC: d"), (b"A", b"b\nc"), (b"A\r", b"b"), (b"A", b"\0")])
async def test_an_answer_is_never_split(field: tuple[bytes, bytes]) -> None:
    """A value that would begin a line of its own becomes a 500."""

    async def act(request: ServerRequest) -> None:
        await request.respond(200, [field], b"ok")

    answer = await said(act)
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"C: d" not in answer


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("stream", [False, True])
async def test_some_answers_have_no_body(status: int, stream: bool) -> None:
    """204 and 304 end with their head, whatever the handler says."""

    async def act(request: ServerRequest) -> None:
        if stream:
            await request.start(status, [], length=4)
            await request.send(b"evil")
            await request.finish()
        else:
            await request.respond(status, [], b"evil")

    answer = await said(act, GET + CLOSE)
    assert answer.count(b"HTTP/1.1 %d " % status) == 2
    assert b"evil" not in answer
    assert b"content-length" not in answer
    assert b"chunked" not in answer


@pytest.mark.parametrize(
    ("length", "framing"), [(5, b"content-length: 5\r\n"), (None, b"transfer-encoding: chunked\r\n")]
)
async def test_head_has_the_fields_of_get_and_no_body(length: int | None, framing: bytes) -> None:
    """The next answer follows the head at once."""

    async def act(request: ServerRequest) -> None:
        await request.start(200, [], length=length)
        await request.send(b"hello")
        await request.finish()

    head = GET.replace(b"GET", b"HEAD")
    assert await said(act, head + CLOSE.replace(b"GET", b"HEAD")) == (
        b"HTTP/1.1 200 OK\r\n" + framing + b"\r\nHTTP/1.1 200 OK\r\n" + framing + b"connection: close\r\n\r\n"
    )


async def test_head_of_a_whole_answer_tells_its_length() -> None:
    """As GET would."""

    async def act(request: ServerRequest) -> None:
        await request.respond(200, [], b"hello")

    answer = await said(act, CLOSE.replace(b"GET", b"HEAD"))
    assert answer.endswith(b"content-length: 5\r\nconnection: close\r\n\r\n")


async def test_a_failed_head_request_has_no_body_either() -> None:
    """The wire's own answers obey the same rule."""

    async def act(request: ServerRequest) -> None:
        raise BodyTooLarge

    assert (await said(act, CLOSE.replace(b"GET", b"HEAD"))).endswith(b"\r\n\r\n")


async def test_a_stream_is_chunked() -> None:
    """One chunk for each piece; empty pieces are no chunk, because that would end the body."""
    assert await said(streamed) == (
        b"HTTP/1.1 200 OK\r\nA: b\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"
    )


async def test_a_stream_to_an_old_client_ends_with_the_connection() -> None:
    """HTTP/1.0 knows no chunks."""
    raw = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    assert await said(streamed, raw) == b"HTTP/1.1 200 OK\r\nA: b\r\nconnection: close\r\n\r\nhello!"
    head = await said(streamed, raw.replace(b"GET", b"HEAD").replace(b"keep-alive", b"close"))
    assert head == b"HTTP/1.1 200 OK\r\nA: b\r\nconnection: close\r\n\r\n"


async def test_an_old_client_that_asks_is_kept() -> None:
    """And told so."""

    async def act(request: ServerRequest) -> None:
        await request.respond(200, [], b"")

    raw = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    answer = await said(act, raw + b"GET / HTTP/1.0\r\n\r\n")
    assert answer.count(b"connection: keep-alive") == 1
    assert answer.count(b"connection: close") == 1


async def test_a_reason_of_the_upstream_is_passed_on() -> None:
    """And an unknown status has none."""

    async def act(request: ServerRequest) -> None:
        if request.head.target == b"/a":
            await request.start(299, [], length=0, reason=b"Nearly")
            await request.finish()
        else:
            await request.respond(299, [], b"")

    assert (await said(act, CLOSE.replace(b"/ ", b"/a "))).startswith(b"HTTP/1.1 299 Nearly\r\n")
    assert (await said(act)).startswith(b"HTTP/1.1 299 \r\n")


async def more(request: ServerRequest) -> None:
    await request.start(200, [], length=1)
    await request.send(b"ab")


async def less(request: ServerRequest) -> None:
    await request.start(200, [], length=3)
    await request.send(b"ab")
    await request.finish()


@pytest.mark.parametrize("act", [more, less])
async def test_a_length_is_kept_or_the_connection_aborted(act: Act) -> None:
    """More or less than announced is never passed off as the body."""
    with pytest.raises(ConnectionResetError):
        await said(act)


async def test_an_announced_length_is_sent_raw() -> None:
    """Without chunks."""

    async def act(request: ServerRequest) -> None:
        await request.start(200, [], length=3)
        await request.send(b"ab")
        await request.send(b"c")
        await request.finish()

    assert (await said(act)).endswith(b"content-length: 3\r\nconnection: close\r\n\r\nabc")


async def test_an_abort_is_a_reset_after_the_last_words() -> None:
    """The event written just before still arrives; no client takes the end for a clean one."""

    async def act(request: ServerRequest) -> None:
        await request.start(200, [])
        await request.send(b"data: error\n\n")
        request.abort()
        with pytest.raises(Disconnected):
            await request.send(b"more")
        with pytest.raises(Disconnected):
            await request.finish()
        request.abort()

    async with serving(act) as served:
        client = await served.client()
        client.send(GET)
        assert (await client.until(b"error\n\n\r\n")).endswith(b"d\r\ndata: error\n\n\r\n")
        with pytest.raises(ConnectionResetError):
            await client.rest()


async def test_an_abort_does_not_cancel_its_handler() -> None:
    """What is left to do after it is done."""
    done = []

    async def act(request: ServerRequest) -> None:
        request.abort()
        try:
            await request.respond(200, [], b"")
        except Disconnected:
            done.append(request.started)

    with pytest.raises(ConnectionResetError):
        await said(act)
    assert done == [False]


async def test_an_answer_is_given_once() -> None:
    """A second one is a mistake of the handler, and nothing of it is written."""

    async def act(request: ServerRequest) -> None:
        with pytest.raises(RuntimeError):
            await request.send(b"x")
        with pytest.raises(RuntimeError):
            await request.finish()
        with pytest.raises(RuntimeError):
            request.switch([])
        await request.respond(200, [], b"ok")
        with pytest.raises(RuntimeError):
            await request.respond(200, [], b"again")
        with pytest.raises(RuntimeError):
            await request.start(200, [])
        with pytest.raises(RuntimeError):
            await request.finish()

    assert (await said(act)).endswith(b"\r\n\r\nok")


async def test_what_a_request_says_of_its_body() -> None:
    """Expected or not, and how long if it tells."""
    seen = []

    async def act(request: ServerRequest) -> None:
        seen.append((request.body_expected, request.content_length, request.upgrade, request.started))
        await request.read_body(10)
        await request.respond(200, [], b"")

    async with serving(act) as served:
        client = await served.client()
        for raw in (
            GET,
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\na",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ):
            client.send(raw)
            await client.answer()
    assert seen == [(False, 0, False, False), (True, 1, False, False), (True, None, False, False)]


async def test_a_body_is_counted_while_it_comes() -> None:
    """Announced or in chunks, one byte over the limit is too large, exactly the limit is not."""
    chunks = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def act(request: ServerRequest) -> None:
        await request.respond(200, [], await request.read_body(10))

    async with serving(act) as served:
        assert (await served.talk(b"POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n")).startswith(
            b"HTTP/1.1 413 "
        )
        assert (await served.talk(chunks + b"b\r\n12345678901\r\n")).startswith(b"HTTP/1.1 413 ")
        client = await served.client()
        client.send(chunks + b"5\r\n12345\r\n")
        client.send(b"6\r\n678901\r\n")
        assert (await client.rest()).startswith(b"HTTP/1.1 413 ")
        client = await served.client()
        client.send(chunks + b"5\r\n12345\r\n5\r\n67890\r\n0\r\n\r\n")
        assert (await client.answer())[1] == b"1234567890"


async def test_a_handler_can_word_a_body_failure_itself() -> None:
    """Broken chunks raise in the handler; whatever it answers, the connection closes."""

    async def act(request: ServerRequest) -> None:
        with pytest.raises(BodyMalformed):
            await request.read_body(10)
        await request.respond(400, [], b"mine")

    answer = await said(act, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + GET)
    assert answer.endswith(b"connection: close\r\n\r\nmine")


async def test_a_request_with_a_refused_upgrade_is_the_last() -> None:
    """What a client sends after asking for a tunnel is neither tunnelled nor a request."""
    calls = []

    async def act(request: ServerRequest) -> None:
        calls.append(request.upgrade)
        await request.respond(426, [], b"no")

    answer = await said(act, UPGRADE + GET)
    assert answer.endswith(b"connection: close\r\n\r\nno")
    assert calls == [True]


async def test_a_switch_writes_101_and_hands_over_what_followed() -> None:
    """Bytes sent ahead belong to the tunnel."""
    tunnels: list[Tunnel] = []

    async def act(request: ServerRequest) -> None:
        tunnels.append(request.switch([(b"Sec-WebSocket-Accept", b"x")]))

    async with serving(act) as served:
        client = await served.client()
        client.send(UPGRADE + b"frame")
        assert await client.until(b"\r\n\r\n") == (
            b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n"
            b"connection: Upgrade\r\nupgrade: websocket\r\n\r\n"
        )
        await client.gone()
    assert tunnels[0].ended


async def test_a_large_answer_arrives_whole() -> None:
    """With back-pressure, in one piece or many."""
    size = 1 << 23

    async def act(request: ServerRequest) -> None:
        if request.head.target == b"/whole":
            await request.respond(200, [], b"x" * size)
        else:
            await request.start(200, [])
            for _ in range(8):
                await request.send(b"x" * (size // 8))
            await request.finish()

    async with serving(act, ServerLimits()) as served:
        client = await served.client()
        client.send(GET.replace(b"/ ", b"/whole "))
        assert len((await client.answer())[1]) == size
        client.send(GET)
        assert (await client.until(b"\r\n0\r\n\r\n")).count(b"x") == size


async def test_an_answer_during_an_upload_discards_the_rest() -> None:
    """A stream can begin before the body was read; the body then never comes to anything."""

    async def act(request: ServerRequest) -> None:
        await streamed(request)

    async with serving(act) as served:
        client: Client = await served.client()
        client.send(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (1 << 20) + b"x" * (1 << 20) + GET)
        answer = await client.rest()
        assert answer.endswith(b"0\r\n\r\n")
        assert answer.count(b"HTTP/1.1") == 1
