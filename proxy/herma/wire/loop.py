"""The event loop: uvloop where it can be had, asyncio's own elsewhere."""

import asyncio
from collections.abc import Callable, Coroutine

__all__ = ["loop_factory", "run"]


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes a loop: uvloop's if it is installed, else asyncio's."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def run[T](main: Coroutine[object, object, T]) -> T:
    """Run `main` in a new loop and close it; like `asyncio.run`, SIGINT included."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)
