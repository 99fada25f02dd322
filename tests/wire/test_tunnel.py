"""Raw bytes both ways: everything arrives, every end is passed on, nothing idles for ever."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection as Echo
from websockets.asyncio.server import serve

from herma.wire import Between, Pool, ServerRequest, TcpAddress, TunnelEnd, splice
from support.through import Through
from support.wire_client import PATIENCE_S, Client, Served, serving
from support.wire_upstream import Side, playing

SOON_S = 0.05
UPGRADE = b"GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


@dataclass
class Joined:
    """Both ends of a proxied tunnel."""

    client: Client
    side: Side
    ends: "asyncio.Queue[TunnelEnd]"
    served: Served

    async def end(self) -> TunnelEnd:
        async with asyncio.timeout(PATIENCE_S):
            return await self.ends.get()


def tunnelling(
    pool: Pool, ends: "asyncio.Queue[TunnelEnd]", idle_timeout_s: float, between: Between | None = None
):
    async def handler(request: ServerRequest) -> None:
        headers = [
            field for field in request.head.headers if field[0].lower() not in {b"connection", b"upgrade"}
        ]
        async with pool.request(
            b"GET",
            request.head.target,
            headers,
            b"",
            idempotent=True,
            head_timeout_s=5,
            upgrade=request.upgrade,
        ) as response:
            if response.upgrade is None:
                await request.respond(response.head.status, response.head.headers, await response.read(1000))
                return
            ours = request.switch(response.head.headers)
            ends.put_nowait(await splice(ours, response.upgrade, between or Through(), idle_timeout_s))

    return handler


@asynccontextmanager
async def joined(
    *,
    ahead: bytes = b"",
    behind: bytes = b"",
    idle_timeout_s: float = PATIENCE_S,
    contexts: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    between: Between | None = None,
) -> AsyncIterator[Joined]:
    sides: asyncio.Queue[Side] = asyncio.Queue()
    ends: asyncio.Queue[TunnelEnd] = asyncio.Queue()
    over = asyncio.Event()

    async def upgrade(side: Side) -> None:
        await side.request()
        side.send(SWITCH + behind)
        sides.put_nowait(side)
        await over.wait()

    server_ssl, client_ssl = contexts or (None, None)
    async with (
        playing(upgrade) as up,
        serving(
            tunnelling(up.pool, ends, idle_timeout_s, between), ssl=server_ssl, client_ssl=client_ssl
        ) as served,
    ):
        client = await served.client()
        client.send(UPGRADE + ahead)
        await client.until(b"\r\n\r\n")
        try:
            yield Joined(client, await sides.get(), ends, served)
        finally:
            over.set()


async def test_bytes_pass_both_ways_from_the_first() -> None:
    """What was sent with the request and with the 101 comes first."""
    async with joined(ahead=b"early ", behind=b"hello ") as tunnel:
        tunnel.client.send(b"up")
        tunnel.side.send(b"down")
        assert await tunnel.side.reader.readexactly(8) == b"early up"
        assert await tunnel.client.exactly(10) == b"hello down"


async def test_a_close_is_passed_on_after_the_last_byte() -> None:
    """Nothing that was written before is lost."""
    async with joined() as tunnel:
        tunnel.side.send(b"x" * 1_000_000)
        tunnel.side.writer.close()
        assert len(await tunnel.client.rest()) == 1_000_000
        tunnel.client.close()
        await tunnel.end()


async def test_a_reset_resets_the_other_side() -> None:
    """A tunnel that broke does not look closed."""
    async with joined() as tunnel:
        tunnel.side.reset()
        with pytest.raises(ConnectionResetError):
            await tunnel.client.rest()
        assert await tunnel.end() is TunnelEnd.BROKEN


async def test_a_silent_tunnel_ends() -> None:
    """Neither side moved a byte for the idle time."""
    async with joined(idle_timeout_s=SOON_S) as tunnel:
        assert await tunnel.end() is TunnelEnd.IDLE
        await tunnel.client.gone()
        await tunnel.side.gone()


async def test_a_side_that_does_not_read_stops_the_other() -> None:
    """Back-pressure reaches through; once it reads again everything arrives."""
    async with joined() as tunnel:
        tunnel.client.writer.transport.pause_reading()
        size = 1 << 26
        tunnel.side.send(b"x" * size)
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert tunnel.side.writer.transport.get_write_buffer_size() > 0
        tunnel.client.writer.transport.resume_reading()
        assert len(await tunnel.client.exactly(size)) == size


async def test_a_cancelled_tunnel_resets_both_sides() -> None:
    """Draining ends tunnels too."""
    async with joined() as tunnel:
        await tunnel.served.server.drain(0.01)
        await tunnel.client.gone()
        await tunnel.side.gone()
        assert tunnel.ends.empty()


async def test_a_side_that_is_gone_before_the_splice_ends_it() -> None:
    """Between the 101 and the splice a client may leave."""
    ended: list[TunnelEnd] = []

    async def upgrade(side: Side) -> None:
        await side.request()
        side.send(SWITCH)
        await side.gone()

    async with playing(upgrade) as up:

        async def handler(request: ServerRequest) -> None:
            async with up.pool.request(
                b"GET", b"/", [], b"", idempotent=True, head_timeout_s=5, upgrade=True
            ) as response:
                assert response.upgrade is not None
                ours = request.switch([])
                ours.abort()
                while not ours.ended:
                    await asyncio.sleep(0)
                ended.append(await splice(ours, response.upgrade, Through(), PATIENCE_S))

        async with serving(handler) as served:
            client = await served.client()
            client.send(UPGRADE)
            await client.gone()
            async with asyncio.timeout(PATIENCE_S):
                while not ended:
                    await asyncio.sleep(0.001)
    assert ended == [TunnelEnd.BROKEN]


async def test_a_refused_upgrade_is_not_tunnelled() -> None:
    """A request pipelined behind it never reaches the upstream."""

    async def refuse(side: Side) -> None:
        await side.request()
        side.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")

    async with playing(refuse) as up, serving(tunnelling(up.pool, asyncio.Queue(), 5)) as served:
        answer = await served.talk(UPGRADE + b"GET /admin HTTP/1.1\r\n\r\n")
        assert answer.endswith(b"connection: close\r\n\r\nno")
        assert len(up.requests) == 1


async def test_a_websocket_keeps_subprotocol_messages_and_close_code() -> None:
    """A real client and a real server talk through the tunnel."""

    async def echo(socket: Echo) -> None:
        async for message in socket:
            if message == "bye":
                await socket.close(4401, "key revoked")
                return
            await socket.send(message)

    async with serve(echo, "127.0.0.1", 0, subprotocols=["b"], compression=None) as upstream:  # type: ignore[list-item] # a NewType of str
        pool = Pool(TcpAddress(*upstream.sockets[0].getsockname()[:2]))
        ends: asyncio.Queue[TunnelEnd] = asyncio.Queue()
        async with serving(tunnelling(pool, ends, PATIENCE_S)) as served:
            uri = f"ws://127.0.0.1:{served.address[1]}/"
            async with connect(uri, subprotocols=["a", "b"], compression=None, max_size=1 << 22) as socket:  # type: ignore[list-item] # a NewType of str
                assert socket.subprotocol == "b"
                await (await socket.ping())
                for message in ("hello", b"\0\xff", "x" * 300_000):
                    await socket.send(message)
                    assert await socket.recv() == message
                await socket.send("bye")
                await socket.wait_closed()
                assert (socket.close_code, socket.close_reason) == (4401, "key revoked")
            async with asyncio.timeout(PATIENCE_S):
                assert await ends.get() is TunnelEnd.CLOSED
        await pool.close()


async def test_the_one_between_decides_what_passes() -> None:
    """It is told what came from whom, and answers either side."""

    class Shout(Through):
        def take(self, data: bytes, now: float, *, caller: bool) -> None:
            super().take(data.upper(), now, caller=caller)
            self.out[True] += b"!"

    async with joined(between=Shout()) as tunnel:
        tunnel.client.send(b"up")
        assert await tunnel.side.reader.readexactly(2) == b"UP"
        assert await tunnel.client.exactly(1) == b"!"


async def test_the_one_between_is_called_when_it_asked_to_be() -> None:
    """Without anything coming."""

    class Clock(Through):
        def deadline(self) -> float | None:
            return None if self.over else 0.0

        def tick(self, now: float) -> None:
            self.out[True] += b"time"
            self.over = True

    async with joined(between=Clock()) as tunnel:
        assert await tunnel.client.rest() == b"time"
        assert await tunnel.side.reader.read() == b""
        assert await tunnel.end() is TunnelEnd.CLOSED


async def test_the_one_between_may_be_woken() -> None:
    """By what neither side brought; after the end nothing comes of it."""

    class Sleeper(Through):
        def tick(self, now: float) -> None:
            self.out[True] += b"awake"
            self.over = True

    between = Sleeper()
    async with joined(between=between) as tunnel:
        tunnel.client.send(b"up")
        await tunnel.side.reader.readexactly(2)
        between.wake()
        assert await tunnel.client.rest() == b"awake"
        assert await tunnel.end() is TunnelEnd.CLOSED
        between.wake()
        assert between.out[True] == b""


async def test_the_one_between_has_the_last_word_when_a_side_ends() -> None:
    """What it says then still reaches the other side."""

    class Farewell(Through):
        def ended(self, now: float, *, caller: bool) -> None:
            self.out[not caller] += b"bye"

    async with joined(between=Farewell()) as tunnel:
        tunnel.side.writer.close()
        assert await tunnel.client.rest() == b"bye"
        assert await tunnel.end() is TunnelEnd.CLOSED


async def test_a_failure_of_the_one_between_lets_nothing_pass(caplog: pytest.LogCaptureFixture) -> None:
    """Both sides are reset, and the failure reaches whoever joined them."""

    class Broken(Through):
        def take(self, data: bytes, now: float, *, caller: bool) -> None:
            raise RuntimeError("not judged")

    async with joined(between=Broken()) as tunnel:
        tunnel.client.send(b"xx")
        await tunnel.client.gone()
        await tunnel.side.gone()
        assert tunnel.ends.empty()
    assert "not judged" in caplog.text


async def test_after_the_end_nothing_more_is_taken() -> None:
    """The last of it is written, and both sides are closed."""

    class Once(Through):
        taken = 0

        def take(self, data: bytes, now: float, *, caller: bool) -> None:
            super().take(data, now, caller=caller)
            self.taken += 1
            self.over = True

    between = Once()
    async with joined(between=between) as tunnel:
        tunnel.client.send(b"last")
        assert await tunnel.side.reader.read() == b"last"
        tunnel.client.send(b"late")
        assert await tunnel.end() in {TunnelEnd.CLOSED, TunnelEnd.BROKEN}
    assert between.taken == 1
