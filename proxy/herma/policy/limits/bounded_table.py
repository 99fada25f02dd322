"""Values by name, never more than a fixed number, for state that must not be forgotten early.

An attacker who can choose names (addresses, say) must not be able to push out the record that slows him down. So a value
is evicted only when it is idle, that is when forgetting it changes nothing; while none is, all newcomers share one place.
"""

from collections import OrderedDict
from collections.abc import Callable

__all__ = ["BoundedTable"]

# Values looked at, oldest first, when a newcomer finds the table full: enough to make room faster than it fills, few
# enough that no request pays for a walk through the whole table.
_SWEEP = 16


class BoundedTable[V]:
    """A table of at most `limit` values and one shared place; `idle(value, now)` tells what may be forgotten."""

    def __init__(self, limit: int, idle: Callable[[V, float], bool]) -> None:
        self._limit = limit
        self._idle = idle
        self._values: OrderedDict[str, V] = OrderedDict()
        self._shared: V | None = None

    def __len__(self) -> int:
        return len(self._values)

    def get(self, name: str, now: float) -> V | None:
        """Return what counts for `name`: its own value, else the shared one while that is in use."""
        value = self._values.get(name)
        if value is not None:
            return value
        if self._shared is not None and self._idle(self._shared, now):
            self._shared = None
        return self._shared

    def put(self, name: str, value: V, now: float) -> None:
        """Keep a value that was made from what `get` returned for the same name and time."""
        if name in self._values or (self._shared is None and self._has_room(now)):
            self._values[name] = value
            self._values.move_to_end(name)
        else:
            self._shared = value

    def _has_room(self, now: float) -> bool:
        for _ in range(_SWEEP):
            if len(self._values) < self._limit:
                return True
            name, value = self._values.popitem(last=False)
            if not self._idle(value, now):
                self._values[name] = value  # to the young end, so that the next sweep meets others
        return len(self._values) < self._limit
