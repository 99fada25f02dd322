"""Several workers, each a process of its own, and the parent that holds them together."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest

from support.gate import ROOT, Gate
from support.raw import Connection, Ended
from support.upstream import Hold, RecordingUpstream, json_answer, sse_answer

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}],"stream":true}'
WORKERS = 2
# Processes start and end in a fraction of a second; a busy machine needs patience.
PATIENCE_S = 30.0


def _until(condition: Callable[[], bool]) -> None:
    """Ask until it holds; each question is a look at other processes, so this never spins for free."""
    deadline = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < deadline, "it did not come to pass"
        os.sched_yield()


@pytest.fixture
def fleet(tmp_path: Path, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate with two workers and two slots."""
    overrides = {"workers": WORKERS, "limits": {"max_concurrent_runs": 2}, "drain_timeout_s": 60}
    with Gate(tmp_path / "fleet", upstream.url, overrides) as running:
        _until(lambda: _connected(running) == WORKERS)
        yield running


def _connected(gate: Gate) -> int:
    return int(gate.admin("/status").json()["workers"]["connected"])


def _named(gate: Gate, name: str) -> list[int]:
    return [
        child
        for child in gate.children()
        if Path(f"/proc/{child}/comm").read_text().strip() == f"herma-{name}"
    ]


def _gone(processes: list[int]) -> bool:
    def alive(process: int) -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return not any(alive(process) for process in processes)


def _held_sockets(process: int) -> set[str]:
    held = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if target.startswith("socket:"):
            held.add(target)
    return held


def _opened_streams(
    gate: Gate, upstream: RecordingUpstream, stack: ExitStack, count: int
) -> list[tuple[Connection, Hold]]:
    opened = []
    for _ in range(count):
        hold = Hold()
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
        stream = stack.enter_context(Connection(gate.port))
        stream.send(gate.message("POST", CHAT, key="admin", body=HELLO))
        stream.read_until(b"data: {}")
        opened.append((stream, hold))
    upstream.on("POST", CHAT, json_answer({"ok": True}))
    return opened


def test_workers_share_one_port_and_are_told_apart_from_the_hub(fleet: Gate) -> None:
    """Every worker takes connections, and a process list shows who is who."""
    workers, hub = _named(fleet, "worker"), _named(fleet, "hub")
    assert (len(workers), len(hub)) == (WORKERS, 1)
    with ThreadPoolExecutor(8) as pool:

        def both_take_some() -> bool:
            # Whoever is awake first may take all that come at once.
            with ExitStack() as stack:
                for connection in pool.map(lambda _: Connection(fleet.port), range(64)):
                    stack.enter_context(connection)
                return fleet.workers() == workers

        _until(both_take_some)
    assert fleet.admin("/status").json()["workers"] == {"configured": WORKERS, "connected": WORKERS}


def test_no_process_holds_what_is_another_ones(fleet: Gate) -> None:
    """Workers share the listener alone; the hub holds no listener, and no worker the admin's.

    A line held by two processes would hide the death of one, and a listener held by one that does not accept would
    keep callers waiting.
    """
    first, second = (_held_sockets(worker) for worker in _named(fleet, "worker"))
    (hub,) = (_held_sockets(process) for process in _named(fleet, "hub"))
    parent = _held_sockets(fleet.process.pid)
    listener = first & second
    assert len(listener) == 1
    assert listener <= parent
    assert not listener & hub
    admin = parent & hub
    assert len(admin) == 1
    assert not admin & (first | second)
    assert not (first - listener) & (hub | parent)
    assert not (second - listener) & (hub | parent)


def test_a_killed_worker_gives_its_slots_back_and_is_replaced(
    fleet: Gate, upstream: RecordingUpstream
) -> None:
    """What died with it is free for others, and there are as many workers as before."""
    with ExitStack() as stack:
        _opened_streams(fleet, upstream, stack, 2)
        assert fleet.ask("POST", CHAT, key="admin", body=HELLO).status == 429
        before = _named(fleet, "worker")
        for worker in fleet.workers():
            os.kill(worker, signal.SIGKILL)
        _until(lambda: fleet.admin("/status").json()["busy"]["slots_taken"] == 0)
    _until(lambda: _connected(fleet) == WORKERS)
    assert _named(fleet, "worker") != before
    assert fleet.ask("POST", CHAT, key="admin", body=HELLO).status == 200
    assert "starting another" in fleet.stderr()


def test_without_the_hub_everything_ends(fleet: Gate) -> None:
    """No limit would hold without the shared state: nothing serves on, and the exit code says that it failed."""
    children = fleet.children()
    (hub,) = _named(fleet, "hub")
    os.kill(hub, signal.SIGKILL)
    assert fleet.wait_ended() == 1
    assert _gone(children)
    assert "the process that keeps the shared state ended" in fleet.stderr()
    with pytest.raises(OSError):
        fleet.ask("GET", "/v1/models", key="admin")


def test_without_the_parent_everything_ends(fleet: Gate) -> None:
    """Nobody would replace a dead worker or pass a signal on: children do not stay behind and hold the port."""
    children = fleet.children()
    fleet.signal(signal.SIGKILL)
    fleet.wait_ended()
    _until(lambda: _gone(children))


def test_a_reload_reaches_every_worker(fleet: Gate) -> None:
    """After SIGHUP no worker goes by the old scopes, and the readout shows the new file."""
    before = fleet.admin("/status").json()["config"]["digest"]
    (reader,) = (key for key in fleet.config["auth"]["keys"] if key["name"] == "reader")
    reader["scopes"] = ["cron"]
    fleet.write_config(fleet.config)
    fleet.signal(signal.SIGHUP)
    _until(lambda: fleet.admin("/status").json()["config"]["digest"] != before)

    def seen() -> set[int]:
        return {fleet.ask("GET", "/v1/models", key="reader").status for _ in range(40)}

    # The signal and the look at files may each make a process read it: no count of notes says that all have.
    _until(lambda: seen() == {403})
    assert seen() == {403}


def test_sigterm_drains_every_worker(fleet: Gate, upstream: RecordingUpstream) -> None:
    """Streams come to their end wherever they are, new turns are refused, and the gate ends well."""
    with ExitStack() as stack:
        opened = _opened_streams(fleet, upstream, stack, 2)
        fleet.signal(signal.SIGTERM)
        _until(lambda: fleet.admin("/readyz").status == 503)
        _until(lambda: fleet.ask("POST", CHAT, key="admin", body=HELLO).status == 503)
        assert fleet.process.poll() is None
        for stream, hold in opened:
            hold.release()
            talk = stream.talk()
            assert talk.first.complete
            assert b"[DONE]" in talk.first.body
    assert fleet.wait_ended() == 0


def test_a_signal_for_the_whole_group_drains_once(fleet: Gate, upstream: RecordingUpstream) -> None:
    """A terminal's Ctrl-C and a service manager's SIGTERM reach every process, and still mean one request."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    with Connection(fleet.port) as stream:
        stream.send(fleet.message("POST", CHAT, key="admin", body=HELLO))
        stream.read_until(b"data: {}")
        for process in (*fleet.children(), fleet.process.pid):
            os.kill(process, signal.SIGINT)
        _until(lambda: fleet.admin("/readyz").status == 503)
        hold.release()
        talk = stream.talk()
    assert talk.first.complete
    assert b"[DONE]" in talk.first.body
    assert fleet.wait_ended() == 0


def test_a_second_signal_ends_everything_at_once(fleet: Gate, upstream: RecordingUpstream) -> None:
    """What is still open is broken off, and nothing is left behind."""
    children = fleet.children()
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
    with Connection(fleet.port) as stream:
        stream.send(fleet.message("POST", CHAT, key="admin", body=HELLO))
        stream.read_until(b"data: {}")
        fleet.signal(signal.SIGTERM)
        _until(lambda: fleet.admin("/readyz").status == 503)
        fleet.signal(signal.SIGTERM)
        assert stream.read_to_end() is not Ended.OPEN
        assert not stream.received.endswith(b"0\r\n\r\n")
    assert fleet.wait_ended() == 0
    assert _gone(children)


def test_drain_over_the_admin_listener_stops_all(fleet: Gate) -> None:
    """The hub has the parent stop everybody."""
    assert fleet.admin("/drain", "POST").status == 202
    assert fleet.wait_ended() == 0


def test_counts_of_all_workers_are_one(fleet: Gate) -> None:
    """Whichever worker served a request, the metrics page has it."""
    for _ in range(20):
        assert fleet.ask("GET", "/v1/models", key="admin").status == 200
    key = 'herma_exchanges_total{operation="models.read",outcome="answered",status="200"}'
    _until(lambda: fleet.metrics().get(key) == 20)
    assert len(fleet.audit()) == 20


def test_a_child_that_fails_says_why() -> None:
    """A process that ends by an error leaves its traceback, and an exit code that is not 0."""
    program = "from herma.runtime.fleet import _child; _child('worker', lambda: 1 / 0)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "proxy")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environ,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
