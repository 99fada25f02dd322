"""Tokens that were used, in a real Redis server."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from herma.config.state import Redis
from herma.config.values import FilePath, Name, Tcp, Unix
from herma.errors import StoreError
from herma.policy.secret import Secret
from herma.store import Once, Spending
from herma.store.spent_redis import SpentRedis
from support.redis_server import RedisServer
from support.wire_tls import make_pair

NOW = 4_000_000_000.0
ONCE = Once("a" * 64, NOW, NOW + 300)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as running:
        yield running


@asynccontextmanager
async def asking(
    server: RedisServer, now: float = NOW, report: Callable[[str], None] = lambda _: None, **over: Any
) -> AsyncIterator[SpentRedis]:
    spent = SpentRedis(Redis(**({"address": Tcp("127.0.0.1", server.port)} | over)), lambda: now, report)
    try:
        yield spent
    finally:
        await spent.close()


async def begun(server: RedisServer, at: float = NOW - 1000, **over: Any) -> None:
    """Let the memory of the server begin."""
    async with asking(server, at, **over) as spent:
        await spent._look()


@pytest.mark.bypass(76)
async def test_of_two_gates_one_is_the_first(server: RedisServer) -> None:
    """However many requests there are at the same time."""
    await begun(server)
    async with asking(server) as one, asking(server, address=Unix(str(server.socket))) as two:
        found = await asyncio.gather(*(spent.spend(ONCE) for spent in (one, two) * 5))
        assert sorted(found) == [Spending.AGAIN] * 9 + [Spending.FIRST]
        other = await asyncio.gather(*(spent.spend(Once("b", NOW, NOW + 300)) for spent in (one, two)))
        assert sorted(other) == [Spending.AGAIN, Spending.FIRST]


@pytest.mark.bypass(76)
async def test_a_server_that_lost_what_it_knew_makes_nothing_usable(server: RedisServer) -> None:
    """It is another memory, and knows nothing from before."""
    await begun(server)
    async with asking(server) as spent:
        assert await spent.spend(ONCE) is Spending.FIRST
        server.stop()
        with pytest.raises(StoreError):
            await spent.spend(ONCE)
        server.start()
        assert await spent.spend(ONCE) is Spending.OUTDATED
        assert await spent.spend(Once("new", NOW + 91, NOW + 300)) is Spending.FIRST


async def test_a_server_that_makes_room_is_refused(tmp_path: Path) -> None:
    """It would forget tokens that are still taken."""
    with RedisServer(tmp_path, {"maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}) as server:
        async with asking(server) as spent:
            with pytest.raises(StoreError, match="noeviction"):
                await spent.spend(ONCE)


async def test_a_full_server_starts_nothing(tmp_path: Path) -> None:
    """What cannot be noted is not done."""
    with RedisServer(tmp_path, {"maxmemory": "1", "maxmemory-policy": "noeviction"}) as server:
        async with asking(server) as spent:
            with pytest.raises(StoreError):
                await spent.spend(ONCE)


async def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    """It takes connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        spent = SpentRedis(Redis(Tcp("127.0.0.1", mute.getsockname()[1])), lambda: NOW)
        async with asyncio.timeout(5):
            with pytest.raises(StoreError, match="cannot be asked"):
                await spent.spend(ONCE)
        await spent.close()


async def test_a_password_is_shown_and_never_told(tmp_path: Path) -> None:
    """A wrong one starts nothing."""
    right, wrong = "fake-password-right", "fake-password-wrong"
    with RedisServer(tmp_path, {"requirepass": right}) as server:
        await begun(server, password=Secret(right.encode()))
        async with asking(server, password=Secret(right.encode())) as spent:
            assert await spent.spend(ONCE) is Spending.FIRST
        for password in (Secret(wrong.encode()), None):
            async with asking(server, password=password) as spent:
                with pytest.raises(StoreError) as caught:
                    await spent.spend(ONCE)
                assert wrong not in str(caught.value) + repr(spent)


async def test_a_server_shows_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    """One of an authority that is not named is not spoken to."""
    pair = make_pair(tmp_path)
    options = {"port": "0", "tls-cert-file": pair.cert, "tls-key-file": pair.key, "tls-auth-clients": "no"}
    with RedisServer(tmp_path, options) as server:
        server.stop()
        server._options["tls-port"] = str(server.port)
        server.start()
        await begun(server, tls=True, ca_file=FilePath(pair.cert))
        async with asking(server, tls=True, ca_file=FilePath(pair.cert)) as spent:
            assert await spent.spend(ONCE) is Spending.FIRST
        async with asking(server, tls=True) as spent:
            with pytest.raises(StoreError):
                await spent.spend(ONCE)


async def test_prefixes_are_apart(server: RedisServer) -> None:
    """Two gates that share a server and nothing else."""
    for name in ("one", "two"):
        await begun(server, prefix=Name(name))
        async with asking(server, prefix=Name(name)) as spent:
            assert await spent.spend(ONCE) is Spending.FIRST


async def test_what_becomes_of_the_server_is_told(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each change."""
    from herma.store import spent_redis

    monkeypatch.setattr(spent_redis, "LOOK_EVERY_S", 0.01)
    said: list[str] = []
    async with asking(server, report=said.append) as spent:
        watching = asyncio.get_running_loop().create_task(spent.run())
        server.stop()
        async with asyncio.timeout(20):
            while not said:
                await asyncio.sleep(0.01)
            server.start()
            while len(said) < 2:
                await asyncio.sleep(0.01)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    assert "cannot be asked" in said[0]
    assert said[1] == ""
