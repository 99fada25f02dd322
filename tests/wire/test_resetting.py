"""RST on demand."""

import asyncio
import socket

import pytest

from herma.wire.resetting import reset_on_close


async def test_a_close_becomes_a_reset() -> None:
    """And what was sent before it still arrives."""
    accepted: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.put_nowait(writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    theirs = await accepted.get()
    theirs.write(b"last")
    assert await reader.readexactly(4) == b"last"
    reset_on_close(theirs.transport)
    theirs.close()
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.transport.abort()
    server.close()


class Odd:
    """A transport with this socket."""

    def __init__(self, sock: object) -> None:
        self.sock = sock

    def get_extra_info(self, name: str) -> object:
        return self.sock


def test_other_transports_are_left_alone() -> None:
    """No socket, a unix socket, a closed one: nothing to do, nothing raised."""
    closed = socket.socket()
    closed.close()
    one, other = socket.socketpair()
    for sock in (None, one, closed):
        reset_on_close(Odd(sock))  # type: ignore[arg-type] # the part of a transport that is looked at
    one.close()
    assert other.recv(1) == b""
    other.close()
