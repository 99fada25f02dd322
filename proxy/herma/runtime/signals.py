"""Signals as calls: SIGTERM and SIGINT stop, SIGHUP reads the configuration again.

The children of a fleet are told to stop by a signal of their own. A terminal sends SIGINT to all processes of the gate, and
service managers send SIGTERM to all: passed on by the parent as well, one request would be two, and the second aborts.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence

__all__ = ["CHILD_STOP", "on_signals"]

# What the parent of several workers tells its children instead of SIGTERM.
CHILD_STOP = signal.SIGUSR1

_STOPS = (signal.SIGTERM, signal.SIGINT)


async def on_signals(
    *,
    stop: Callable[[], None],
    reload: Callable[[], Awaitable[None]],
    stops: Sequence[signal.Signals] = _STOPS,
) -> None:
    """Act on signals until cancelled; several SIGHUP while one reload runs make one more."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in stops:
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    try:
        while True:
            await asked.wait()
            asked.clear()
            await reload()
    finally:
        for number in (*stops, signal.SIGHUP):
            loop.remove_signal_handler(number)
