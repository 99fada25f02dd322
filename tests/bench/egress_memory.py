"""Measure what the egress gate holds in memory when a thousand connections are open.

    python tests/bench/egress_memory.py [--connections N]

Half of them are tunnels through whose TLS one request went, and which then say nothing; the other half are uploads of which one half
came and the rest does not. Their bodies together are more than may be held: who comes too late is refused. Everything is on loopback.
"""

import argparse
import resource
import socket
import ssl
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from process import memory_bytes

from herma.egress.line import Counts
from support.certificates import make_authority
from support.egress_process import Child, Neighbour, child, neighbour, ready
from support.http2 import all_of, tunnel

CONNECTIONS = 1000
BODY_BYTES = 256 * 1024
# Less than what the uploads say that they are.
ROOM_BYTES = 64 * 1024 * 1024
SETTLE_S = 3.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of the process before, with tunnels, with uploads, and when all are gone; the most that was held for bodies."""

    connections: int
    before: int
    tunnels: int
    uploads: int
    after: int
    held: int


def _quiet(started: Child, server: Neighbour, count: int) -> list[ssl.SSLSocket]:
    trusted, place = str(started.config.parent / "egress" / "ca.pem"), f"localhost:{server.port}"
    found = []
    for _ in range(count):
        sock = tunnel(started.port, place, trusted)
        sock.sendall(f"POST / HTTP/1.1\r\nHost: {place}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        all_of(sock)
        found.append(sock)
    return found


def _slow(started: Child, server: Neighbour, count: int) -> list[socket.socket]:
    place = f"127.0.0.1:{server.port}"
    head = f"POST http://{place}/ HTTP/1.1\r\nHost: {place}\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
    found = []
    for _ in range(count):
        sock = socket.create_connection(("127.0.0.1", started.port), 30)
        sock.sendall(head.encode() + b"a" * (BODY_BYTES // 2))
        found.append(sock)
    return found


def measure(connections: int) -> Memory:
    """Open, look, and close again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8 * connections), hard), hard))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        authority = make_authority(directory)
        pair = authority.issue("server", "dns:localhost", "ip:127.0.0.1")
        with neighbour(pair.serving()) as secured, neighbour() as clear:
            section = {
                "near": ["127.0.0.1", "[::1]"],
                "ca_file": authority.path,
                "max_buffered_bytes": ROOM_BYTES,
                "max_connections": 2 * connections,
            }
            with child(directory, section) as started:
                ready(started)
                hears = threading.Thread(target=started.hear, args=(type(None),), daemon=True)
                hears.start()
                pid = started.process.pid
                time.sleep(SETTLE_S)
                before = memory_bytes(pid)
                quiet = _quiet(started, secured, connections // 2)
                tunnels = memory_bytes(pid)
                slow = _slow(started, clear, connections - connections // 2)
                time.sleep(SETTLE_S)
                uploads = memory_bytes(pid)
                for sock in (*quiet, *slow):
                    sock.close()
                time.sleep(SETTLE_S)
                after = memory_bytes(pid)
                started.end()
                hears.join()
                held = max(message.held_bytes for message in started.said if isinstance(message, Counts))
    return Memory(connections, before, tunnels, uploads, after, held)


def told(found: Memory) -> str:
    """Say it in a paragraph."""
    mib = 1024 * 1024
    return (
        f"Memory with {found.connections:,} connections: {found.before / mib:.0f} MiB before, {found.tunnels / mib:.0f} MiB with "
        f"{found.connections // 2} quiet tunnels whose TLS is read, {found.uploads / mib:.0f} MiB with as many uploads of "
        f"{BODY_BYTES // 1024} KiB that stop half-way, {found.after / mib:.0f} MiB when all are gone. Held for bodies at the most: "
        f"{found.held / mib:.0f} MiB of the {ROOM_BYTES // mib} MiB that were allowed, which is room for {found.held // BODY_BYTES} of the uploads."
    )


def main() -> int:
    """Measure and print; one if more was held than there was room for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    found = measure(parser.parse_args().connections)
    print(told(found))
    return int(found.held > ROOM_BYTES)


if __name__ == "__main__":
    raise SystemExit(main())
