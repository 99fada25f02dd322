"""Raw bytes both ways, after a 101."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import override

from herma.wire.resetting import reset_on_close
from herma.wire.watch import Watch

__all__ = ["Tunnel", "TunnelEnd", "splice"]


class TunnelEnd(StrEnum):
    """How a tunnel ended."""

    CLOSED = "closed"
    BROKEN = "broken"
    IDLE = "idle"


class Tunnel(asyncio.Protocol):
    """One side of a tunnel: takes a transport over and gives what it brings to the other side.

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
        self.ended = False
        transport.pause_reading()
        transport.set_protocol(self)

    def abort(self) -> None:
        """End with RST."""
        if not self.ended:
            reset_on_close(self._transport)
            self._transport.abort()

    def begin(self, splice: "_Splice") -> None:
        """Give what came before to the other side, then read on."""
        self._splice = splice
        if self._leftover:
            splice.pass_on(self, self._leftover)
            self._leftover = b""
        if not self.ended:
            self._transport.resume_reading()

    def write(self, data: bytes) -> None:
        """Write without waiting; the splice stops the other side when it should."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def half_close(self) -> None:
        """Say that nothing more will come; where that cannot be said alone (TLS), close."""
        if self._transport.is_closing():
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def close(self) -> None:
        """Close after everything written has left."""
        self._transport.close()

    def hold(self) -> None:
        """Read nothing more for now."""
        self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        self._transport.resume_reading()

    @override
    def data_received(self, data: bytes) -> None:
        if self._splice is None:
            self._leftover += data  # what was in flight when reading was paused: one read at most
        else:
            self._splice.pass_on(self, data)

    @override
    def eof_received(self) -> bool:
        # A TLS transport cannot stay half open, and says so loudly when asked to.
        return self._splice is not None and self._splice.half_closed(self) and self._transport.can_write_eof()

    @override
    def pause_writing(self) -> None:
        if self._splice is not None:
            self._splice.other(self).hold()

    @override
    def resume_writing(self) -> None:
        if self._splice is not None:
            self._splice.other(self).go_on()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        self._closed()
        if self._splice is not None:
            self._splice.lost(self, broken=exc is not None)


class _Splice:
    """Two tunnels joined; ends when both transports are gone."""

    def __init__(self, a: Tunnel, b: Tunnel, loop: asyncio.AbstractEventLoop, idle_timeout_s: float) -> None:
        self._a = a
        self._b = b
        self._idle_timeout_s = idle_timeout_s
        self._half_closed = 0
        self._watch = Watch(loop, self._expired)
        self._end = TunnelEnd.CLOSED
        self._over: asyncio.Future[None] = loop.create_future()

    async def run(self) -> TunnelEnd:
        self._watch.set(self._idle_timeout_s)
        try:
            for side in (self._a, self._b):
                if side.ended:
                    self.lost(side, broken=True)
                else:
                    side.begin(self)
            await self._over
        finally:
            self._watch.stop()
            self._a.abort()
            self._b.abort()
        return self._end

    def other(self, side: Tunnel) -> Tunnel:
        return self._b if side is self._a else self._a

    def pass_on(self, side: Tunnel, data: bytes) -> None:
        self._watch.set(self._idle_timeout_s)
        self.other(side).write(data)

    def half_closed(self, side: Tunnel) -> bool:
        """One side will send nothing more; returns whether it may still receive."""
        self._half_closed += 1
        self.other(side).half_close()
        return self._half_closed == 1

    def lost(self, side: Tunnel, *, broken: bool) -> None:
        other = self.other(side)
        if broken:
            self._end = TunnelEnd.BROKEN if self._end is TunnelEnd.CLOSED else self._end
            other.abort()
        elif not other.ended:
            other.close()
        if self._a.ended and self._b.ended and not self._over.done():
            self._over.set_result(None)

    def _expired(self) -> None:
        self._end = TunnelEnd.IDLE
        self._a.abort()
        self._b.abort()


async def splice(a: Tunnel, b: Tunnel, idle_timeout_s: float) -> TunnelEnd:
    """Pass bytes both ways until both sides are closed, or nothing was read from either for `idle_timeout_s`.

    A half close is passed on; a reset resets the other side; a side that does not read stops the other from being read.
    """
    return await _Splice(a, b, asyncio.get_running_loop(), idle_timeout_s).run()
