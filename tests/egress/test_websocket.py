"""Messages of WebSockets, through the running gate."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from herma.egress.line import Failed, Note, Sent
from support.egress_process import Child, child, ready
from support.gate import free_port
from support.redactor import GITHUB

# They share a process, beside others.
PATIENCE_S = 120
MIB = 1024 * 1024


@dataclass
class Socket:
    """A server that remembers what it is told, and how it ended."""

    port: int = 0
    seen: list[str | bytes] = field(default_factory=list)
    reasons: list[str | None] = field(default_factory=list)

    async def hear(self, connection: ServerConnection) -> None:
        """Answer each message."""
        try:
            async for message in connection:
                self.seen.append(message)
                await connection.send("heard")
        except ConnectionClosed:
            pass
        self.reasons.append(connection.close_reason)


@dataclass(frozen=True, slots=True)
class Way:
    """A gate, and the ports of those who are behind it: a stranger and a platform. Each test serves there anew."""

    gate: Child
    stranger: int
    platform: int

    async def told(self) -> list[str]:
        """Give the codes of the messages that were masked or refused since the last time, and no hook may have failed."""
        return await asyncio.to_thread(self._told)

    def _told(self) -> list[str]:
        # What is no order is answered behind all that was said before.
        self.gate.order(b"say\n")
        assert self.gate.hear(Note, "egress.order") is not None
        said = self.gate.said.copy()
        self.gate.said.clear()
        assert not [one for one in said if isinstance(one, Failed)]
        return [one.code for one in said if isinstance(one, Sent) and one.method == "MESSAGE"]


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """The gate before them."""
    stranger, platform = free_port(), free_port()
    section = {
        "near": [f"127.0.0.1:{stranger}", f"127.0.0.1:{platform}"],
        "platforms": {"matrix": {"hosts": [f"127.0.0.1:{platform}"]}},
    }
    with child(tmp_path_factory.mktemp("way"), section) as started:
        yield Way(ready(started), stranger, platform)
        assert started.end() == 0


@asynccontextmanager
async def listening(port: int = 0) -> AsyncIterator[Socket]:
    """Serve on loopback."""
    found = Socket()
    async with serve(found.hear, "127.0.0.1", port, max_size=None) as server:
        found.port = next(iter(server.sockets)).getsockname()[1]
        yield found


def connected(started: Child, socket: Socket, **given: Any) -> connect:
    """Connect through the gate."""
    proxy = f"http://127.0.0.1:{started.port}"
    return connect(f"ws://127.0.0.1:{socket.port}/", proxy=proxy, max_size=None, **given)


@pytest.mark.parametrize("compression", ["deflate", None])
@pytest.mark.parametrize("platform", [True, False])
async def test_a_message_is_masked_for_people_and_dropped_for_strangers(
    way: Way, *, platform: bool, compression: str | None
) -> None:
    """What is innocent arrives as it is, packed or not."""
    port = way.platform if platform else way.stranger
    async with asyncio.timeout(PATIENCE_S), listening(port) as server:
        async with connected(way.gate, server, compression=compression) as agent:
            await agent.send("hello")
            assert await agent.recv() == "heard"
            await agent.send(f'{{"text": "{GITHUB}"}}')
            if platform:
                assert await agent.recv() == "heard"
            else:
                with pytest.raises(ConnectionClosed):
                    await agent.recv()
        assert await way.told() == ["" if platform else "herma.egress.secret"]
    assert server.seen[0] == "hello"
    assert GITHUB not in str(server.seen)
    assert len(server.seen) == (2 if platform else 1)
    assert not platform or str(server.seen[1]).startswith('{"text": "[')


async def _in_pieces(agent: ClientConnection) -> None:
    await agent.send(iter([GITHUB[:10], GITHUB[10:20], GITHUB[20:]]))


async def _in_bytes(agent: ClientConnection) -> None:
    await agent.send(GITHUB.encode())


async def _again_and_again(agent: ClientConnection) -> None:
    for _ in range(5):
        await agent.send(GITHUB)
    await agent.send("innocent")


async def _in_a_ping(agent: ClientConnection) -> None:
    await agent.ping(GITHUB)


async def _in_a_pong(agent: ClientConnection) -> None:
    await agent.pong(GITHUB)


async def _in_a_close(agent: ClientConnection) -> None:
    await agent.close(1000, GITHUB)


type Act = Callable[[ClientConnection], Awaitable[None]]


@pytest.mark.parametrize("compression", ["deflate", None])
async def test_no_form_of_a_message_carries_a_secret(way: Way, compression: str | None) -> None:
    """Split over fragments, as bytes, several in a row, or in what answers nothing: nothing follows it, either."""
    acts: list[Act] = [_in_pieces, _in_bytes, _again_and_again, _in_a_ping, _in_a_pong, _in_a_close]
    async with asyncio.timeout(PATIENCE_S), listening(way.stranger) as server:
        for act in acts:
            async with connected(way.gate, server, compression=compression) as agent:
                try:
                    await act(agent)
                    await agent.send("innocent")
                    assert await agent.recv() != "heard"
                except ConnectionClosed:
                    pass
        told = await way.told()
    assert server.seen == []
    assert GITHUB not in str(server.reasons)
    assert told == ["herma.egress.secret"] * len(acts)


async def test_fragments_and_echoes_arrive(way: Way) -> None:
    """A message in pieces is one; a ping is answered, and a close says why."""
    async with (
        asyncio.timeout(PATIENCE_S),
        listening(way.stranger) as server,
        connected(way.gate, server) as agent,
    ):
        await agent.send(iter(["h\u00e9l", "", "lo"]))
        assert await agent.recv() == "heard"
        await (await agent.ping(b"12"))
        await agent.close(1000, "goodbye")
    assert server.seen == ["h\u00e9llo"]
    assert server.reasons == ["goodbye"]


@pytest.mark.parametrize("size", [40 * MIB, 200 * MIB])
async def test_few_packed_bytes_are_many(way: Way, size: int) -> None:
    """A message has the bound of a body, counted when it is unpacked; in one packet or in several."""
    async with (
        asyncio.timeout(PATIENCE_S),
        listening(way.stranger) as server,
        connected(way.gate, server) as agent,
    ):
        await agent.send(b"\0" * size)
        with pytest.raises(ConnectionClosed):
            await agent.recv()
    assert server.seen == []


async def test_messages_share_the_room_of_bodies(tmp_path: Path) -> None:
    """A message that never ends is held no longer than there is room for it."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"a" * 65536

    async with asyncio.timeout(PATIENCE_S), listening() as server:
        section = {"near": [f"127.0.0.1:{server.port}"], "max_buffered_bytes": MIB}
        with child(tmp_path, section) as started:
            await asyncio.to_thread(ready, started)
            async with connected(started, server) as agent:
                try:
                    await agent.send(pieces())
                    assert await agent.recv() != "heard"
                except ConnectionClosed:
                    pass
            assert await asyncio.to_thread(started.end) == 0
            assert await asyncio.to_thread(started.hear, Failed) is None
    assert server.seen == []
