"""A raw client and a server in the same loop; every wait is bounded."""

import asyncio
import socket
import ssl as tls
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from herma.wire import Census, Fields, Handler, Server, ServerLimits, ServerRequest

__all__ = ["PATIENCE_S", "Client", "Served", "bound", "echo", "reset", "serving", "wire_error"]

# A wait that ends only because of this is a failure, not a measurement.
PATIENCE_S = 10.0


def wire_error(status: int, code: str, message: str) -> tuple[Fields, bytes]:
    """Word a refusal: the code is the body."""
    return [(b"content-type", b"text/plain")], code.encode()


async def echo(request: ServerRequest) -> None:
    """Answer with the body."""
    body = await request.read_body(1 << 24)
    await request.respond(200, [], body)


def bound() -> socket.socket:
    """Return a socket bound to a free loopback port."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    return sock


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST."""
    from herma.wire.resetting import reset_on_close

    reset_on_close(writer.transport)
    writer.transport.abort()


@dataclass(slots=True)
class Client:
    """One connection; sends exactly what it is given."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def until(self, end: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readuntil(end)

    async def exactly(self, count: int) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.readexactly(count)

    async def rest(self) -> bytes:
        """Read to a clean end; a reset raises ConnectionResetError."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.read()

    async def answer(self) -> tuple[bytes, bytes]:
        """Read one answer with a content length: its status line and its body."""
        head = await self.until(b"\r\n\r\n")
        length = next(
            int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
        )
        return head.partition(b"\r\n")[0], await self.exactly(length)

    async def gone(self) -> None:
        """Wait until the other side has closed, cleanly or not."""
        with suppress(OSError):
            await self.rest()

    def close(self) -> None:
        self.writer.transport.abort()


@dataclass(slots=True)
class Served:
    """A running server."""

    server: Server
    address: tuple[str, int]
    client_ssl: tls.SSLContext | None = None
    clients: list[Client] = field(default_factory=list)

    async def client(self) -> Client:
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(*self.address, ssl=self.client_ssl, limit=1 << 25)
        client = Client(reader, writer)
        self.clients.append(client)
        return client

    async def talk(self, data: bytes) -> bytes:
        """Send on a new connection, read to the end."""
        client = await self.client()
        client.send(data)
        return await client.rest()


@asynccontextmanager
async def serving(
    handler: Handler = echo,
    limits: ServerLimits | None = None,
    *,
    ssl: tls.SSLContext | None = None,
    client_ssl: tls.SSLContext | None = None,
    census: Census | None = None,
) -> AsyncIterator[Served]:
    """Serve on a free port for as long as the block lasts."""
    server = Server(handler, limits or ServerLimits(), wire_error, census)
    sock = bound()
    await server.serve(sock, ssl)
    served = Served(server, sock.getsockname(), client_ssl)
    try:
        yield served
    finally:
        for client in served.clients:
            client.close()
        await server.drain(0.05)
        assert server.connections == 0
        assert server.in_flight == 0
