"""One connection to the upstream: a request goes out, one answer comes back, and nothing else is ever taken for one."""

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from typing import cast, override

from herma.wire.failures import Disconnected, FramingError, UpstreamError, UpstreamFailure
from herma.wire.framing import Decoder, FixedDecoder, UntilCloseDecoder, frame_response
from herma.wire.heads import MAX_RESPONSE_HEAD_BYTES, parse_response_head
from herma.wire.leftovers import leftovers
from herma.wire.messages import ResponseHead
from herma.wire.outlet import Outlet
from herma.wire.tls import said_goodbye
from herma.wire.tunnel import Tunnel
from herma.wire.watch import Watch

__all__ = ["UpstreamConnection"]

# 100, 102, 103: a server sends one or two. They are skipped, so an endless row of them must end somewhere.
MAX_INTERIM = 16
# Body bytes held for a reader that does not keep up; then the upstream is left to wait.
WATERMARK_BYTES = 256 * 1024
# A body goes out in pieces, so that an answer that comes early is seen between two of them.
PIECE_BYTES = 256 * 1024
# Head and body up to this size leave in one write.
JOIN_BYTES = 64 * 1024
_NO_BODY = FixedDecoder(0)


class _Phase(Enum):
    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    COMPLETE = auto()
    TUNNEL = auto()
    CLOSED = auto()


class UpstreamConnection(asyncio.Protocol):
    """The protocol object of one upstream connection. `gone` is called once, when it is lost."""

    outlet: Outlet

    def __init__(self, loop: asyncio.AbstractEventLoop, gone: Callable[["UpstreamConnection"], None]) -> None:
        self._loop = loop
        self._gone = gone
        self._phase = _Phase.IDLE
        self._watch = Watch(loop, self._expired)
        self._waiter: asyncio.Future[None] | None = None
        self._buffer = b""
        self._eof = False
        self._lost = False
        self._reading = True
        self._reset_exchange()
        # Whether it was ever idle: the failure of one that never was is not a matter of staleness.
        self.rested = False
        self.idle_since = 0.0

    def _reset_exchange(self) -> None:
        self._decoder: Decoder = _NO_BODY
        self._parts: list[bytes] = []
        self._held = 0
        self._reading = True
        self._interim = 0
        self._keep_alive = False
        self._head_only = False
        self._upgrade_asked = False
        self._extra = False
        self._uploading = False
        self._unsent = False
        self.answered = False
        self.failure: UpstreamError | None = None
        self.head: ResponseHead | None = None
        self.tunnel: Tunnel | None = None

    # --- what the pool asks -------------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether a request can be sent."""
        return self._phase is _Phase.IDLE and not self._eof and not self._transport.is_closing()

    @property
    def complete(self) -> bool:
        """Whether the whole answer has arrived."""
        return self._phase is _Phase.COMPLETE

    @property
    def reusable(self) -> bool:
        """Whether another request may follow the complete answer."""
        return (
            self._phase is _Phase.COMPLETE
            and self._keep_alive
            and not self._extra
            and not self._unsent
            and not self._eof
            and not self._transport.is_closing()
            and not self._transport.get_write_buffer_size()
        )

    def fileno(self) -> int:
        """Return the descriptor, to look whether the upstream has hung up."""
        found = self._transport.get_extra_info("socket")
        return -1 if found is None else int(found.fileno())

    def rest(self, keepalive_s: float) -> None:
        """Become idle, for a bounded time."""
        self._phase = _Phase.IDLE
        if not self._reading:
            self._transport.resume_reading()
        self._reset_exchange()
        self.rested = True
        self.idle_since = self._loop.time()
        self._watch.set(keepalive_s)

    def retire(self) -> None:
        """Use it no more: end politely if the exchange is over, otherwise so that the upstream notices at once."""
        if (
            self._phase is _Phase.COMPLETE
            and not self._unsent
            and not self._transport.get_write_buffer_size()
        ):
            self.close()
        else:
            self.abort()

    def close(self) -> None:
        """End politely, with nothing in flight."""
        self._watch.stop()
        self._phase = _Phase.CLOSED
        self._transport.close()

    def abort(self) -> None:
        """Drop the connection; the upstream learns at once that nobody listens any more."""
        if self._phase is _Phase.CLOSED:
            return
        if self._phase is not _Phase.TUNNEL:
            self._phase = _Phase.CLOSED
        self.outlet.reset()
        if self.failure is None:
            self.failure = UpstreamError(UpstreamFailure.CLOSED, "the exchange was aborted", sent=True)
        self._wake()

    # --- an exchange --------------------------------------------------------------------------------------------

    async def ask(
        self, head: bytes, body: bytes, *, head_only: bool, upgrade: bool, timeout_s: float
    ) -> ResponseHead:
        """Send a request and wait for the head of its answer, which may come before the request is out.

        Raises:
            UpstreamError: there is none.
        """
        self._phase = _Phase.HEAD
        self._head_only = head_only
        self._upgrade_asked = upgrade
        self._watch.set(timeout_s)
        try:
            if len(body) <= JOIN_BYTES:
                self.outlet.write(head + body)
            else:
                await self._send_in_pieces(head, body, timeout_s)
        except Disconnected:
            if not self._uploading or self._lost:
                self._fail(UpstreamFailure.CLOSED, "the upstream closed the connection")
            # Otherwise `connection_lost` is about to come: it looks for an answer first.
        while self.head is None:
            if self.failure is not None:
                raise self.failure
            await self._wait()
        self._watch.clear()
        return self.head

    async def _send_in_pieces(self, head: bytes, body: bytes, timeout_s: float) -> None:
        self._uploading = not self._upgrade_asked
        self.outlet.write(head)
        view = memoryview(body)
        for start in range(0, len(body), PIECE_BYTES):
            if start:
                # Nobody is paused as long as the kernel takes everything: let the loop look for an answer.
                await asyncio.sleep(0)
            while self.outlet.paused and self.head is None and self.failure is None:
                await self._wait()
            if self.head is not None or self.failure is not None:
                # The upstream still expects the rest of this body: the next request would be read as that.
                self._unsent = True
                return
            self._watch.set(timeout_s)
            self.outlet.write(view[start : start + PIECE_BYTES])

    async def piece(self, timeout_s: float) -> bytes:
        """Return what has arrived of the body since the last call, waiting for some; empty at the end.

        Raises:
            UpstreamError: the body breaks off.
        """
        while not self._parts:
            if self._phase is _Phase.COMPLETE:
                return b""
            if self.failure is not None:
                raise self.failure
            self._watch.set(timeout_s)
            await self._wait()
        self._watch.clear()
        parts, self._parts = self._parts, []
        self._held = 0
        if not self._reading:
            self._reading = True
            self._transport.resume_reading()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # --- what the transport calls -------------------------------------------------------------------------------

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # A stalled upload is covered by the deadline of the answer's head.
        self.outlet = Outlet(self._transport, self._loop, None, lambda _told: None)

    @override
    def data_received(self, data: bytes) -> None:
        match self._phase:
            case _Phase.BODY:
                self._take(data)
            case _Phase.HEAD:
                self.answered = True
                self._read_head(data)
            case _Phase.COMPLETE:
                # Bytes after the answer belong to no request: the connection is not used again.
                self._extra = True
            case _:
                self.abort()

    @override
    def eof_received(self) -> bool:
        self._eof = True
        if (
            self._phase is _Phase.BODY
            and isinstance(self._decoder, UntilCloseDecoder)
            and said_goodbye(self._transport)
        ):
            self._phase = _Phase.COMPLETE
            self._wake()
        else:
            self._break_off()
        return False

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._watch.stop()
        self._lost = self._eof = True
        self.outlet.lost()
        if exc is not None and self._uploading and not self.outlet.tls:
            self._salvage()
        self._break_off()
        if self._phase is not _Phase.COMPLETE:
            self._phase = _Phase.CLOSED
        self._gone(self)

    @override
    def pause_writing(self) -> None:
        self.outlet.pause()

    @override
    def resume_writing(self) -> None:
        self.outlet.resume()
        self._wake()

    # --- reading ------------------------------------------------------------------------------------------------

    def _read_head(self, data: bytes) -> None:
        data = self._buffer + data if self._buffer else data
        self._buffer = b""
        try:
            while self._phase is _Phase.HEAD and data:
                end = data.find(b"\r\n\r\n")
                if end < 0 or end > MAX_RESPONSE_HEAD_BYTES:
                    self._hold_head(data)
                    return
                raw = data[: end + 4]
                data = data[end + 4 :]
                self._accept(raw, data)
        except FramingError as error:
            self._fail(UpstreamFailure.PROTOCOL, str(error))

    def _hold_head(self, data: bytes) -> None:
        if len(data) > MAX_RESPONSE_HEAD_BYTES:
            self._fail(UpstreamFailure.TOO_LARGE, "the upstream's response head is too large")
        elif data.count(b"\n") != data.count(b"\r\n"):
            raise FramingError("the upstream's response head is malformed")
        else:
            self._buffer = data

    def _accept(self, raw: bytes, rest: bytes) -> None:
        head = parse_response_head(raw)
        if head.status == 101:
            self._switch(head, rest)
        elif head.status < 200:
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise FramingError("the upstream sends interim answers only")
        else:
            frame = frame_response(
                head, version="1.1" if raw[7:8] == b"1" else "1.0", head_only=self._head_only
            )
            self._decoder = frame.decoder
            self._keep_alive = frame.keep_alive
            self.head = head
            self._phase = _Phase.BODY
            self._take(rest)
            self._wake()

    def _switch(self, head: ResponseHead, rest: bytes) -> None:
        if not self._upgrade_asked:
            self._fail(UpstreamFailure.UNASKED_UPGRADE, "the upstream switched protocols without being asked")
            return
        self._phase = _Phase.TUNNEL
        self._watch.stop()
        self.head = head
        self.tunnel = Tunnel(self._transport, self._loop, rest, self._tunnel_closed)
        self._wake()

    def _take(self, data: bytes) -> None:
        if data:
            try:
                self._held += self._decoder.feed(data, self._parts)
            except FramingError as error:
                self._fail(UpstreamFailure.PROTOCOL, str(error))
                return
            if self._held > WATERMARK_BYTES and self._reading:
                self._reading = False
                self._transport.pause_reading()
        if self._decoder.done:
            self._phase = _Phase.COMPLETE
            self._extra = bool(self._decoder.rest)
        self._wake()

    # --- ends ---------------------------------------------------------------------------------------------------

    def _salvage(self) -> None:
        """Look for an answer that the reset of an upload left unread; only a whole one counts."""
        if self._phase not in {_Phase.HEAD, _Phase.BODY}:
            return
        headless = self.head is None
        data = leftovers(self._transport)
        if data:
            self.data_received(data)
        if headless and not self.complete:
            self.head = None

    def _break_off(self) -> None:
        """Nothing more will come: an answer that is not complete never will be."""
        if self._phase in {_Phase.HEAD, _Phase.BODY}:
            self._fail(
                UpstreamFailure.CLOSED, "the upstream closed the connection before the end of its answer"
            )

    def _fail(self, kind: UpstreamFailure, message: str) -> None:
        if self.failure is None:
            self.failure = UpstreamError(kind, message, sent=True)
        self.abort()

    def _expired(self) -> None:
        if self._phase is _Phase.IDLE:
            self.close()
        else:
            self._fail(UpstreamFailure.TIMEOUT, "the upstream did not answer in time")

    def _tunnel_closed(self) -> None:
        self._phase = _Phase.CLOSED
        self.outlet.lost()
        self._gone(self)
