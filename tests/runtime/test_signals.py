"""Signals as calls."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from herma.runtime.signals import CHILD_STOP, on_signals
from support.inside import until


class Heard:
    """What was called; a reload lasts until the test lets it end."""

    def __init__(self) -> None:
        self.stops = 0
        self.reloads = 0
        self.gate = asyncio.Event()
        self.gate.set()

    def stop(self) -> None:
        self.stops += 1

    async def reload(self) -> None:
        self.reloads += 1
        await self.gate.wait()


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    heard = Heard()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(on_signals(stop=heard.stop, reload=heard.reload))
        await asyncio.sleep(0)
        yield heard
        task.cancel()


def _send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_stop_signals_stop(heard: Heard, number: signal.Signals) -> None:
    """A service manager and a person at a terminal are both obeyed, each time."""
    for asked in (1, 2):
        _send(number)
        await until(lambda asked=asked: heard.stops == asked)
    assert heard.reloads == 0


async def test_hangup_reads_the_configuration_again(heard: Heard) -> None:
    """SIGHUP stops nothing."""
    _send(signal.SIGHUP)
    await until(lambda: heard.reloads == 1)
    assert heard.stops == 0


async def test_many_hangups_while_one_is_served_make_one_more(heard: Heard) -> None:
    """Reloads never pile up, and the last change is not missed."""
    heard.gate.clear()
    _send(signal.SIGHUP)
    await until(lambda: heard.reloads == 1)
    for _ in range(5):
        _send(signal.SIGHUP)
        _send(signal.SIGTERM)
    await until(lambda: heard.stops > 0)
    heard.gate.set()
    await until(lambda: heard.reloads == 2)
    for _ in range(20):
        await asyncio.sleep(0)
    assert heard.reloads == 2


async def test_child_hears_its_parent_only() -> None:
    """A child of several workers leaves SIGTERM and SIGINT to its parent, so that one request is not heard twice."""
    heard = Heard()
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(on_signals(stop=heard.stop, reload=heard.reload, stops=(CHILD_STOP,)))
        await asyncio.sleep(0)
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
        _send(CHILD_STOP)
        await until(lambda: heard.stops == 1)
        task.cancel()


async def test_nothing_is_left_behind() -> None:
    """After the end, the signals do what they did before."""
    heard = Heard()
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    async with asyncio.TaskGroup() as group:
        task = group.create_task(on_signals(stop=heard.stop, reload=heard.reload))
        await asyncio.sleep(0)
        assert [signal.getsignal(number) for number in numbers] != before
        task.cancel()
    assert [signal.getsignal(number) for number in numbers] == before
