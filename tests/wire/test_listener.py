"""What the connections of one server share."""

import asyncio
from typing import cast

from herma.wire import ServerLimits
from herma.wire.connection import ServerConnection
from herma.wire.listener import Listener
from support.wire_client import echo, wire_error


async def test_quiet_is_when_nobody_is_connected_and_nothing_runs() -> None:
    """A handler that cleans up after its connection is waited for."""
    listener = Listener(echo, ServerLimits(), wire_error)
    await listener.quiet()
    connection = cast("ServerConnection", object())
    key = listener.census.admit("192.0.2.1")
    assert key is not None
    listener.joined(connection)
    listener.began()
    waiting = asyncio.get_running_loop().create_task(listener.quiet())
    listener.left(connection, key)
    await asyncio.sleep(0)
    assert not waiting.done()
    listener.ended()
    await waiting
    assert (listener.in_flight, listener.connections, listener.census.connections) == (0, set(), 0)
