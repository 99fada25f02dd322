"""One of several processes that share the listeners, against a hub that the test plays."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from herma.runtime.activity import ACTIVITY, Heard
from herma.runtime.recent import Recent
from herma.runtime.signals import CHILD_STOP
from herma.runtime.tally import Tally
from herma.runtime.worker import METRICS, ROWS_PER_NOTICE, hand_over, serve_worker
from herma.store import Coordinator, Farewell, MemoryStore, Notice
from herma.store.messages import encode
from support.gate import Gate
from support.inside import PATIENCE_S, Lines, start_of, until
from support.raw import Connection, Ended, Talk
from support.shared_state import Clock
from support.upstream import Hold, RecordingUpstream, sse_answer

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}],"stream":true}'


class Working:
    """A worker in this process and the hub's side of its line."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.log = Lines()
        self.store = MemoryStore(Clock())
        self.notices: list[Notice] = []
        self.recent = Recent(Tally())
        self.heard = Heard(self.recent)
        self.coordinator = Coordinator(self.store, self._hear)
        self.hub_side, self.worker_side = socket.socketpair()
        self.worker_side.setblocking(False)
        self.attending: asyncio.Task[Farewell]

    async def ask(self, method: str, target: str, **parts: Any) -> Talk:
        return await asyncio.to_thread(self.gate.ask, method, target, **parts)

    def _hear(self, name: str, notice: Notice) -> None:
        if notice.topic == ACTIVITY:
            self.heard.hear(name, notice.payload)
        else:
            self.notices.append(notice)

    def counted(self) -> dict[tuple[str, ...], float]:
        """Add up what the worker has handed over."""
        tally = Tally()
        for notice in self.notices:
            assert notice.topic == METRICS
            tally.merge((tuple(key), amount) for key, amount in notice.payload[1])
        return dict(tally.sums)


@asynccontextmanager
async def _working(gate: Gate) -> AsyncIterator[Working]:
    working = Working(gate)
    start = start_of(gate, working.log)
    start.admin.sock.close()
    async with asyncio.TaskGroup() as group:
        working.attending = group.create_task(working.coordinator.attend("worker-0", working.hub_side))
        worker = group.create_task(serve_worker(start, working.worker_side))
        await until(lambda: bool(working.coordinator.workers))
        await until(lambda: _handled(signal.SIGHUP))
        yield working
        working.attending.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await worker


@pytest.fixture
async def working(gate: Gate) -> AsyncIterator[Working]:
    async with _working(gate) as working:
        yield working


def _handled(number: signal.Signals) -> bool:
    return callable(signal.getsignal(number))


def _send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


async def test_it_serves_and_takes_its_slots_from_the_hub(
    working: Working, upstream: RecordingUpstream
) -> None:
    """A turn takes its slot where all workers take theirs, and gives it back there."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    with await asyncio.to_thread(Connection, working.gate.port) as stream:
        stream.send(working.gate.message("POST", CHAT, key="admin", body=HELLO))
        await asyncio.to_thread(stream.read_until, b"data: {}")
        assert working.store.slots_taken == 1
        hold.release()
        talk = await asyncio.to_thread(stream.talk)
        assert talk.first.complete
    await until(lambda: working.store.slots_taken == 0)


async def test_it_reports_its_counts_and_connections(working: Working) -> None:
    """What one worker counted is not lost to whoever asks the gate as a whole."""
    with await asyncio.to_thread(Connection, working.gate.port):
        assert (await working.ask("GET", "/v1/models", key="admin")).status == 200
        await until(lambda: ("exchanges", "models.read", "200", "answered") in working.counted())
        await until(lambda: any(notice.payload[0] >= 1 for notice in working.notices))
    await until(lambda: working.notices[-1].payload[0] == 0)
    assert working.counted()["exchanges", "models.read", "200", "answered"] == 1


async def test_it_tells_what_is_under_way_and_what_was_refused(
    working: Working, upstream: RecordingUpstream
) -> None:
    """By the name of the key and of the route; when it is over it is not told any more."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    with await asyncio.to_thread(Connection, working.gate.port) as stream:
        stream.send(working.gate.message("POST", CHAT, key="admin", body=HELLO))
        await asyncio.to_thread(stream.read_until, b"data: {}")
        await until(lambda: working.heard.under_way()[0] == 1)
        ((told,),) = working.heard.under_way()[1:]
        assert (told.who, told.route, told.kind) == ("admin", CHAT, "answer under way")
        hold.release()
        await asyncio.to_thread(stream.talk)
    assert (await working.ask("GET", "/v1/models")).status == 401
    await until(lambda: working.heard.under_way() == (0, ()))
    await until(lambda: len(working.recent.refusals()) == 1)
    assert working.recent.refusals()[0].code == "herma.auth.required"


async def test_its_last_counts_arrive(gate: Gate) -> None:
    """What was counted between the last report and the end is reported too."""
    async with _working(gate) as working:
        for _ in range(3):
            assert (await working.ask("GET", "/v1/models", key="admin")).status == 200
        _send(CHILD_STOP)
        await until(lambda: not working.coordinator.workers)
        assert working.counted()["exchanges", "models.read", "200", "answered"] == 3


class Line:
    """A line to the hub that takes so many reports, then none."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.sent: list[list[Any]] = []
        self.connections = 7

    def notify(self, topic: str, payload: list[Any]) -> bool:
        assert topic == METRICS
        encode(Notice(topic, payload))
        if len(self.sent) >= self.room:
            return False
        self.sent.append(payload)
        return True


def _counting(series: int) -> Tally:
    tally = Tally()
    for number in range(series):
        tally.count("auth_failures" * 4, f"{number:064}")
    return tally


@pytest.mark.parametrize(
    ("series", "reports"),
    [(0, 1), (1, 1), (ROWS_PER_NOTICE, 1), (ROWS_PER_NOTICE + 1, 2), (3 * ROWS_PER_NOTICE, 3)],
)
def test_a_report_is_cut_into_messages(series: int, reports: int) -> None:
    """Each message fits, no row is left out, and without rows the connections are told all the same."""
    line, tally = Line(10), _counting(series)
    hand_over(line, tally, line)
    assert [len(payload[1]) <= ROWS_PER_NOTICE for payload in line.sent] == [True] * reports
    assert sum(len(payload[1]) for payload in line.sent) == series
    assert {payload[0] for payload in line.sent} == {7}
    assert tally.sums == {}


def test_what_cannot_be_sent_is_counted_at_the_next_try() -> None:
    """A hub that does not read for a while loses nothing."""
    line, tally = Line(1), _counting(2 * ROWS_PER_NOTICE + 1)
    hand_over(line, tally, line)
    assert len(tally.sums) == ROWS_PER_NOTICE + 1
    line.room = 10
    hand_over(line, tally, line)
    assert sum(len(payload[1]) for payload in line.sent) == 2 * ROWS_PER_NOTICE + 1
    assert tally.sums == {}


async def test_asked_to_stop_it_drains(working: Working, upstream: RecordingUpstream) -> None:
    """The parent's signal lets a stream end; SIGTERM and SIGINT are not for it."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    with await asyncio.to_thread(Connection, working.gate.port) as stream:
        stream.send(working.gate.message("POST", CHAT, key="admin", body=HELLO))
        await asyncio.to_thread(stream.read_until, b"data: {}")
        assert not _handled(signal.SIGTERM)
        _send(CHILD_STOP)
        assert (await working.ask("POST", CHAT, key="admin", body=HELLO)).status == 503
        hold.release()
        assert (await asyncio.to_thread(stream.talk)).first.complete
    await until(lambda: not working.coordinator.workers)


async def test_without_its_hub_it_ends(working: Working, upstream: RecordingUpstream) -> None:
    """No limit would hold any more, so what is open is cut and the process ends."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
    with await asyncio.to_thread(Connection, working.gate.port) as stream:
        stream.send(working.gate.message("POST", CHAT, key="admin", body=HELLO))
        await asyncio.to_thread(stream.read_until, b"data: {}")
        working.attending.cancel()
        assert await asyncio.to_thread(stream.read_to_end) is not Ended.OPEN
        assert not stream.received.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("how", ["signal", "file"])
async def test_it_reads_its_configuration_again(working: Working, how: str) -> None:
    """On a signal or by itself, a worker takes the new rules."""
    working.gate.config["strict"] = True
    working.gate.write_config(working.gate.config)
    if how == "signal":
        _send(signal.SIGHUP)

    async def refused() -> bool:
        return b"herma." in (await working.ask("GET", "/v1/unheard-of", key="admin")).received

    await until(refused)
    assert "config.reloaded" in working.log.events()
