"""Connections to one upstream, kept and lent one request at a time.

Rules of this file:
- A connection goes back only after a clean end: answer complete, keep-alive, nothing left over, request fully sent.
- The one used last is lent first: it is the least likely to be stale, and the others get to expire.
- A request is repeated at most once, only if it is idempotent, only if it went out on a connection that had been idle
  before, and only if not one byte of an answer came back. A POST is never repeated; it gets a closer look instead.
- Names are resolved anew for each connection. No proxy variables of the environment are read.
"""

import asyncio
import select
import ssl as tls
from collections import deque
from types import TracebackType

from herma.wire.failures import UpstreamError, UpstreamFailure
from herma.wire.limits import PoolLimits
from herma.wire.messages import Fields, ResponseHead, TcpAddress, UnixAddress
from herma.wire.response import UpstreamResponse
from herma.wire.upstream_connection import UpstreamConnection
from herma.wire.writing import request_head

__all__ = ["Pool", "UpstreamRequest"]

# After so long without the loop having looked, ask the kernel before a POST whether the upstream has hung up.
LOOK_AFTER_S = 0.02
# These have no body unless one is given; the others say so when it is empty (RFC 9110 section 8.6).
_BODILESS_METHODS = frozenset({b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"TRACE"})


class Pool:
    """Made inside a running event loop; `close` it there."""

    def __init__(
        self,
        address: TcpAddress | UnixAddress,
        limits: PoolLimits | None = None,
        *,
        ssl: tls.SSLContext | None = None,
    ) -> None:
        self._address = address
        self._limits = limits or PoolLimits()
        self._ssl = ssl
        self._loop = asyncio.get_running_loop()
        self._idle: list[UpstreamConnection] = []
        self._all: set[UpstreamConnection] = set()
        self._connecting = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed = False
        # Connections made so far: the proof that they are reused.
        self.connects = 0
        # When the head of an answer arrived last, by the clock of the loop; 0.0 before the first one.
        self.answered_at = 0.0

    @property
    def open(self) -> int:
        """Connections open or being opened."""
        return len(self._all) + self._connecting

    @property
    def _has_room(self) -> bool:
        return not self._closed and self.open <= self._limits.max_connections

    def request(
        self,
        method: bytes,
        target: bytes,
        headers: Fields,
        body: bytes,
        *,
        idempotent: bool,
        head_timeout_s: float,
        upgrade: bool = False,
    ) -> "UpstreamRequest":
        """Send a request when entered, and give its answer.

        Framing and connection fields are written here; those in `headers` are dropped. With `upgrade` the request asks
        for a WebSocket, and a 101 answer has `upgrade` set. Leaving before the answer was read to its end aborts the connection.

        Raises:
            UpstreamError: on entering; there is no usable answer.
        """
        return UpstreamRequest(
            self,
            method,
            target,
            headers,
            body,
            idempotent=idempotent,
            head_timeout_s=head_timeout_s,
            upgrade=upgrade,
        )

    async def reach(self) -> None:
        """Prove that the upstream accepts connections, without asking it anything.

        A sound idle connection is proof enough, and its time to end is not put off: within the keep-alive time a host that
        went away without a word is found out. Otherwise a new connection is opened, beyond the cap if need be, and kept for the
        next request if the cap allows it.

        Raises:
            UpstreamError: it does not accept, or the pool is closed.
        """
        if self._closed:
            raise _closed()
        connection = self._pop(careful=True)
        if connection is not None:
            self._idle.append(connection)
            return
        connection = await self.connect()
        if connection.usable and self._has_room:
            self._keep(connection)
        else:
            connection.close()

    async def close(self) -> None:
        """Close the idle connections, abort the others, and let nobody in any more."""
        self._closed = True
        for connection in tuple(self._all):
            if connection in self._idle:
                connection.close()
            else:
                connection.abort()
        self._idle.clear()
        self._wake_one()

    def retire(self) -> None:
        """Close the idle connections and let nobody in any more; exchanges under way end in their own time."""
        self._closed = True
        for connection in tuple(self._idle):
            connection.close()
        self._idle.clear()
        self._wake_one()

    async def take(self, *, careful: bool) -> UpstreamConnection:
        """Lend a connection: an idle one, or a new one, or the next that becomes free.

        Raises:
            UpstreamError: none can be had.
        """
        while not self._closed:
            connection = self._pop(careful=careful)
            if connection is not None:
                return connection
            if self.open < self._limits.max_connections:
                return await self.connect()
            await self._wait_for_one()
        self._wake_one()  # whoever else waits is told as well
        raise _closed()

    def answered(self) -> None:
        """The head of an answer has arrived."""
        self.answered_at = self._loop.time()

    def give_back(self, connection: UpstreamConnection) -> None:
        """Take a connection back after its exchange, however that went."""
        if connection.reusable and not self._closed:
            self._keep(connection)
        else:
            connection.retire()

    async def connect(self) -> UpstreamConnection:
        """Open a new connection.

        Raises:
            UpstreamError: it cannot be opened in time.
        """
        self._connecting += 1
        opened = False
        try:
            async with asyncio.timeout(self._limits.connect_timeout_s):
                connection = await self._open()
            opened = True
        except TimeoutError:
            raise UpstreamError(
                UpstreamFailure.CONNECT, "the upstream did not accept in time", sent=False
            ) from None
        except OSError as error:  # a failed handshake is one as well
            message = f"no connection to the upstream: {error}"
            raise UpstreamError(UpstreamFailure.CONNECT, message, sent=False) from error
        finally:
            self._connecting -= 1
            if not opened:
                self._wake_one()
        self.connects += 1
        return connection

    async def _open(self) -> UpstreamConnection:
        def factory() -> UpstreamConnection:
            return UpstreamConnection(self._loop, self._lost)

        match self._address:
            case TcpAddress(host=host, port=port):
                _, connection = await self._loop.create_connection(factory, host, port, ssl=self._ssl)
            case UnixAddress(path=path):
                name = "localhost" if self._ssl is not None else None
                _, connection = await self._loop.create_unix_connection(
                    factory, path, ssl=self._ssl, server_hostname=name
                )
        self._all.add(connection)
        return connection

    def _keep(self, connection: UpstreamConnection) -> None:
        connection.rest(self._limits.keepalive_s)
        self._idle.append(connection)
        self._wake_one()

    def _pop(self, *, careful: bool) -> UpstreamConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and not (careful and self._hung_up(connection)):
                return connection
            connection.close()
        return None

    def _hung_up(self, connection: UpstreamConnection) -> bool:
        """Whether an idle connection has something to read, which can only be EOF or what nobody asked for."""
        if self._loop.time() - connection.idle_since < LOOK_AFTER_S:
            return False
        descriptor = connection.fileno()
        if descriptor < 0:
            return True
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(0))

    async def _wait_for_one(self) -> None:
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(self._limits.acquire_timeout_s):
                await waiter
        except BaseException as error:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            else:
                self._wake_one()  # it was this one's turn: somebody else gets it
            if isinstance(error, TimeoutError):
                message = "all connections to the upstream are in use"
                raise UpstreamError(UpstreamFailure.BUSY, message, sent=False) from None
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _lost(self, connection: UpstreamConnection) -> None:
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._wake_one()


def _closed() -> UpstreamError:
    return UpstreamError(UpstreamFailure.CONNECT, "the upstream pool is closed", sent=False)


class UpstreamRequest:
    """A request about to be sent; an asynchronous context manager that gives the answer."""

    __slots__ = (
        "_body",
        "_connection",
        "_head",
        "_head_only",
        "_head_timeout_s",
        "_idempotent",
        "_pool",
        "_upgrade",
    )

    def __init__(
        self,
        pool: Pool,
        method: bytes,
        target: bytes,
        headers: Fields,
        body: bytes,
        *,
        idempotent: bool,
        head_timeout_s: float,
        upgrade: bool,
    ) -> None:
        framing = b"connection: Upgrade\r\nupgrade: websocket\r\n" if upgrade else b""
        if body or method not in _BODILESS_METHODS:
            framing += b"content-length: %d\r\n" % len(body)
        self._pool = pool
        self._head = request_head(method, target, headers, framing)
        self._body = body
        self._head_only = method == b"HEAD"
        # Whoever calls a POST idempotent is mistaken often enough.
        self._idempotent = idempotent and method != b"POST"
        self._head_timeout_s = head_timeout_s
        self._upgrade = upgrade
        self._connection: UpstreamConnection | None = None

    async def __aenter__(self) -> UpstreamResponse:
        pool = self._pool
        connection = await pool.take(careful=not self._idempotent)
        try:
            head = await self._ask(connection)
        except UpstreamError:
            pool.give_back(connection)
            if not self._stale(connection):
                raise
            connection = await pool.connect()
            try:
                head = await self._ask(connection)
            except BaseException:
                pool.give_back(connection)
                raise
        except BaseException:
            pool.give_back(connection)
            raise
        self._connection = connection
        return UpstreamResponse(connection, head)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._pool.give_back(self._connection)

    async def _ask(self, connection: UpstreamConnection) -> ResponseHead:
        head = await connection.ask(
            self._head,
            self._body,
            head_only=self._head_only,
            upgrade=self._upgrade,
            timeout_s=self._head_timeout_s,
        )
        self._pool.answered()
        return head

    def _stale(self, connection: UpstreamConnection) -> bool:
        failure = connection.failure
        return (
            self._idempotent
            and connection.rested
            and not connection.answered
            and failure is not None
            and failure.kind is UpstreamFailure.CLOSED
        )
