"""A network of a test's own: nothing in it is reached from outside, and nothing outside from in it.

The kernel gives a thread another network namespace; what the thread starts is in it, too. So a test has real public addresses
to listen on, without being reachable by anybody. What it starts may be given names for them that hold nowhere else.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["PUBLIC", "named", "own_network", "public"]

# An address that stands for a public one in examples (RFC 5737).
PUBLIC = "198.51.100.1"


@contextmanager
def own_network() -> Iterator[None]:
    """Put this thread into a network with loopback and the public addresses around PUBLIC; skip where the kernel does not let us."""
    if shutil.which("ip") is None:
        pytest.skip("a network of its own needs iproute2")
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            os.unshare(os.CLONE_NEWNET)
        except OSError as error:
            pytest.skip(f"a network of its own needs root: {error.strerror}")
        try:
            for command in (("link", "set", "lo", "up"), ("addr", "add", f"{PUBLIC}/24", "dev", "lo")):
                subprocess.run(["ip", *command], check=True, capture_output=True)
            yield
        finally:
            os.setns(before, os.CLONE_NEWNET)
    finally:
        os.close(before)


def public(number: int) -> str:
    """Give another of the public addresses."""
    return f"{PUBLIC.rpartition('.')[0]}.{number}"


def named(directory: Path, addresses: Mapping[str, str]) -> tuple[str, ...]:
    """Give the words before a command that let it find these names at these addresses, and no others but localhost.

    The command sees another file of hosts in place of the machine's; nobody else does.
    """
    if shutil.which("unshare") is None:
        pytest.skip("names of its own need util-linux")
    hosts, servers = directory / "hosts", directory / "resolv.conf"
    lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
    hosts.write_text("\n".join(lines) + "\n")
    # The last word about a name: who is asked further is on this machine, and nobody listens there.
    servers.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    script = 'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
    return ("unshare", "--mount", "sh", "-c", script, str(hosts), str(servers))
