"""What has arrived on a connection and was not read when the connection broke.

A write that fails ends the transport at once. The kernel's receive queue outlives the reset (Linux keeps it readable),
and an upstream that refuses a large body has put its answer there just before it closed.
"""

import asyncio
import socket

from herma.wire.resetting import borrowed

__all__ = ["leftovers"]

# A head of the greatest size and far more of a body than any error message has.
MAX_LEFTOVER_BYTES = 256 * 1024
_READ_BYTES = 64 * 1024


def leftovers(transport: asyncio.Transport) -> bytes:
    """Read without waiting what is left; call it in `connection_lost`, where the descriptor is still open.

    Nothing can be concluded from where it ends: after a reset the kernel reports an end where there was none.
    """
    found = b""
    with borrowed(transport) as sock:
        while sock is not None and len(found) < MAX_LEFTOVER_BYTES:
            try:
                data = sock.recv(_READ_BYTES, socket.MSG_DONTWAIT)
            except OSError:
                break
            if not data:
                break
            found += data
    return found
