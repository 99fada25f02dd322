"""The process that keeps the state of several workers; the test plays the parent and the workers."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from herma.policy.routing.route import Turn
from herma.runtime.activity import ACTIVITY
from herma.runtime.hub import serve_hub
from herma.runtime.signals import CHILD_STOP
from herma.runtime.worker import METRICS
from herma.store import Ask, Full, Lease, RemoteStore
from support.gate import Gate
from support.inside import PATIENCE_S, Lines, start_of, until


class Hub:
    """A hub in this process."""

    def __init__(self, gate: Gate, parent: socket.socket) -> None:
        self.gate = gate
        self.parent = parent
        self.log = Lines()
        self.stops = 0
        self.task: asyncio.Task[None]

    def stop_all(self) -> None:
        self.stops += 1

    async def worker(self, name: str) -> RemoteStore:
        """Connect one worker as the parent does."""
        ours, theirs = socket.socketpair()
        socket.send_fds(self.parent, [name.encode()], [ours.fileno()])
        ours.close()
        theirs.setblocking(False)
        return await RemoteStore.connect(theirs, wait_s=60)

    async def status(self) -> Any:
        return (await asyncio.to_thread(self.gate.admin, "/status")).json()

    async def ended(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.task

    async def connected(self, count: int) -> None:
        async def so_many() -> bool:
            return bool((await self.status())["workers"]["connected"] == count)

        await until(so_many)


@pytest.fixture
async def hub(gate: Gate) -> AsyncIterator[Hub]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        hub = Hub(gate, ours)
        start = start_of(gate, hub.log)
        for bound in start.listeners:
            bound.sock.close()
        async with asyncio.TaskGroup() as group:
            hub.task = group.create_task(serve_hub(start, theirs, hub.stop_all))
            await until(lambda: callable(signal.getsignal(signal.SIGHUP)))
            yield hub
            ours.close()
            await hub.ended()


async def test_workers_share_one_store(hub: Hub) -> None:
    """What one worker takes, another cannot have."""
    first, second = await hub.worker("worker-0"), await hub.worker("worker-1")
    await hub.connected(2)
    assert isinstance(await first.admit(Ask("laptop", Turn.OPEN, 1)), Lease)
    assert isinstance(await second.admit(Ask("laptop", Turn.OPEN, 1)), Full)
    status = await hub.status()
    assert status["busy"]["slots_taken"] == 1
    assert status["ready"] is True
    first.close()
    second.close()


async def test_a_worker_that_is_gone_gives_its_slots_back(hub: Hub) -> None:
    """Its death is seen at once, its slots and connections are not counted any more."""
    first, second = await hub.worker("worker-0"), await hub.worker("worker-1")
    assert isinstance(await first.admit(Ask("laptop", Turn.OPEN, 1)), Lease)
    first.notify(METRICS, [5, []])
    second.notify(METRICS, [2, []])

    async def connections() -> int:
        return int((await hub.status())["busy"]["connections"])

    async def are(wanted: int) -> None:
        async def so_many() -> bool:
            return await connections() == wanted

        await until(so_many)

    await are(7)
    first.close()
    await hub.connected(1)
    await are(2)
    assert isinstance(await second.admit(Ask("laptop", Turn.OPEN, 1)), Lease)
    second.close()


async def test_the_console_shows_what_workers_tell(hub: Hub) -> None:
    """Refusals and what is under way; the latter goes with its worker."""
    worker = await hub.worker("worker-0")
    someone = ["alice", "chat.terminal", "/api/pty", "socket", 1.0, ""]
    refused = [
        "00000000000000aa",
        1.0,
        "bob",
        "POST",
        "/api/mcp",
        "mcp.write",
        403,
        "herma.mcp.x",
        "No.",
        [],
        "",
    ]
    worker.notify(ACTIVITY, ["open", 1, [someone]])
    worker.notify(ACTIVITY, ["refused", [refused]])

    async def page() -> str:
        asked = partial(
            hub.gate.admin, "/console", headers={"Authorization": f"Bearer {hub.gate.keys['admin']}"}
        )
        return (await asyncio.to_thread(asked)).body.decode()

    async def all_told() -> bool:
        told = await page()
        return "alice" in told and "herma.mcp.x" in told

    await until(all_told)
    worker.close()
    await hub.connected(0)

    async def gone() -> bool:
        return "alice" not in await page()

    await until(gone)
    assert "herma.mcp.x" in await page()


async def test_no_worker_is_not_ready(hub: Hub) -> None:
    """As long as nobody serves, nobody is told that somebody does."""

    async def no_worker() -> bool:
        answer = await asyncio.to_thread(hub.gate.admin, "/readyz")
        return answer.status == 503 and answer.json()["reason"] == "no worker is up"

    await until(no_worker)


async def test_counts_of_workers_add_up(hub: Hub) -> None:
    """The metrics page is of the gate as a whole, and keeps what a worker counted that is gone."""
    first, second = await hub.worker("worker-0"), await hub.worker("worker-1")
    first.notify(METRICS, [0, [[["events", "auth_failures", "expired"], 2]]])
    second.notify(METRICS, [0, [[["events", "auth_failures", "expired"], 3.0], [["redactions"], 1]]])
    await hub.connected(2)
    for worker in (first, second):
        assert await worker.owner("run", "none") is None
        worker.close()
    await hub.connected(0)
    found = await asyncio.to_thread(hub.gate.metrics)
    assert found['herma_events_total{event="auth_failures",label="expired"}'] == 5
    assert found["herma_redactions_total"] == 1


MALFORMED: dict[str, tuple[str, Any]] = {
    "topic": ("become_admin", None),
    "no list": (METRICS, 5),
    "connections": (METRICS, ["many", []]),
    "rows": (METRICS, [0, 5]),
    "row": (METRICS, [0, [5]]),
    "key": (METRICS, [0, [["events", 1]]]),
    "amount": (METRICS, [0, [[["events"], "1"]]]),
    "activity": (ACTIVITY, ["open", "many", []]),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_a_worker_that_makes_no_sense_is_cut_off(hub: Hub, case: str) -> None:
    """What is no report ends the line; the hub goes on for the others."""
    lost = asyncio.Event()
    ours, theirs = socket.socketpair()
    socket.send_fds(hub.parent, [b"worker-0"], [ours.fileno()])
    ours.close()
    theirs.setblocking(False)
    broken = await RemoteStore.connect(theirs, on_lost=lost.set)
    broken.notify(*MALFORMED[case])
    await until(lost.is_set)
    worker = await hub.worker("worker-0")
    assert await worker.owner("run", "none") is None
    worker.close()


async def test_asked_to_drain_it_is_not_ready_and_keeps_the_state(hub: Hub) -> None:
    """Workers that drain still need their store; the second request ends it."""
    worker = await hub.worker("worker-0")
    os.kill(os.getpid(), CHILD_STOP)

    async def draining() -> bool:
        return bool((await hub.status())["stage"] == "draining")

    await until(draining)
    assert (await asyncio.to_thread(hub.gate.admin, "/readyz")).json()["reason"] == "draining"
    assert isinstance(await worker.admit(Ask("laptop", Turn.OPEN, 1)), Lease)
    os.kill(os.getpid(), CHILD_STOP)
    await hub.ended()
    worker.close()


async def test_it_ends_with_its_parent(hub: Hub) -> None:
    """Without a parent nobody would start workers again, or stop them: a hub alone does not stay."""
    lost = asyncio.Event()
    ours, theirs = socket.socketpair()
    socket.send_fds(hub.parent, [b"worker-0"], [ours.fileno()])
    ours.close()
    theirs.setblocking(False)
    await RemoteStore.connect(theirs, on_lost=lost.set)
    await hub.connected(1)
    hub.parent.close()
    await hub.ended()
    await until(lost.is_set)


async def test_drain_asked_for_by_an_operator_is_passed_to_the_parent(hub: Hub) -> None:
    """The parent stops everybody, the hub included."""
    assert (await asyncio.to_thread(hub.gate.admin, "/drain", "POST")).status == 202
    assert hub.stops == 1
    assert (await hub.status())["stage"] == "serving"


async def test_it_reads_its_configuration_again(hub: Hub) -> None:
    """Limits that it shows, throttles and the drain follow the file."""
    hub.gate.config["limits"]["max_concurrent_runs"] = 7
    hub.gate.config["auth"]["failures"] = {"free_attempts": 0, "base_delay_s": 60, "max_delay_s": 60}
    hub.gate.write_config(hub.gate.config)
    os.kill(os.getpid(), signal.SIGHUP)

    async def applied() -> bool:
        return bool((await hub.status())["busy"]["slots"] == 7)

    await until(applied)
    worker = await hub.worker("worker-0")
    assert await worker.failed(("address:192.0.2.7",)) > 10
    worker.close()
