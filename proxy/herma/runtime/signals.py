"""Signals as calls: SIGTERM and SIGINT stop, SIGHUP reads the configuration again."""

import asyncio
import signal
from collections.abc import Awaitable, Callable

__all__ = ["on_signals"]


async def on_signals(*, stop: Callable[[], None], reload: Callable[[], Awaitable[None]]) -> None:
    """Act on signals until cancelled; several SIGHUP while one reload runs make one more."""
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, asked.set)
    try:
        while True:
            await asked.wait()
            asked.clear()
            await reload()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.remove_signal_handler(number)
