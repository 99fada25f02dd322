"""What the connections of one server share."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from herma.wire.census import Census
from herma.wire.limits import ServerLimits
from herma.wire.messages import Fields

if TYPE_CHECKING:
    from herma.wire.connection import ServerConnection
    from herma.wire.request import ServerRequest

__all__ = ["Handler", "Listener", "WireError"]

type Handler = Callable[[ServerRequest], Awaitable[None]]
# Status, code and message of an answer that no handler gave -> its headers and body.
type WireError = Callable[[int, str, str], tuple[Fields, bytes]]


class Listener:
    """The handler, the limits, and who is connected."""

    def __init__(
        self, handler: Handler, limits: ServerLimits, wire_error: WireError, census: Census | None = None
    ) -> None:
        self.handler = handler
        self.limits = limits
        self.wire_error = wire_error
        self.loop = asyncio.get_running_loop()
        self.census = census or Census(limits.max_connections, limits.max_connections_per_address)
        self.connections: set[ServerConnection] = set()
        self.in_flight = 0
        self.refused_connections = 0
        self.draining = False
        self._quiet = asyncio.Event()

    def joined(self, connection: "ServerConnection") -> None:
        """A connection was admitted."""
        self.connections.add(connection)
        self._quiet.clear()

    def left(self, connection: "ServerConnection", key: str) -> None:
        """A connection is gone."""
        self.connections.discard(connection)
        self.census.leave(key)
        self._look()

    def began(self) -> None:
        """A handler was called."""
        self.in_flight += 1
        self._quiet.clear()

    def ended(self) -> None:
        """A handler has returned."""
        self.in_flight -= 1
        self._look()

    async def quiet(self) -> None:
        """Wait until no connection is left and every handler has returned."""
        if self.connections or self.in_flight:
            await self._quiet.wait()

    def _look(self) -> None:
        if not self.connections and not self.in_flight:
            self._quiet.set()
