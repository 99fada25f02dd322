"""Hooks that shut when they fail: mitmproxy logs what a hook raises and lets the flow go on.

What a layer of mitmproxy's raises is logged as well, and the connection stays open as it is, half read.
"""

import asyncio
import functools
import inspect
import os
from collections.abc import Callable, Generator
from typing import Any, Protocol

__all__ = ["MARK", "Reports", "fail_closed", "fail_closed_layer"]

# Every hook of the gate has it; a test and the start look.
MARK = "fails_closed"
# sysexits.h: an internal error.
_SOFTWARE = 70


class Reports(Protocol):
    """What is told of a hook that failed."""

    def failed(self, hook: str, error: Exception) -> None:
        """Note it; never the text of the error, which may repeat what was sent."""
        ...


def fail_closed_layer[C](
    layer: Generator[C, Any, None], shut: Callable[[Exception], Generator[C, Any, None]]
) -> Generator[C, Any, None]:
    """Give what a layer wants done, and what shuts its connection when it raises."""
    try:
        yield from layer
    except Exception as error:  # noqa: BLE001 - as below
        yield from shut(error)


def fail_closed[T: Reports, D](shut: Callable[[T, D], None]) -> Callable[[Callable[[T, Any], Any]], Any]:
    """Make a hook that calls `shut` with what it was called for when it raises; if that fails, too, the process ends."""

    def close(self: T, data: D, name: str, error: Exception) -> None:
        try:
            shut(self, data)
            self.failed(name, error)
        except Exception:  # noqa: BLE001 - as below
            # Raised on, it would be logged and what was asked about would go out. A gate that is down lets nothing out.
            os._exit(_SOFTWARE)

    def wrap(hook: Callable[[T, Any], Any]) -> Any:
        name = hook.__name__
        if inspect.iscoroutinefunction(hook):

            @functools.wraps(hook)
            async def guarded_async(self: T, data: D) -> None:
                try:
                    await hook(self, data)
                except Exception as error:  # noqa: BLE001 - one of the three places: an error is never an allow
                    close(self, data, name, error)
                except asyncio.CancelledError:
                    # Whoever cancels it waits for nothing, and what was asked about is not to be held for ever.
                    close(self, data, name, RuntimeError())
                    raise

            setattr(guarded_async, MARK, True)
            return guarded_async

        @functools.wraps(hook)
        def guarded(self: T, data: D) -> None:
            try:
                hook(self, data)
            except Exception as error:  # noqa: BLE001 - as above
                close(self, data, name, error)

        setattr(guarded, MARK, True)
        return guarded

    return wrap
