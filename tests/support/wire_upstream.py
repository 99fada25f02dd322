"""An upstream that plays a script, one function for all its connections, and records what it was sent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from herma.wire import Pool, PoolLimits, TcpAddress
from support.wire_client import PATIENCE_S, reset

__all__ = ["OK", "Script", "Scripted", "Side", "playing"]

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(slots=True)
class Side:
    """The upstream's end of one connection."""

    upstream: "Scripted"
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int

    async def request(self) -> bytes:
        """Read one request with its body; IncompleteReadError if the proxy hung up."""
        async with asyncio.timeout(PATIENCE_S):
            raw = await self.reader.readuntil(b"\r\n\r\n")
            for line in raw.split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    raw += await self.reader.readexactly(int(line[15:]))
        self.upstream.requests.append(raw)
        return raw

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def flush(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.writer.drain()

    def fin(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        reset(self.writer)

    async def gone(self) -> bytes:
        """Wait until the proxy has hung up; returns what it still sent."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except OSError:
                return b""


type Script = Callable[[Side], Awaitable[None]]


@dataclass(slots=True)
class Scripted:
    """What happened at the upstream."""

    pool: Pool
    address: tuple[str, int]
    requests: list[bytes] = field(default_factory=list)
    connects: int = 0
    running: int = 0


@asynccontextmanager
async def playing(script: Script, limits: PoolLimits | None = None) -> AsyncIterator[Scripted]:
    """Run the script for every connection, with a pool that leads to it."""
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        side = Side(scripted, reader, writer, scripted.connects)
        scripted.connects += 1
        scripted.running += 1
        try:
            await run(side)
        finally:
            scripted.running -= 1
            writer.transport.abort()

    async def run(side: Side) -> None:
        # The proxy hung up in mid-request: a script that waits for more has seen enough.
        with suppress(asyncio.IncompleteReadError, OSError):
            await script(side)
        if not side.writer.is_closing():
            await side.gone()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()[:2]
    pool = Pool(TcpAddress(*address), limits)
    scripted = Scripted(pool, address)
    try:
        yield scripted
    finally:
        await pool.close()
        async with asyncio.timeout(PATIENCE_S):
            while scripted.running:
                await asyncio.sleep(0.001)
        for writer in writers:
            writer.transport.abort()
        server.close()
