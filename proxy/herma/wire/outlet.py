"""The writing half of a connection: back-pressure, the slow reader's deadline, and the abort that is no end."""

import asyncio
from collections.abc import Callable

from herma.wire.failures import Disconnected, SlowReader
from herma.wire.resetting import reset_on_close
from herma.wire.watch import Watch

__all__ = ["Outlet"]

# Between an error event and the reset behind it: time for the client's loop to turn.
LAST_WORDS_S = 0.05


class Outlet:
    """Wraps the writing side of a transport.

    The owner forwards `pause_writing`, `resume_writing` and `connection_lost` to it. When nothing was drained for
    `timeout_s`, the connection is aborted and every writer gets `SlowReader`; `stalled` is told whether one was waiting. Without
    `timeout_s` the owner keeps that deadline.
    """

    __slots__ = (
        "_gone",
        "_level",
        "_loop",
        "_paused",
        "_stalled",
        "_timeout_s",
        "_waiters",
        "_watch",
        "transport",
    )

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        timeout_s: float | None,
        stalled: Callable[[bool], None],
    ) -> None:
        self.transport = transport
        self._loop = loop
        self._timeout_s = timeout_s
        self._stalled = stalled
        self._paused = False
        self._gone: Disconnected | None = None
        self._level = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._watch: Watch | None = None

    @property
    def paused(self) -> bool:
        """Whether the other side reads more slowly than we write."""
        return self._paused

    @property
    def gone(self) -> bool:
        """Whether nothing written now could arrive."""
        return self._gone is not None or self.transport.is_closing()

    @property
    def tls(self) -> bool:
        """Whether the transport encrypts; such a one cannot be closed by halves."""
        return not self.transport.can_write_eof()

    def write(self, data: bytes | memoryview) -> None:
        """Write at once, whatever the other side does; follow it with `drained`.

        Raises:
            Disconnected: the connection is gone.
        """
        self._check()
        self.transport.write(data)

    async def drained(self) -> None:
        """Wait until the other side keeps up.

        Raises:
            SlowReader: it made no progress in time and was cut off.
            Disconnected: the connection is gone.
        """
        if self._gone is not None:
            raise self._gone
        if not self._paused:
            return
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    def pause(self) -> None:
        """The transport's buffer is above its high-water mark."""
        self._paused = True
        self._level = self.transport.get_write_buffer_size()
        if self._timeout_s is None:
            return
        if self._watch is None:
            self._watch = Watch(self._loop, self._look)
        self._watch.set(self._timeout_s)

    def resume(self) -> None:
        """The transport's buffer is below its low-water mark."""
        self._paused = False
        if self._watch is not None:
            self._watch.clear()
        self._wake(None)

    def lost(self) -> None:
        """The connection is gone."""
        if self._watch is not None:
            self._watch.stop()
        if self._gone is None:
            self._gone = Disconnected("the other side is gone")
        self._wake(self._gone)

    def reset(self, *, last_words: bool = False) -> None:
        """End with RST, so that nobody takes it for the end of a message.

        Args:
            last_words: let what was just written arrive first. Many clients forget what they have not yet looked at
                when a reset comes right behind it.
        """
        if self._gone is not None:
            return
        self._gone = Disconnected("the connection was aborted")
        self._wake(self._gone)
        reset_on_close(self.transport)
        if last_words and not self._paused:
            self._loop.call_later(LAST_WORDS_S, self.transport.abort)
        else:
            self.transport.abort()

    def _check(self) -> None:
        if self._gone is not None:
            raise self._gone
        if self.transport.is_closing():
            raise Disconnected("the connection is closing")

    def _look(self) -> None:
        level = self.transport.get_write_buffer_size()
        if level < self._level:
            self.pause()
            return
        self._gone = SlowReader("the other side stopped reading")
        told = self._wake(self._gone)
        reset_on_close(self.transport)
        self.transport.abort()
        self._stalled(told)

    def _wake(self, failure: Disconnected | None) -> bool:
        waiters, self._waiters = [waiter for waiter in self._waiters if not waiter.done()], []
        for waiter in waiters:
            if failure is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(failure)
        return bool(waiters)
