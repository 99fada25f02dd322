"""The HTTP/1.1 server: what it is given, and how it starts and stops."""

import asyncio
import socket
import ssl as tls
from contextlib import suppress

from herma.wire.census import Census
from herma.wire.connection import ServerConnection
from herma.wire.limits import ServerLimits
from herma.wire.listener import Handler, Listener, WireError
from herma.wire.request import ServerRequest

__all__ = ["Handler", "Server", "ServerLimits", "ServerRequest", "WireError"]

# Connections the kernel may hold while we are busy; more than any burst of clients seen, below somaxconn (4096).
BACKLOG = 2048
# Cancelled handlers return what they hold (a slot, a lease) within this time or not at all.
AFTERMATH_S = 5.0


class Server:
    """Serves any number of sockets with one handler. Made inside a running event loop.

    `handler` is called once for each request; `wire_error` words the answers that are given without it. Servers that are
    given the same `census` share its caps.
    """

    def __init__(
        self, handler: Handler, limits: ServerLimits, wire_error: WireError, census: Census | None = None
    ) -> None:
        self._listener = Listener(handler, limits, wire_error, census)
        self._accepting: list[asyncio.Server] = []

    @property
    def connections(self) -> int:
        """Open connections, tunnels included."""
        return len(self._listener.connections)

    @property
    def in_flight(self) -> int:
        """Requests whose handler has not returned."""
        return self._listener.in_flight

    @property
    def refused_connections(self) -> int:
        """Connections turned away because of a cap, so far."""
        return self._listener.refused_connections

    def apply(self, limits: ServerLimits) -> None:
        """Change the limits: caps for new connections, bounds for new heads, deadlines for what begins from now on.

        A connection keeps its deadline for slow readers, and a socket with TLS that for handshakes.
        """
        self._listener.limits = limits
        self._listener.census.cap(limits.max_connections, limits.max_connections_per_address)

    def protocol_factory(self) -> ServerConnection:
        """Make the protocol of one accepted connection."""
        return ServerConnection(self._listener)

    async def serve(self, sock: socket.socket, ssl: tls.SSLContext | None = None) -> None:
        """Begin to accept on a bound TCP or unix socket; returns at once.

        With TLS a connection is admitted, and counts, when its handshake is over: before that the loop hides its address. Until
        then the head's deadline bounds each of them, and only the limit of open files how many they are.
        """
        loop = asyncio.get_running_loop()
        patience = self._listener.limits.head_timeout_s if ssl is not None else None
        if sock.family == socket.AF_UNIX:
            server = await loop.create_unix_server(
                self.protocol_factory, sock=sock, ssl=ssl, backlog=BACKLOG, ssl_handshake_timeout=patience
            )
        else:
            server = await loop.create_server(
                self.protocol_factory, sock=sock, ssl=ssl, backlog=BACKLOG, ssl_handshake_timeout=patience
            )
        self._accepting.append(server)

    async def drain(self, timeout_s: float) -> None:
        """Accept nothing more, let the requests in flight end, and abort what is left after `timeout_s`.

        Returns when the aborted handlers have cleaned up behind them, or after `AFTERMATH_S`.
        """
        listener = self._listener
        listener.draining = True
        for server in self._accepting:
            server.close()
        for connection in tuple(listener.connections):
            connection.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await listener.quiet()
        for connection in tuple(listener.connections):
            connection.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(AFTERMATH_S):
                await listener.quiet()
