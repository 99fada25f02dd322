"""Closing with RST: the one way to end a connection that nobody mistakes for the end of a message."""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["borrowed", "reset_on_close"]

# l_onoff=1, l_linger=0 (socket(7)).
_RESET = struct.pack("ii", 1, 0)


@contextmanager
def borrowed(transport: asyncio.Transport) -> Iterator[socket.socket | None]:
    """Lend the real socket of a transport, None if it is closed: uvloop itself shows no real one."""
    found = transport.get_extra_info("socket")
    if found is None or found.fileno() < 0:
        yield None
        return
    # Ours borrows the descriptor and lets go of it before anybody could close it.
    real = socket.socket(found.family, found.type, found.proto, fileno=found.fileno())
    try:
        yield real
    finally:
        real.detach()


def reset_on_close(transport: asyncio.Transport) -> None:
    """Make the coming close of a TCP transport send RST; on other transports it changes nothing."""
    with borrowed(transport) as sock:
        if sock is not None and sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
