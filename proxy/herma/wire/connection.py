"""One connection of a client: reads heads, hands out one request at a time, and ends in bounded time.

Rules of this file:
- Bytes that cannot become a request are answered and the connection closes; nothing behind them is looked at.
- The next request is parsed only after the handler of the one before has returned.
- While a request is in flight the socket is always read, so that a client that leaves is noticed at once. Only a body
  that nobody asked for yet is left in the socket.
- EOF while a request is in flight counts as leaving. Clients that close by halves and still want an answer are as good
  as extinct, and one that hung up looks the same; an agent's turn must not run on for it.
"""

import asyncio
from enum import Enum, auto
from typing import cast, override

from herma.wire.failures import Refusal, RequestFailure
from herma.wire.framing import RequestFrame, frame_request
from herma.wire.heads import parse_request_head, premature_refusal
from herma.wire.listener import Listener
from herma.wire.messages import RequestHead
from herma.wire.outlet import Outlet
from herma.wire.peer import peer_of
from herma.wire.request import ServerRequest
from herma.wire.request_body import RequestBody
from herma.wire.tunnel import Tunnel
from herma.wire.watch import Watch
from herma.wire.writing import CONTINUE, response_head

__all__ = ["ServerConnection"]

# After an answer to a request that was not read to its end, what still comes is thrown away within these bounds;
# closing at once would send RST, and RST makes the client lose the answer. 16 MiB: a 10 MiB body in mid-upload.
LINGER_BYTES = 16 * 1024 * 1024
LINGER_S = 10.0
# Requests sent ahead. Beyond it the answer in flight is the last one and the rest is thrown away.
MAX_PIPELINED_BYTES = 64 * 1024

_FULL = Refusal(503, "herma.busy.connections", "too many connections")
_HEAD_TIMEOUT = Refusal(408, "herma.request.timeout", "the request head did not arrive in time")
_FAILED = Refusal(500, "herma.internal", "the request could not be handled")


class _Phase(Enum):
    HEAD = auto()
    BUSY = auto()
    LINGER = auto()
    TUNNEL = auto()
    CLOSED = auto()


class ServerConnection(asyncio.Protocol):
    """The protocol object of one accepted connection."""

    outlet: Outlet

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._loop = listener.loop
        self._phase = _Phase.CLOSED
        self._buffer = bytearray()
        self._lingered = 0
        self._last = False
        self._reading = True
        self._advancing = False
        self._idle = False
        self._body: RequestBody | None = None
        self._request: ServerRequest | None = None
        self._task: asyncio.Task[None] | None = None
        self._key: str | None = None
        self._watch = Watch(listener.loop, self._expired)

    # --- what the transport calls -------------------------------------------------------------------------------

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)
        self._transport = stream
        limits = self._listener.limits
        self.outlet = Outlet(stream, self._loop, limits.send_timeout_s, self._stalled)
        self._peer = peer_of(stream)
        self._key = None if self._listener.draining else self._listener.census.admit(self._peer.address)
        if self._key is None:
            self._listener.refused_connections += 1
            self._say(_FULL)
            self._close()
            return
        self._phase = _Phase.HEAD
        self._listener.joined(self)
        self._watch.set(limits.head_timeout_s)

    @override
    def data_received(self, data: bytes) -> None:
        match self._phase:
            case _Phase.HEAD:
                self._advance(data)
            case _Phase.BUSY:
                self._take(data)
            case _Phase.LINGER:
                self._lingered += len(data)
                if self._lingered > LINGER_BYTES:
                    self._transport.abort()
            case _:
                pass

    @override
    def eof_received(self) -> bool:
        if self._phase is _Phase.BUSY and self._request is not None and not self._request.finished:
            self._leave()
        return False

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._phase = _Phase.CLOSED
        self._watch.stop()
        self.outlet.lost()
        self._cancel()
        self._buffer.clear()
        self._left()

    @override
    def pause_writing(self) -> None:
        self.outlet.pause()

    @override
    def resume_writing(self) -> None:
        self.outlet.resume()

    # --- what the server calls ----------------------------------------------------------------------------------

    def drain(self) -> None:
        """Close now if no request is in flight; otherwise after its answer."""
        if self._phase is _Phase.HEAD:
            self._close()

    def abort(self) -> None:
        """End with RST, whatever is in flight."""
        if self._task is not None and self._phase is _Phase.TUNNEL:
            self._task.cancel()
        self._cancel()
        self.reset()

    # --- what the request calls ---------------------------------------------------------------------------------

    def reset(self, *, last_words: bool = False) -> None:
        """End with RST; the handler runs on."""
        if self._phase is not _Phase.TUNNEL:
            self._phase = _Phase.CLOSED
        self.outlet.reset(last_words=last_words)

    def want_body(self, *, say_continue: bool) -> None:
        """A handler waits for the body."""
        if say_continue:
            self.outlet.write(CONTINUE)
        self._read_on()
        self._watch.set(self._listener.limits.body_timeout_s)

    def have_body(self) -> None:
        """The handler has the body, or never will."""
        self._watch.clear()

    def may_continue(self) -> bool:
        """Whether another request can follow; an unread body is thrown away from here on."""
        body = self._body
        if body is None or not body.spent:
            if body is not None:
                body.discard()
            self._last = True
            self._read_on()
        return not self._last and not self._listener.draining

    def switch(self, head: bytes) -> Tunnel:
        """Write a 101 and hand the transport over."""
        self.outlet.write(head)
        self._phase = _Phase.TUNNEL
        self._watch.stop()
        leftover = bytes(self._buffer)
        self._buffer.clear()
        return Tunnel(self._transport, self._loop, leftover, self._tunnel_closed)

    # --- heads --------------------------------------------------------------------------------------------------

    def _advance(self, data: bytes) -> None:
        """Start the requests in `data` one after the other, as long as their handlers return at once."""
        if self._buffer:
            self._buffer += data
            data = bytes(self._buffer)
            self._buffer.clear()
        self._advancing = True
        while data and self._phase is _Phase.HEAD:
            end = data.find(b"\r\n\r\n", 2)
            if end < 0:
                self._wait_for_more(data)
                break
            if not self._begin(data[: end + 4].removeprefix(b"\r\n")):
                break
            self._take(data[end + 4 :])
            self._run()
            data = bytes(self._buffer)
            self._buffer.clear()
        else:
            if self._phase is _Phase.BUSY:
                self._buffer += data
        self._advancing = False

    def _wait_for_more(self, data: bytes) -> None:
        refusal = premature_refusal(data, self._listener.limits)
        if refusal is not None:
            self._refuse(refusal)
            return
        if self._idle:
            self._idle = False
            self._watch.set(self._listener.limits.head_timeout_s)
        self._buffer += data

    def _begin(self, raw: bytes) -> bool:
        head = parse_request_head(raw, self._listener.limits)
        if isinstance(head, Refusal):
            self._refuse(head)
            return False
        frame = frame_request(head)
        if isinstance(frame, Refusal):
            self._refuse(frame)
            return False
        self._prepare(head, frame)
        return True

    def _prepare(self, head: RequestHead, frame: RequestFrame) -> None:
        self._watch.clear()
        self._phase = _Phase.BUSY
        self._body = RequestBody(frame.decoder(), self._loop)
        self._request = ServerRequest(self, head, frame, self._body, self._peer)

    # --- a request in flight ------------------------------------------------------------------------------------

    def _run(self) -> None:
        if self._request is None or self._phase is not _Phase.BUSY:
            return
        self._listener.began()
        # Started at once, in this very read: most requests are answered or sent on before the loop turns again.
        task = asyncio.Task(self._serve(self._request), loop=self._loop, eager_start=True)
        if not task.done():
            self._task = task

    async def _serve(self, request: ServerRequest) -> None:
        try:
            await self._listener.handler(request)
        except RequestFailure as failure:
            self._fail(request, failure.refusal)
        except Exception as error:  # noqa: BLE001 - the last resort: whatever a handler raises, the client gets no half-truth
            self._report(error)
            self._fail(request, _FAILED)
        else:
            if not request.finished:
                self._fail(request, _FAILED)
        finally:
            self._task = None
            self._done(request)
            self._listener.ended()

    def _fail(self, request: ServerRequest, refusal: Refusal) -> None:
        """Answer a request that its handler did not; once an answer was started, only an abort is honest."""
        if request.finished or self.outlet.gone:
            return
        if request.started:
            request.abort()
            return
        self.may_continue()
        self._say(refusal, head_only=request.head.method == b"HEAD")
        request.answered()

    def _done(self, request: ServerRequest) -> None:
        self._request = None
        body, self._body = self._body, None
        if self._phase is _Phase.TUNNEL and not self._transport.is_closing():
            self._transport.abort()
        if self._phase is not _Phase.BUSY:
            return
        if request.started and not request.finished:
            self.reset()
        elif request.keep_alive and not self._last and not self._listener.draining:
            self._next()
        elif request.until_close and self.outlet.tls:
            self._close()  # TLS has no half close: only closing says where the body ends
        elif body is not None and body.done and not self._buffer and not self._last:
            self._close()
        else:
            self._linger()

    def _next(self) -> None:
        self._phase = _Phase.HEAD
        self._idle = True
        self._watch.set(self._listener.limits.idle_timeout_s)
        if self._buffer and not self._advancing:
            self._advance(b"")

    def _take(self, data: bytes) -> None:
        """Give the body what is its own; the rest waits for its turn."""
        body = self._body
        if body is not None and not body.done:
            if body.unwanted:
                self._lingered += len(data)
            data = body.feed(data)
            if body.full and self._reading:
                self._reading = False
                self._transport.pause_reading()
        if data:
            self._buffer += data
            if self._last or len(self._buffer) > MAX_PIPELINED_BYTES:
                self._last = True
                self._lingered += len(self._buffer)
                self._buffer.clear()
        if self._lingered > LINGER_BYTES:
            self._leave()

    # --- ends ---------------------------------------------------------------------------------------------------

    def _refuse(self, refusal: Refusal) -> None:
        self._say(refusal)
        self._linger()

    def _say(self, refusal: Refusal, *, head_only: bool = False) -> None:
        headers, body = self._listener.wire_error(refusal.status, refusal.code, refusal.message)
        framing = b"content-length: %d\r\nconnection: close\r\n" % len(body)
        head = response_head(refusal.status, b"", headers, framing)
        self.outlet.write(head if head_only else head + body)

    def _close(self) -> None:
        """Close when everything written has left, or at the deadline."""
        self._phase = _Phase.LINGER
        self._watch.set(LINGER_S)
        self._transport.close()

    def _linger(self) -> None:
        """Say that nothing more will come, then read on for a while so that the client gets to read the answer."""
        self._phase = _Phase.LINGER
        self._buffer.clear()
        self._read_on()
        self._watch.set(LINGER_S)
        if not self.outlet.tls and not self._transport.is_closing():
            self._transport.write_eof()

    def _leave(self) -> None:
        """The client is gone: so is everything done for it."""
        self._phase = _Phase.CLOSED
        self._cancel()
        self._transport.abort()

    def _cancel(self) -> None:
        """Stop a handler that works for nobody; one that knows, or has answered, may do what is left to do."""
        request = self._request
        if self._task is not None and request is not None and not request.finished and not request.aborted:
            self._task.cancel()

    def _stalled(self, told: bool) -> None:  # noqa: FBT001 - a callback with one argument
        """The outlet has cut a slow reader off."""
        if told and self._request is not None:
            self._request.aborted = True

    def _expired(self) -> None:
        match self._phase:
            case _Phase.HEAD if self._buffer:
                self._refuse(_HEAD_TIMEOUT)
            case _Phase.HEAD:
                self._close()
            case _Phase.BUSY if self._body is not None and self._body.waited_for:
                left = self._body.overdue_in(self._listener.limits.body_timeout_s)
                if left > 0:
                    self._watch.set(left)
                else:
                    self._body.expire()
            case _Phase.LINGER:
                self._transport.abort()
            case _:
                pass

    def _read_on(self) -> None:
        if not self._reading:
            self._reading = True
            self._transport.resume_reading()

    def _tunnel_closed(self) -> None:
        self._phase = _Phase.CLOSED
        self.outlet.lost()
        self._left()

    def _left(self) -> None:
        if self._key is not None:
            key, self._key = self._key, None
            self._listener.left(self, key)

    def _report(self, error: Exception) -> None:
        self._loop.call_exception_handler({"message": "a request handler failed", "exception": error})
