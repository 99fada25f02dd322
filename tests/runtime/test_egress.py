"""The egress gate's process is kept running. Played here by small programs; the real one is in `tests/e2e`."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from herma.runtime import egress as module
from herma.runtime.audit import AuditLog
from herma.runtime.egress import EgressGate
from herma.runtime.tally import Tally
from herma.wire import run
from support.gate import Gate
from support.inside import Lines, start_of, until

_HEAD = """
import os, signal, sys, time
from herma.egress.line import *

def say(message):
    sys.stdout.buffer.write(encode(message))
    sys.stdout.flush()

read_key(sys.stdin.buffer.readline())
"""
_ECHO = """
say(Ready("127.0.0.1:8645"))
say(Counts(3, 40))
for line in sys.stdin:
    say(Note("egress.heard", line.strip()))
"""


class Kept:
    """A supervisor with what it writes to."""

    def __init__(self, gate: Gate, program: str, command: Sequence[str] = ()) -> None:
        gate.config.setdefault("egress", {})
        gate.write_config(gate.config)
        self.log, self.tally = Lines(), Tally()
        start = start_of(gate, self.log)
        for bound in start.sockets:
            bound.sock.close()
        script = gate.directory / "egress.py"
        script.write_text(_HEAD + program)
        self.audit = AuditLog(str(gate.audit_path))
        self.egress = EgressGate(start, self.audit, self.tally, command or (sys.executable, str(script)))

    @property
    def up(self) -> bool:
        return bool(self.egress.status()["up"])

    @property
    def reason(self) -> str:
        return str(self.egress.status()["reason"])


@asynccontextmanager
async def keeping(gate: Gate, program: str, command: Sequence[str] = ()) -> AsyncIterator[Kept]:
    kept = Kept(gate, program, command)
    with kept.audit:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(kept.egress.run())
            yield kept
            task.cancel()


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(module, "MAX_PAUSE_S", 0.04)


async def test_what_it_says_is_written_down_and_counted(gate: Gate) -> None:
    """A line in the audit for each thing sent, counts and readings, and the state that operators see."""
    said = """
finding = Told("egress-secret", "high", "body", "T1041")
say(Sent("e1", 1700000000000, 5, (finding,), host="a.example", port=443, kind="other", method="POST", status=403,
         code="herma.egress.secret", outcome="denied", bytes_out=7))
say(Sent("e2", 1700000000001, 6, host="b.example", port=443, kind="model", method="CONNECT", status=200, redactions=2))
say(Failed("request", "ValueError"))
say(Failed("request", "ValueError"))
"""
    async with keeping(gate, said + _ECHO) as kept:
        assert not kept.up
        await until(lambda: kept.egress.status()["connections"] == 3)
        assert kept.egress.status() == {
            "configured": True,
            "up": True,
            "address": "127.0.0.1:8645",
            "reason": "",
            "restarts": 0,
            "connections": 3,
            "held_bytes": 40,
        }
        assert kept.egress.readings() == {"up": 1.0, "restarts": 0, "connections": 3, "held_bytes": 40}
    first, second = gate.audit()
    assert (first["direction"], first["class_uid"], first["disposition_id"]) == ("egress", 4002, 2)
    assert first["dst_endpoint"] == {"hostname": "a.example", "port": 443}
    assert first["rules"] == [{"id": "egress-secret", "level": "high", "place": "body", "attack": "T1041"}]
    assert (second["class_uid"], second["disposition_id"]) == (4001, 1)
    sums = kept.tally.sums
    assert sums["egress_requests", "other", "denied", "herma.egress.secret"] == 1
    assert sums["findings", "egress-secret"] == 1
    assert sums["egress_redactions",] == 2
    assert sums["egress_failed", "request", "ValueError"] == 2
    assert kept.log.events().count("egress.failed") == 1
    assert kept.egress.status()["up"] is False


async def test_it_hears_that_content_changed(gate: Gate) -> None:
    """The order to read again reaches the process; while it is down there is nobody to tell."""
    async with keeping(gate, _ECHO) as kept:
        kept.egress.reload()
        await until(lambda: kept.up)
        kept.egress.reload()
        await until(lambda: ("egress.heard", "egress gate: reload") in kept.log.lines)
    assert kept.log.events().count("egress.heard") == 1


async def test_one_that_is_killed_is_started_again(gate: Gate) -> None:
    """Its end is told and counted, and the next one is as good."""
    async with keeping(gate, 'say(Note("egress.pid", str(os.getpid())))' + _ECHO) as kept:
        await until(lambda: kept.up)
        pid = int(dict(kept.log.lines)["egress.pid"].rpartition(" ")[2])
        os.kill(pid, signal.SIGKILL)
        await until(lambda: kept.egress.status()["restarts"] == 1 and kept.up)
        assert any("ended with -9" in message for _, message in kept.log.lines)
        assert kept.reason == ""


async def test_one_that_cannot_start_says_why_and_is_asked_less_and_less(gate: Gate) -> None:
    """The reason is the last thing it said; the pauses grow up to a bound."""
    async with keeping(gate, 'say(Note("egress.ca", "others may read the key"))\nsys.exit(78)') as kept:
        await until(lambda: kept.egress.status()["restarts"] >= 4)
        assert kept.reason == "others may read the key"
        assert not kept.up
        kept.egress.reload()
    pauses = [message.rpartition(" in ")[2] for event, message in kept.log.lines if event == "egress.down"]
    assert pauses[:4] == ["0.01 s", "0.02 s", "0.04 s", "0.04 s"]


async def test_one_that_was_up_for_long_is_started_again_at_once(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A death now and then is not answered with a long pause."""
    monkeypatch.setattr(module, "STEADY_S", 0.0)
    async with keeping(gate, "sys.exit(3)") as kept:
        await until(lambda: kept.egress.status()["restarts"] >= 3)
        assert kept.reason == "it ended with 3"
    assert {message[-6:] for event, message in kept.log.lines if event == "egress.down"} == {"0.01 s"}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print('{}', flush=True); sys.stdin.read()", "no message"),
        ("print('x' * 200_000, flush=True); sys.stdin.read()", "no message"),
        ("os.write(1, b'half'); sys.exit(0)", "ended with 0"),
        ("sys.stdin.read()", "not ready in time"),
    ],
    ids=["no message", "too long", "half a line", "silent"],
)
async def test_one_that_is_not_itself_is_ended(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    """Whoever says what is no message, or nothing, is not trusted with what goes out."""
    monkeypatch.setattr(module, "READY_TIMEOUT_S", 0.5 if "silent" in reason or "time" in reason else 60.0)
    async with keeping(gate, program) as kept:
        await until(lambda: kept.egress.status()["restarts"] >= 1)
        assert reason in dict(kept.log.lines)["egress.down"]


async def test_a_program_that_is_not_there_is_a_reason_too(gate: Gate) -> None:
    """Nothing that befalls the egress gate ends the gate."""
    async with keeping(gate, "", ["/nowhere/python"]) as kept:
        await until(lambda: kept.egress.status()["restarts"] >= 2)
        assert "cannot be started: No such file" in kept.reason


async def test_it_does_not_outlive_the_gate(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not end when it is told to is ended."""
    monkeypatch.setattr(module, "STOP_TIMEOUT_S", 0.05)
    program = (
        'say(Note("egress.pid", str(os.getpid())))\nsay(Ready("127.0.0.1:1"))\nwhile True: time.sleep(60)'
    )
    async with keeping(gate, program) as kept:
        await until(lambda: kept.up)
    pid = int(dict(kept.log.lines)["egress.pid"].rpartition(" ")[2])
    assert not Path(f"/proc/{pid}").exists()


async def test_without_a_section_there_is_none(gate: Gate) -> None:
    """Nothing is started, and nothing shown but that."""
    start = start_of(gate)
    for bound in start.sockets:
        bound.sock.close()
    with AuditLog(os.devnull) as audit:
        egress = EgressGate(start, audit, Tally(), ["/nowhere/python"])
        await egress.run()
    assert (egress.status(), egress.readings()) == ({"configured": False}, {})
    egress.reload()


def test_it_inherits_no_socket_of_the_gate(gate: Gate) -> None:
    """No listener is open in it and no signal is blocked, also under the loop that the gate runs on."""
    program = """
links = []
for descriptor in os.listdir("/proc/self/fd"):
    try:
        links.append(os.readlink("/proc/self/fd/" + descriptor))
    except OSError:
        pass
say(Note("egress.open", " ".join(links)))
say(Note("egress.blocked", str(signal.pthread_sigmask(signal.SIG_BLOCK, []))))
say(Note("egress.session", str(os.getsid(0) == os.getpid())))
"""

    async def main() -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            async with keeping(gate, program + _ECHO) as kept:
                await until(lambda: kept.up)
            told = dict(kept.log.lines)
            assert "socket:" in told["egress.open"]
            assert f"socket:[{os.fstat(listener.fileno()).st_ino}]" not in told["egress.open"]
            assert told["egress.blocked"].endswith("set()")
            assert told["egress.session"].endswith("True")

    run(main())
