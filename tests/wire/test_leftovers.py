"""What the kernel still holds of a connection that broke."""

import asyncio
import socket
from typing import cast, override

from herma.wire.leftovers import MAX_LEFTOVER_BYTES, leftovers
from support.wire_client import PATIENCE_S, bound


class Deaf(asyncio.Protocol):
    """Reads nothing before it is lost."""

    def __init__(self) -> None:
        self.lost = asyncio.get_running_loop().create_future()
        self.found = b""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.pause_reading()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.found = leftovers(self.transport)
        self.lost.set_result(exc)


async def _left_by(data: bytes) -> Deaf:
    """Connect, be sent `data` and a reset, and break by writing."""
    loop = asyncio.get_running_loop()
    with bound() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        listening.listen()
        _, deaf = await loop.create_connection(Deaf, *listening.getsockname())
        other, _ = listening.accept()
        deaf.transport.write(b"unread by the other side")
        with other:
            other.settimeout(PATIENCE_S)
            await loop.run_in_executor(None, other.recv, 1)
            other.setblocking(False)
            other.send(data)
        while not deaf.transport.is_closing():
            deaf.transport.write(b"x")
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_S):
            await deaf.lost
    return deaf


async def test_what_came_before_a_reset_is_found() -> None:
    """A failed write took the transport; what the other side said before is still there."""
    deaf = await _left_by(b"last words")
    assert isinstance(deaf.lost.result(), OSError)
    assert deaf.found == b"last words"


async def test_it_is_bounded() -> None:
    """More than any error message is not read."""
    deaf = await _left_by(b"x" * (MAX_LEFTOVER_BYTES * 2))
    assert 0 < len(deaf.found) <= MAX_LEFTOVER_BYTES + 64 * 1024


async def test_nothing_is_nothing() -> None:
    """Without a word, and without a descriptor, there is nothing left."""
    deaf = await _left_by(b"")
    assert deaf.found == b""
    await asyncio.sleep(0)
    assert leftovers(deaf.transport) == b""


async def test_a_connection_that_is_open_is_not_waited_for() -> None:
    """Nobody has said anything yet: that is an answer too."""
    loop = asyncio.get_running_loop()
    with bound() as listening:
        listening.listen()
        transport, deaf = await loop.create_connection(Deaf, *listening.getsockname())
        assert leftovers(transport) == b""
        transport.abort()
        async with asyncio.timeout(PATIENCE_S):
            await deaf.lost
