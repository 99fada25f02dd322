"""The egress side fails: nothing goes out meanwhile, the ingress side goes on, and the operator is told why."""

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.certificates import make_authority
from support.egress import EgressGate
from support.network import named, own_network, public
from support.upstream import RecordingUpstream

pytestmark = pytest.mark.e2e
COLLECTOR = "notes.example"
# How the kernel writes the state of a socket that listens.
LISTENING = "0A"


@dataclass(frozen=True, slots=True)
class World:
    """A host to send notes to, an agent server, and how a gate is made."""

    directory: Path
    root: str
    launcher: tuple[str, ...]
    notes: RecordingUpstream
    agent: RecordingUpstream

    def gate(self, name: str) -> EgressGate:
        """Make a gate."""
        return EgressGate(self.directory / name, self.agent.url, ca_file=self.root, launcher=self.launcher)

    def send(self, environ: dict[str, str]) -> int:
        """Send an innocent note the way that the variables say; return curl's exit code."""
        command = ["curl", "-sS", "-f", "-m", "5", "--data-binary", "plain words", f"http://{COLLECTOR}/note"]
        done = subprocess.run(
            command, env={"PATH": os.environ["PATH"], **environ}, capture_output=True, check=False
        )
        return done.returncode


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """All of it but the gate, in a network of its own."""
    directory = tmp_path_factory.mktemp("failures")
    with own_network():
        root = make_authority(directory, "world")
        launcher = named(directory, {COLLECTOR: public(66)})
        with RecordingUpstream(address=public(66), port=80) as notes, RecordingUpstream() as agent:
            notes.on("POST", "/note", _thanks())
            yield World(directory, root.path, launcher, notes, agent)


def _thanks() -> list[bytes]:
    return [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]


def _egress_process(gate: EgressGate) -> int:
    """Find the process that listens where the agent connects."""
    rows = [line.split() for line in Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]]
    wanted = {
        f"socket:[{row[9]}]"
        for row in rows
        if row[3] == LISTENING and row[1].endswith(f":{gate.egress_port:04X}")
    }
    for child in gate.children():
        for descriptor in Path(f"/proc/{child}/fd").iterdir():
            if str(descriptor.readlink()) in wanted:
                return child
    raise AssertionError("no child of the gate listens there")


def test_nothing_goes_out_while_it_is_down(world: World) -> None:
    """A killed egress process takes the way out with it, and only that; it comes back by itself."""
    with world.gate("killed") as gate:
        gate.wait_egress()
        environ = gate.environ()
        assert world.send(environ) == 0
        world.notes.wait(1)
        world.notes.forget()
        os.kill(_egress_process(gate), signal.SIGKILL)
        gate.wait_egress(up=False)
        assert world.send(environ) != 0
        world.notes.assert_untouched()
        assert gate.ask("GET", "/v1/models", key="admin").status == 200
        said = gate.wait_egress()
        assert said["restarts"] == 1
        world.notes.on("POST", "/note", _thanks())
        assert world.send(environ) == 0
        assert "starting it again" in gate.stderr()


@pytest.mark.parametrize("fault", ["garbage", "readable by all", "writable directory"])
def test_an_authority_that_cannot_be_used(world: World, fault: str) -> None:
    """Without its authority the egress side stays down and says why; the ingress side serves."""
    name = fault.replace(" ", "-")
    with world.gate(name) as gate:
        gate.wait_egress()
        environ = gate.environ()
    pair = gate.state / "mitmproxy-ca.pem"
    if fault == "garbage":
        pair.write_text("no certificate at all\n")
    elif fault == "readable by all":
        pair.chmod(0o644)
    else:
        gate.state.chmod(0o777)
    world.notes.forget()
    with gate:
        said = gate.wait_egress(up=False, after=1)
        assert str(gate.state) in said["reason"], said
        assert world.send(environ) != 0
        world.notes.assert_untouched()
        assert gate.ask("GET", "/v1/models", key="admin").status == 200
