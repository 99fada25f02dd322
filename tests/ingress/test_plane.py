"""What outlives an exchange: work that goes on when its waiter leaves."""

import asyncio

import pytest

from herma.ingress.plane import Plane
from support.inprocess import Gated, gated


async def _left(plane: Plane, work: asyncio.Event, *, fail: bool) -> list[str]:
    """Start work, leave it waiting, and let it end without its waiter."""
    done: list[str] = []

    async def job() -> str:
        await work.wait()
        if fail:
            raise OSError("nobody listens")
        done.append("done")
        return "result"

    waiter = asyncio.get_running_loop().create_task(plane.keep(job()))
    await asyncio.sleep(0)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert done == []
    work.set()
    while plane._kept:
        await asyncio.sleep(0)
    return done


async def _job(result: str) -> str:
    await asyncio.sleep(0)
    return result


async def _failing() -> str:
    raise OSError("the work failed")


def _counted(gate: Gated) -> float:
    return gate.meter.counts.get(("kept_work_failed", ""), 0.0)


async def test_who_waits_gets_the_result() -> None:
    """Kept work is awaited like any other."""
    async with gated() as gate:
        assert await gate.plane.keep(_job("result")) == "result"


async def test_who_waits_gets_the_failure() -> None:
    """An error reaches the waiter, who handles it; it is not counted as lost."""
    async with gated() as gate:
        with pytest.raises(OSError, match="the work failed"):
            await gate.plane.keep(_failing())
        await asyncio.sleep(0)
        assert _counted(gate) == 0


async def test_work_goes_on_without_its_waiter() -> None:
    """A waiter that is cancelled leaves at once, and the work is done all the same."""
    async with gated() as gate:
        assert await _left(gate.plane, asyncio.Event(), fail=False) == ["done"]
        assert _counted(gate) == 0


async def test_a_failure_that_nobody_waits_for_is_counted() -> None:
    """It is not raised into the void: the operator sees it in the metrics."""
    async with gated() as gate:
        assert await _left(gate.plane, asyncio.Event(), fail=True) == []
        assert _counted(gate) == 1


async def test_memory_and_work_are_counted_over_all_upstreams() -> None:
    """A second upstream is no second allowance."""
    async with gated() as gate:
        other = gate.plane.beside(gate.plane.generation, gate.store)
        other.buffered.total += 5
        assert gate.plane.buffered.total == 5
        gate.plane.buffered.total = 0
        assert other.active is gate.plane.active
        assert other.attempts is gate.plane.attempts
        assert other.passwords is gate.plane.passwords
