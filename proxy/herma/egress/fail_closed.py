"""Hooks that shut when they fail: mitmproxy logs what a hook raises and lets the flow go on."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["MARK", "Reports", "fail_closed"]

# Every hook of the gate has it; a test and the start look.
MARK = "fails_closed"


class Reports(Protocol):
    """What is told of a hook that failed."""

    def failed(self, hook: str, error: Exception) -> None:
        """Note it; never the text of the error, which may repeat what was sent."""
        ...


def fail_closed[T: Reports, D](shut: Callable[[T, D], None]) -> Callable[[Callable[[T, Any], Any]], Any]:
    """Make a hook that calls `shut` with what it was called for when it raises."""

    def wrap(hook: Callable[[T, Any], Any]) -> Any:
        name = hook.__name__
        if inspect.iscoroutinefunction(hook):

            @functools.wraps(hook)
            async def guarded_async(self: T, data: D) -> None:
                try:
                    await hook(self, data)
                except Exception as error:  # noqa: BLE001 - one of the three places: an error is never an allow
                    shut(self, data)
                    self.failed(name, error)

            setattr(guarded_async, MARK, True)
            return guarded_async

        @functools.wraps(hook)
        def guarded(self: T, data: D) -> None:
            try:
                hook(self, data)
            except Exception as error:  # noqa: BLE001 - as above
                shut(self, data)
                self.failed(name, error)

        setattr(guarded, MARK, True)
        return guarded

    return wrap
