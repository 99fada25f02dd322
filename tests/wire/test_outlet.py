"""The writing half, with a transport by hand."""

import asyncio
import socket

import pytest

from herma.wire.failures import Disconnected, SlowReader
from herma.wire.outlet import Outlet


class Wire:
    """A transport that holds what it is given."""

    def __init__(self, *, tls: bool = False, sock: socket.socket | None = None) -> None:
        self.tls = tls
        self.sock = sock
        self.held = 0
        self.calls: list[str] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        self.held += len(data)

    def get_write_buffer_size(self) -> int:
        return self.held

    def can_write_eof(self) -> bool:
        return not self.tls

    def is_closing(self) -> bool:
        return self.closing

    def abort(self) -> None:
        self.calls.append("abort")
        self.closing = True

    def get_extra_info(self, name: str) -> object:
        return self.sock


def outlet(wire: Wire, timeout_s: float | None = 0.02) -> tuple[Outlet, list[bool]]:
    told: list[bool] = []
    made = Outlet(wire, asyncio.get_running_loop(), timeout_s, told.append)  # type: ignore[arg-type] # the part of a transport an outlet uses
    return made, told


async def test_writers_wait_while_the_other_side_does_not_keep_up() -> None:
    """All of them, and all go on together; one that gave up is not woken."""
    made, _ = outlet(Wire(), None)
    await made.drained()
    made.pause()
    loop = asyncio.get_running_loop()
    waiters = [loop.create_task(made.drained()) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    await asyncio.sleep(0)
    assert not waiters[1].done()
    made.resume()
    await asyncio.gather(*waiters[1:])
    assert not made.paused


async def test_a_slow_reader_is_cut_off_when_it_makes_no_progress() -> None:
    """Progress, however small, moves the deadline; none ends it."""
    wire = Wire()
    made, told = outlet(wire)
    made.write(b"x" * 100)
    made.pause()
    waiter = asyncio.get_running_loop().create_task(made.drained())
    while wire.held > 95:
        wire.held -= 1
        assert not waiter.done()
        await asyncio.sleep(0.01)
    async with asyncio.timeout(5):
        with pytest.raises(SlowReader):
            await waiter
    assert (told, wire.calls) == ([True], ["abort"])
    with pytest.raises(SlowReader):
        await made.drained()
    with pytest.raises(SlowReader):
        made.write(b"x")


async def test_a_reader_that_catches_up_is_left_alone() -> None:
    """The deadline goes with the pause."""
    wire = Wire()
    made, told = outlet(wire)
    made.pause()
    made.resume()
    await asyncio.sleep(0.05)
    assert (told, wire.calls) == ([], [])


async def test_what_is_lost_is_lost_for_everybody() -> None:
    """Waiting or to come."""
    made, _ = outlet(Wire())
    made.pause()
    waiter = asyncio.get_running_loop().create_task(made.drained())
    await asyncio.sleep(0)
    made.lost()
    with pytest.raises(Disconnected):
        await waiter
    with pytest.raises(Disconnected):
        made.write(b"x")
    assert made.gone
    made.reset()
    made.lost()


async def test_nothing_is_written_to_a_closing_transport() -> None:
    """Uvloop raises there, and nobody would read it."""
    wire = Wire()
    made, _ = outlet(wire)
    wire.closing = True
    assert made.gone
    with pytest.raises(Disconnected):
        made.write(b"x")


async def test_a_reset_is_at_once() -> None:
    """Whatever was written may be lost with it."""
    wire = Wire()
    made, _ = outlet(wire)
    made.write(b"x")
    made.reset()
    assert wire.calls == ["abort"]
    made.reset()
    assert (wire.calls, made.gone, made.tls) == (["abort"], True, False)
    assert outlet(Wire(tls=True))[0].tls


async def test_a_reset_lets_last_words_arrive_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never closes politely: on TLS that would be a clean end."""
    monkeypatch.setattr("herma.wire.outlet.LAST_WORDS_S", 0.01)
    wire = Wire()
    made, _ = outlet(wire)
    made.reset(last_words=True)
    assert wire.calls == []
    async with asyncio.timeout(5):
        while not wire.calls:
            await asyncio.sleep(0.001)
    assert wire.calls == ["abort"]


async def test_who_does_not_read_gets_no_last_words() -> None:
    """There is nobody to say them to."""
    wire = Wire()
    made, _ = outlet(wire)
    made.pause()
    made.reset(last_words=True)
    assert wire.calls == ["abort"]
