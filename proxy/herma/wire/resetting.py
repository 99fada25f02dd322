"""Closing with RST: the one way to end a connection that nobody mistakes for the end of a message."""

import asyncio
import socket
import struct

__all__ = ["reset_on_close"]

# l_onoff=1, l_linger=0 (socket(7)).
_RESET = struct.pack("ii", 1, 0)


def reset_on_close(transport: asyncio.Transport) -> None:
    """Make the coming close of a TCP transport send RST; on other transports it changes nothing."""
    found = transport.get_extra_info("socket")
    if found is None or found.family == socket.AF_UNIX or found.fileno() < 0:
        return
    # uvloop lends no real socket. Ours borrows the descriptor and lets go of it before anybody could close it.
    real = socket.socket(found.family, found.type, found.proto, fileno=found.fileno())
    try:
        real.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    finally:
        real.detach()
