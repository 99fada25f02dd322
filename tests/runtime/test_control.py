"""What the gate shows of itself."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator

import pytest

from herma import __version__
from herma.policy.limits.lifecycle import Event, Lifecycle
from herma.policy.routing.route import Turn
from herma.runtime.audit import AuditLog
from herma.runtime.control import Control
from herma.runtime.egress import EgressGate
from herma.runtime.generation import build
from herma.runtime.reload import Reloader
from herma.runtime.tally import Tally
from herma.store import Ask, Lease, MemoryStore
from support.gate import Gate
from support.inside import Lines, start_of, until
from support.shared_state import Clock
from support.upstream import RecordingUpstream, detailed_health, json_answer


class Controlled:
    """A control plane without a data plane; the test sets what it would be told."""

    def __init__(self, gate: Gate) -> None:
        self.log = Lines()
        start = start_of(gate, self.log)
        for bound in start.sockets:
            bound.sock.close()
        self.workers = 1
        self.store = MemoryStore(Clock())
        self.lifecycle = Lifecycle(30)
        self.generations = build(start.settings, start.content)
        self.reloader = Reloader(start, self._apply)
        self.control = Control(
            current=lambda: self.generations,
            store=self.store,
            tally=Tally(),
            lifecycle=self.lifecycle,
            reloader=self.reloader,
            log=self.log,
            connections=lambda: 5,
            workers=lambda: self.workers,
            egress=EgressGate(start, AuditLog(os.devnull), Tally()),
        )

    async def _apply(self, _generation: object) -> None:
        pass


@pytest.fixture
async def controlled(gate: Gate) -> AsyncIterator[Controlled]:
    controlled = Controlled(gate)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(controlled.control.run())
        yield controlled
        task.cancel()
    await controlled.generations.close()


async def _metrics(controlled: Controlled) -> dict[str, float]:
    lines = (await controlled.control.metrics()).decode().splitlines()
    return {line.split('"')[1]: float(line.split()[-1]) for line in lines if line.startswith("herma_state{")}


async def test_it_is_ready_when_all_parts_are(controlled: Controlled, upstream: RecordingUpstream) -> None:
    """Not before the upstream answered, not without a worker, and not any more once it drains."""
    assert controlled.control.ready() == (False, "not asked yet")
    await until(lambda: controlled.control.ready() == (True, ""))
    controlled.workers = 0
    assert controlled.control.ready() == (False, "no worker is up")
    controlled.workers = 1
    controlled.lifecycle.handle(Event.STOP_ASKED, 0.0)
    assert controlled.control.ready() == (False, "draining")


async def test_an_upstream_that_is_down_is_the_reason(gate: Gate, upstream: RecordingUpstream) -> None:
    """An operator reads why the gate is not ready."""
    upstream.refuse_connections()
    controlled = Controlled(gate)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(controlled.control.run())
        await until(lambda: "connect" in controlled.control.ready()[1])
        assert not controlled.control.ready()[0]
        task.cancel()
    upstream.listen_again()


async def test_status_shows_what_is_busy(controlled: Controlled, upstream: RecordingUpstream) -> None:
    """Slots, runs with their key, connections, workers and the upstream are in one document."""
    upstream.on("GET", "/health/detailed", json_answer(detailed_health(0)))
    lease = await controlled.store.admit(Ask("laptop", Turn.BACKGROUND, 10))
    assert isinstance(lease, Lease)
    await controlled.store.attach(lease.id, "default/run_1")
    await until(lambda: controlled.control.ready()[0])
    status = await controlled.control.status()
    assert status["version"] == __version__
    assert (status["stage"], status["ready"], status["reason"]) == ("serving", True, "")
    assert status["busy"] == {
        "slots_taken": 1,
        "slots": 100,
        "runs": [{"run_id": "run_1", "upstream": "default", "key": "laptop", "age_s": 0.0}],
        "connections": 5,
    }
    assert status["workers"] == {"configured": 1, "connected": 1}
    assert status["upstreams"][0]["url"] == upstream.url
    assert status["upstreams"][0]["up"] is True
    assert {"name": "scheduler", "scopes": ["cron"], "group": ""} in status["keys"]
    assert status["egress"] == {"configured": False}
    assert status["config"]["digest"] == controlled.reloader.settings.digest


async def test_a_refused_reload_shows(controlled: Controlled, gate: Gate) -> None:
    """The status holds every problem of the file that was not taken, the metrics that there is one."""
    await until(lambda: controlled.control.ready()[0])
    assert (await _metrics(controlled))["reload_failed"] == 0
    gate.write_config("nonsense: 1\n")
    await controlled.reloader.reload()
    assert "nonsense" in (await controlled.control.status())["config"]["last_reload_failed"]
    assert (await _metrics(controlled))["reload_failed"] == 1


async def test_a_changed_file_is_noticed(controlled: Controlled, gate: Gate) -> None:
    """Nobody has to send a signal."""
    gate.config["limits"]["max_concurrent_runs"] = 7
    gate.write_config(gate.config)
    await until(lambda: controlled.reloader.settings.limits.max_concurrent_runs == 7)
    assert (await controlled.control.status())["busy"]["slots"] == 7


async def test_readings_are_those_of_the_moment(controlled: Controlled) -> None:
    """The metrics follow the store, the upstream and the stage."""
    await until(lambda: controlled.control.ready()[0])
    assert await _metrics(controlled) == {
        "slots_taken": 0,
        "slots": 100,
        "connections": 5,
        "workers": 1,
        "draining": 0,
        "reload_failed": 0,
    }
    await controlled.store.admit(Ask("laptop", Turn.OPEN, 10))
    controlled.lifecycle.handle(Event.STOP_ASKED, 0.0)
    readings = await _metrics(controlled)
    assert (readings["slots_taken"], readings["draining"]) == (1, 1)


async def test_a_door_beside_the_gate_is_said_loudly(gate: Gate) -> None:
    """An upstream that listens on more than loopback shows in the log, on the status and in the metrics."""
    with RecordingUpstream(address="0.0.0.0") as exposed:
        gate.config["upstream"]["url"] = f"http://127.0.0.1:{exposed.port}"
        gate.write_config(gate.config)
        controlled = Controlled(gate)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(controlled.control.run())
            await until(lambda: "upstream.exposed" in controlled.log.events())
            assert "WARNING" in controlled.log.text()
            assert "0.0.0.0" in controlled.log.text()
            assert (await controlled.control.status())["upstreams"][0]["exposed"] == ["0.0.0.0"]
            assert (
                b'herma_upstream{reading="exposed",upstream="default"} 1.0'
                in await controlled.control.metrics()
            )
            task.cancel()
        await controlled.generations.close()


async def _exposed(gate: Gate, url: str, listen: str, beside: str) -> list[str]:
    """Return what is reported while something listens on the gate's port beside or instead of it."""
    gate.config["listen"] = [{"address": f"{listen}:{gate.port}"}]
    gate.config["upstream"]["url"] = url.format(port=gate.port)
    gate.write_config(gate.config)
    controlled = Controlled(gate)
    with socket.create_server((beside, gate.port)):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(controlled.control.run())
            # The first look waits for nothing.
            for _ in range(10):
                await asyncio.sleep(0)
            status = await controlled.control.status()
            task.cancel()
    found: list[str] = status["upstreams"][0]["exposed"]
    return found


@pytest.mark.parametrize(
    ("url", "listen", "beside", "exposed"),
    [
        ("unix:/run/agent.sock", "0.0.0.0", "0.0.0.0", []),
        ("http://127.0.0.1:{port}", "127.0.0.3", "127.0.0.1", []),
        ("http://127.0.0.1:{port}", "127.0.0.3", "0.0.0.0", ["0.0.0.0"]),
    ],
    ids=["socket", "loopback", "beside the gate"],
)
async def test_only_doors_beside_the_gate_are_reported(
    gate: Gate, url: str, listen: str, beside: str, exposed: list[str]
) -> None:
    """A unix socket has no address; a listener on all addresses is a door, also on a port the gate uses too."""
    assert await _exposed(gate, url, listen, beside) == exposed


async def test_the_gate_itself_is_no_door_beside_it(gate: Gate) -> None:
    """A public gate may use the port that its upstream uses on loopback."""
    own = _own_address()
    assert await _exposed(gate, "http://127.0.0.1:{port}", own, own) == []


def _own_address() -> str:
    """Return an address of this machine that others may reach; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has loopback only")
        return str(probe.getsockname()[0])


async def test_no_secret_is_shown(controlled: Controlled, gate: Gate) -> None:
    """Neither the callers' keys nor the upstream's are on any page."""
    await until(lambda: controlled.control.ready()[0])
    shown = json.dumps(await controlled.control.status()) + (await controlled.control.metrics()).decode()
    assert all(key not in shown for key in (*gate.keys.values(), gate.upstream_key))
