"""Starting, counting, stopping."""

import asyncio
import socket
from pathlib import Path

from herma.wire import Census, Server, ServerLimits, ServerRequest
from support.wire_client import PATIENCE_S, bound, echo, serving, wire_error

GET = b"GET / HTTP/1.1\r\n\r\n"


async def test_connections_are_capped_in_all() -> None:
    """One too many is told so and closed; a place that becomes free can be taken."""
    async with serving(limits=ServerLimits(max_connections=2)) as served:
        first, second = await served.client(), await served.client()
        first.send(GET)
        second.send(GET)
        await first.answer()
        await second.answer()
        assert (await served.talk(b"")).startswith(b"HTTP/1.1 503 ")
        assert served.server.refused_connections == 1
        first.close()
        async with asyncio.timeout(PATIENCE_S):
            while served.server.connections == 2:
                await asyncio.sleep(0.001)
        third = await served.client()
        third.send(GET)
        await third.answer()


async def test_connections_are_capped_per_address() -> None:
    """One address does not take every place."""
    async with serving(limits=ServerLimits(max_connections_per_address=1)) as served:
        client = await served.client()
        client.send(GET)
        await client.answer()
        assert (await served.talk(b"")).startswith(b"HTTP/1.1 503 ")


async def test_requests_in_flight_are_counted() -> None:
    """From the head to the handler's return."""
    go_on = asyncio.Event()

    async def wait(request: ServerRequest) -> None:
        await go_on.wait()
        await request.respond(200, [], b"")

    async with serving(wait) as served:
        client = await served.client()
        client.send(GET)
        async with asyncio.timeout(PATIENCE_S):
            while not served.server.in_flight:
                await asyncio.sleep(0.001)
        go_on.set()
        await client.answer()
        assert served.server.in_flight == 0


async def test_draining_lets_requests_end_and_closes_the_rest() -> None:
    """Idle connections close at once, a request in flight gets its answer and `Connection: close`."""
    go_on = asyncio.Event()
    started = asyncio.Event()

    async def wait(request: ServerRequest) -> None:
        started.set()
        await go_on.wait()
        await request.respond(200, [], b"done")

    async with serving(wait) as served:
        idle, busy = await served.client(), await served.client()
        busy.send(GET)
        async with asyncio.timeout(PATIENCE_S):
            await started.wait()
        loop = asyncio.get_running_loop()
        draining = loop.create_task(served.server.drain(PATIENCE_S))
        assert await idle.rest() == b""
        go_on.set()
        assert b"connection: close" in await busy.rest()
        await draining
        assert served.server.connections == 0


async def test_draining_closes_after_a_stream_that_had_promised_more() -> None:
    """An answer begun before the drain ends whole; the connection closes after it all the same."""
    go_on = asyncio.Event()
    started = asyncio.Event()

    async def stream(request: ServerRequest) -> None:
        await request.start(200, [])
        started.set()
        await go_on.wait()
        await request.send(b"last")
        await request.finish()

    async with serving(stream) as served:
        client = await served.client()
        client.send(GET)
        async with asyncio.timeout(PATIENCE_S):
            await started.wait()
        draining = asyncio.get_running_loop().create_task(served.server.drain(PATIENCE_S))
        await asyncio.sleep(0)
        go_on.set()
        assert (await client.rest()).endswith(b"last\r\n0\r\n\r\n")
        await draining


async def test_draining_aborts_what_does_not_end() -> None:
    """After the timeout handlers are cancelled and connections reset, tunnels included."""
    cancelled = asyncio.Event()
    both = asyncio.Semaphore(0)

    async def stay(request: ServerRequest) -> None:
        if request.upgrade:
            request.switch([])
        both.release()
        try:
            await asyncio.sleep(PATIENCE_S * 2)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with serving(stay) as served:
        stuck, tunnel = await served.client(), await served.client()
        stuck.send(GET)
        tunnel.send(b"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
        async with asyncio.timeout(PATIENCE_S):
            await both.acquire()
            await both.acquire()
        await served.server.drain(0.01)
        async with asyncio.timeout(PATIENCE_S):
            await cancelled.wait()
        await stuck.gone()
        await tunnel.gone()
        async with asyncio.timeout(PATIENCE_S):
            while served.server.in_flight:
                await asyncio.sleep(0.001)


async def test_a_draining_server_takes_nobody_in() -> None:
    """Whoever is in the backlog when the drain begins is turned away."""
    async with serving() as served:
        client = await served.client()
        client.send(GET)
        await client.answer()
        served.server._listener.draining = True
        assert (await served.talk(b"")).startswith(b"HTTP/1.1 503 ")


async def test_serving_on_a_unix_socket(tmp_path: Path) -> None:
    """Peers there have no address and no cap per address."""
    peers = []

    async def who(request: ServerRequest) -> None:
        peers.append(request.peer)
        await echo(request)

    server = Server(who, ServerLimits(max_connections_per_address=1), wire_error)
    path = str(tmp_path / "s.sock")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    await server.serve(sock)
    for _ in range(2):
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(GET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        writer.transport.abort()
    await server.drain(1)
    assert (peers[0].address, peers[0].unix, peers[0].local) == ("", True, path)


async def test_one_server_serves_several_sockets() -> None:
    """Limits and counts are shared."""
    async with serving() as served:
        other = bound()
        await served.server.serve(other)
        reader, writer = await asyncio.open_connection(*other.getsockname())
        writer.write(GET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        client = await served.client()
        client.send(GET)
        await client.answer()
        assert served.server.connections == 2
        writer.transport.abort()


async def test_caps_hold_over_all_servers_that_share_a_census() -> None:
    """A caller gains nothing by coming through two doors; each server counts its own connections."""
    limits = ServerLimits(max_connections_per_address=2)
    census = Census(limits.max_connections, limits.max_connections_per_address)
    async with serving(limits=limits, census=census) as one, serving(limits=limits, census=census) as other:
        for served in (one, other):
            client = await served.client()
            client.send(GET)
            await client.answer()
        assert (one.server.connections, other.server.connections, census.connections) == (1, 1, 2)
        assert (await other.talk(b"")).startswith(b"HTTP/1.1 503 ")
    assert census.connections == 0


async def test_changed_caps_apply_to_new_connections() -> None:
    """Whoever is in stays in."""
    async with serving() as served:
        client = await served.client()
        client.send(GET)
        await client.answer()
        served.server.apply(ServerLimits(max_connections=1))
        assert (await served.talk(b"")).startswith(b"HTTP/1.1 503 ")
        client.send(GET)
        await client.answer()
        served.server.apply(ServerLimits(max_connections=2))
        second = await served.client()
        second.send(GET)
        await second.answer()


async def test_changed_limits_apply_to_the_next_head() -> None:
    """Of connections that are open as well."""
    async with serving() as served:
        client = await served.client()
        client.send(b"GET / HTTP/1.1\r\nA: b\r\nC: d\r\n\r\n")
        assert (await client.answer())[0] == b"HTTP/1.1 200 OK"
        served.server.apply(ServerLimits(max_headers=1))
        client.send(b"GET / HTTP/1.1\r\nA: b\r\nC: d\r\n\r\n")
        assert (await client.answer())[0].startswith(b"HTTP/1.1 431 ")


async def test_changed_deadlines_apply_to_what_begins_after() -> None:
    """A connection that was made with a long patience is idle with a short one after its next request."""
    async with serving() as served:
        client = await served.client()
        served.server.apply(ServerLimits(idle_timeout_s=0.01, head_timeout_s=0.01))
        client.send(GET)
        assert (await client.rest()).startswith(b"HTTP/1.1 200 ")
        assert (await served.talk(b"GET / HTTP/1.1\r\n")).startswith(b"HTTP/1.1 408 ")
