"""Deadlines that are cheap to move."""

import asyncio
from collections.abc import Callable

from herma.wire.watch import Watch


class Clock:
    """A loop's clock and its timers, by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.armed: list[tuple[float, Callable[[], None]]] = []
        self.arms = 0

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> "Timer":
        self.arms += 1
        entry = (when, callback)
        self.armed.append(entry)
        return Timer(self, entry)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for entry in [entry for entry in self.armed if entry[0] <= self.now]:
            self.armed.remove(entry)
            entry[1]()


class Timer:
    """What `call_at` returns."""

    def __init__(self, clock: Clock, entry: tuple[float, Callable[[], None]]) -> None:
        self.clock = clock
        self.entry = entry

    def cancel(self) -> None:
        self.clock.armed.remove(self.entry)


def watched() -> tuple[Clock, Watch, list[float]]:
    clock = Clock()
    fired: list[float] = []
    watch = Watch(clock, lambda: fired.append(clock.now))  # type: ignore[arg-type] # the part of a loop a watch uses
    return clock, watch, fired


def test_a_deadline_fires_once() -> None:
    """At its time, and not again."""
    clock, watch, fired = watched()
    watch.set(10)
    clock.advance(9)
    assert fired == []
    clock.advance(1)
    clock.advance(100)
    assert fired == [110.0]


def test_moving_a_deadline_away_arms_no_timer() -> None:
    """A thousand requests cost one timer."""
    clock, watch, fired = watched()
    for _ in range(1000):
        watch.set(10)
        clock.advance(0.001)
    assert clock.arms == 1
    clock.advance(9.9)
    assert fired == []
    clock.advance(0.1)
    assert len(fired) == 1


def test_moving_a_deadline_nearer_takes_effect() -> None:
    """A short deadline is not lost behind a long one."""
    clock, watch, fired = watched()
    watch.set(75)
    watch.set(1)
    clock.advance(1)
    assert fired == [101.0]
    assert clock.armed == []


def test_a_cleared_deadline_does_not_fire() -> None:
    """Its timer goes off for nothing, once."""
    clock, watch, fired = watched()
    watch.set(1)
    watch.clear()
    clock.advance(5)
    assert (fired, clock.armed) == ([], [])
    watch.set(1)
    clock.advance(1)
    assert len(fired) == 1


def test_a_stopped_watch_leaves_no_timer() -> None:
    """Whoever is gone is not kept alive by a deadline."""
    clock, watch, fired = watched()
    watch.stop()
    watch.set(1)
    watch.stop()
    assert clock.armed == []
    clock.advance(5)
    assert fired == []


async def test_a_watch_on_a_real_loop() -> None:
    """The loop's own timers do not make it spin or miss."""
    fired = asyncio.Event()
    watch = Watch(asyncio.get_running_loop(), fired.set)
    watch.set(0.02)
    async with asyncio.timeout(5):
        await fired.wait()
