"""Two connections joined after a 101, with somebody between them."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol, override

from herma.wire.resetting import reset_on_close
from herma.wire.watch import Watch

__all__ = ["Between", "Tunnel", "TunnelEnd", "splice"]

# How long a peer may take to read the last of what it is sent.
CLOSE_TIMEOUT_S = 5.0


class TunnelEnd(StrEnum):
    """How a tunnel ended."""

    CLOSED = "closed"
    BROKEN = "broken"
    IDLE = "idle"


class Between(Protocol):
    """Stands between caller and upstream: takes what either brings, and says what either gets.

    Times are those of the event loop, in seconds. After each call the splice collects what is to be written, for both.
    """

    def begin(self, wake: Callable[[], None]) -> None:
        """Hear what to call when there is something to do that neither side brought and no deadline tells; it leads to `tick`."""
        ...

    @property
    def over(self) -> bool:
        """Tell that both connections are to be closed once everything is written."""
        ...

    def take(self, data: bytes, now: float, *, caller: bool) -> None:
        """Take what one side brought."""
        ...

    def ended(self, now: float, *, caller: bool) -> None:
        """Hear that one side brings nothing more."""
        ...

    def collect(self, *, caller: bool) -> bytes:
        """Hand over what is to be written to one side."""
        ...

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        ...

    def tick(self, now: float) -> None:
        """Do what is due."""
        ...


class Tunnel(asyncio.Protocol):
    """One side of a tunnel: takes a transport over and gives what it brings to the splice.

    Until it is spliced nothing is read but what came with the 101. `closed` is called once, when the transport is gone.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        leftover: bytes,
        closed: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._leftover = leftover
        self._closed = closed
        self._splice: _Splice | None = None
        # For how many reasons nothing is read: this side does not read what it is sent, the other one does not.
        self._held = 1
        self._full = False
        self.ended = False
        transport.pause_reading()
        transport.set_protocol(self)

    def abort(self) -> None:
        """End with RST."""
        if not self.ended:
            reset_on_close(self._transport)
            self._transport.abort()

    def begin(self, splice: "_Splice") -> None:
        """Give what came before to the splice, then read on."""
        self._splice = splice
        if self._leftover:
            leftover, self._leftover = self._leftover, b""
            splice.came(self, leftover)
        self.go_on()

    def write(self, data: bytes) -> None:
        """Write without waiting; the splice stops the other side when it should."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Close after everything written has left."""
        self._transport.close()

    def hold(self) -> None:
        """Read nothing more for now; as often as this is called, `go_on` has to be."""
        self._held += 1
        if self._held == 1 and not self.ended:
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again, if nothing else speaks against it."""
        self._held -= 1
        if self._held == 0 and not self.ended:
            self._transport.resume_reading()

    @override
    def data_received(self, data: bytes) -> None:
        if self._splice is None:
            self._leftover += data  # what was in flight when reading was paused: one read at most
        else:
            self._splice.came(self, data)

    @override
    def eof_received(self) -> bool:
        # The transport closes itself when nobody keeps it; what is to be written goes out first.
        return False

    @override
    def pause_writing(self) -> None:
        # Both: the one in between answers this side as well, and what nobody reads must not pile up.
        if self._splice is not None:
            self._full = True
            self.hold()
            self._splice.other(self).hold()

    @override
    def resume_writing(self) -> None:
        if self._splice is not None and self._full:
            self._full = False
            self.go_on()
            self._splice.other(self).go_on()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self._closed()
        if self._splice is not None:
            self._splice.lost(self, broken=exc is not None)


class _Splice:
    """Two tunnels joined; ends when both transports are gone."""

    def __init__(
        self,
        caller: Tunnel,
        upstream: Tunnel,
        between: Between,
        loop: asyncio.AbstractEventLoop,
        idle_timeout_s: float,
    ) -> None:
        self._caller = caller
        self._upstream = upstream
        self._between = between
        self._loop = loop
        self._idle_timeout_s = idle_timeout_s
        self._watch = Watch(loop, self._expired)
        self._tick: asyncio.TimerHandle | None = None
        self._end = TunnelEnd.CLOSED
        self._failure: Exception | None = None
        self._over: asyncio.Future[None] = loop.create_future()

    async def run(self) -> TunnelEnd:
        self._watch.set(self._idle_timeout_s)
        self._between.begin(self._woken)
        try:
            self._settle()
            for side in (self._caller, self._upstream):
                if side.ended:
                    self.lost(side, broken=True)
                else:
                    side.begin(self)
            await self._over
        finally:
            self._watch.stop()
            self._stop_tick()
            self._caller.abort()
            self._upstream.abort()
        if self._failure is not None:
            raise self._failure
        return self._end

    def other(self, side: Tunnel) -> Tunnel:
        return self._upstream if side is self._caller else self._caller

    def came(self, side: Tunnel, data: bytes) -> None:
        if self._between.over:
            # The last of it is being written: what comes now neither counts nor gives more time.
            return
        self._watch.set(self._idle_timeout_s)
        self._do(lambda now: self._between.take(data, now, caller=side is self._caller))

    def lost(self, side: Tunnel, *, broken: bool) -> None:
        if broken:
            self._end = TunnelEnd.BROKEN if self._end is TunnelEnd.CLOSED else self._end
            self.other(side).abort()
        elif not self.other(side).ended:
            self._do(lambda now: self._between.ended(now, caller=side is self._caller))
            self._close()
        if self._caller.ended and self._upstream.ended and not self._over.done():
            self._over.set_result(None)

    def _do(self, act: Callable[[float], None]) -> None:
        """Let the one between act, and write what follows from it; its failure ends both sides."""
        if self._failure is not None:
            return
        try:
            act(self._loop.time())
            self._settle()
        except Exception as error:  # noqa: BLE001 - raised again by `run`: what cannot be judged does not pass
            self._failure = error
            self._caller.abort()
            self._upstream.abort()

    def _settle(self) -> None:
        for side in (self._caller, self._upstream):
            if data := self._between.collect(caller=side is self._caller):
                side.write(data)
        if self._between.over:
            self._close()
            return
        self._stop_tick()
        due = self._between.deadline()
        self._tick = None if due is None else self._loop.call_at(due, self._due)

    def _stop_tick(self) -> None:
        if self._tick is not None:
            self._tick.cancel()

    def _woken(self) -> None:
        if not self._over.done():
            self._due()

    def _due(self) -> None:
        self._do(self._between.tick)

    def _close(self) -> None:
        self._stop_tick()
        self._watch.set(CLOSE_TIMEOUT_S)
        self._caller.close()
        self._upstream.close()

    def _expired(self) -> None:
        self._end = TunnelEnd.IDLE
        self._caller.abort()
        self._upstream.abort()


async def splice(caller: Tunnel, upstream: Tunnel, between: Between, idle_timeout_s: float) -> TunnelEnd:
    """Pass on what `between` lets pass until both sides are closed, or nothing was read from either for `idle_timeout_s`.

    The end of one side ends the other, a reset resets it; a side that does not read stops the other from being read.

    Raises:
        Exception: whatever `between` raised; both sides are aborted then.
    """
    return await _Splice(caller, upstream, between, asyncio.get_running_loop(), idle_timeout_s).run()
