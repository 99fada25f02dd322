"""What the echo agent remembers, all of it in memory and bounded."""

import hashlib
import itertools
from collections.abc import Callable
from typing import Any

from aiohttp import web

from herma.drill.echo.run import Run
from herma.policy.secret import Secret

__all__ = ["MAX_KEPT", "STATE", "EchoState", "Record", "keep"]

# Things of one kind that are remembered; the oldest goes first. The real server keeps 100 responses; a newcomer's
# afternoon makes far fewer than this of anything.
MAX_KEPT = 1000

type Record = dict[str, Any]


class EchoState:
    """Runs, sessions, jobs and stored responses by id."""

    def __init__(self, key: Secret, clock: Callable[[], float], pace_s: float) -> None:
        if not key.reveal():
            raise ValueError("an echo agent without a key would answer everybody")
        self.key = key
        self.clock = clock
        self.pace_s = pace_s
        self.runs: dict[str, Run] = {}
        self.sessions: dict[str, Record] = {}
        self.messages: dict[str, list[Record]] = {}
        self.jobs: dict[str, Record] = {}
        self.responses: dict[str, Record] = {}
        self._count = itertools.count(1)

    def new_id(self, length: int) -> str:
        """Give the next id: `length` hex digits that look like the real server's and are the same in every run."""
        return hashlib.sha256(str(next(self._count)).encode()).hexdigest()[:length]


STATE = web.AppKey("state", EchoState)


def keep[T](kept: dict[str, T], key: str, value: T) -> None:
    """Remember a value and forget the oldest one beyond `MAX_KEPT`."""
    kept[key] = value
    if len(kept) > MAX_KEPT:
        del kept[next(iter(kept))]
