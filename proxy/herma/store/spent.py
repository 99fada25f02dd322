"""Tokens that were used, as one interface; in memory, in a file (`spent_file`), in Redis (`spent_redis`).

A memory of one process begins with the process. A token from before that is refused, so that no restart makes one usable again.
"""

import time
from collections.abc import Callable
from typing import Protocol

from herma.policy.token.spent import Once, Spending, SpentTokens

__all__ = ["MemorySpent", "SpentStore"]


class SpentStore(Protocol):
    """Where used tokens are remembered; a memory that cannot be asked raises `StoreError`."""

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token, if it is the first: of any number of callers at the same time just one is."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


class MemorySpent:
    """Remembers for as long as the process lives; `clock` returns seconds since 1970, `since` is when the memory began."""

    def __init__(self, clock: Callable[[], float] = time.time, since: float | None = None) -> None:
        self._clock = clock
        self._spent = SpentTokens(clock() if since is None else since)

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token, if it is the first."""
        return self._spent.spend(once, self._clock())

    async def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
