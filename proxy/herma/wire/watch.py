"""A deadline that costs nothing to move.

Deadlines move with every request, timers are dear. One timer is armed and, when it goes off too early because the
deadline has moved on meanwhile, armed again for the rest. It is re-armed at once only if the deadline moved forward.
"""

import asyncio
from collections.abc import Callable

__all__ = ["Watch"]

# The loop's clock counts milliseconds and a timer may go off a tick early.
_TICK_S = 0.002


class Watch:
    """Calls `expired` once when a deadline passes that was neither moved nor cleared."""

    __slots__ = ("_armed_for", "_due", "_expired", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, expired: Callable[[], None]) -> None:
        self._loop = loop
        self._expired = expired
        self._due: float | None = None
        self._handle: asyncio.TimerHandle | None = None
        self._armed_for = 0.0

    def set(self, seconds: float) -> None:
        """Set the deadline to `seconds` from now, whatever it was."""
        self._due = due = self._loop.time() + seconds
        if self._handle is not None:
            if self._armed_for <= due:
                return
            self._handle.cancel()
        self._arm(due)

    def clear(self) -> None:
        """Have no deadline; the timer, if armed, goes off once for nothing."""
        self._due = None

    def stop(self) -> None:
        """Have no deadline and no timer; call it when the owner ends, or the timer keeps it alive."""
        self._due = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self, due: float) -> None:
        self._armed_for = due
        self._handle = self._loop.call_at(due, self._go_off)

    def _go_off(self) -> None:
        self._handle = None
        due = self._due
        if due is None:
            return
        if self._loop.time() < due - _TICK_S:
            self._arm(due)
            return
        self._due = None
        self._expired()
