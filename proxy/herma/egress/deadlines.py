"""Until when something must have come; whoever sends a byte now and then holds a place for ever otherwise."""

import time
from collections.abc import Callable, Hashable
from typing import Final

__all__ = ["BODY_S", "HEAD_S", "TUNNEL_S", "Deadlines"]

# A head is one packet or a few, from a program on this machine.
HEAD_S: Final = 15.0
# A tunnel stands, and its first request or handshake has not come: some programs open one before they need it.
TUNNEL_S: Final = 60.0
# The largest body that is looked at takes seconds on this machine; a program may make it up while it sends.
BODY_S: Final = 300.0


class Deadlines:
    """One deadline for each thing that is waited for; things of one owner are forgotten together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at: dict[str, dict[Hashable, float]] = {}

    def begin(self, owner: str, thing: Hashable, within_s: float) -> None:
        """Wait for a thing from now on; one that is waited for already keeps its deadline."""
        self._at.setdefault(owner, {}).setdefault(thing, self._clock() + within_s)

    def end(self, owner: str, thing: Hashable) -> None:
        """A thing has come, or is not waited for any more."""
        waited = self._at.get(owner)
        if waited is not None and waited.pop(thing, None) is not None and not waited:
            del self._at[owner]

    def forget(self, owner: str) -> None:
        """Wait for nothing of an owner."""
        self._at.pop(owner, None)

    def passed(self) -> tuple[str, ...]:
        """Give those who let a deadline pass."""
        now = self._clock()
        return tuple(owner for owner, waited in self._at.items() if min(waited.values()) < now)
