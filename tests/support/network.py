"""A network of a test's own: nothing in it is reached from outside, and nothing outside from in it.

The kernel gives a thread another network namespace; what the thread starts is in it, too. So one test has a real public address
to listen on, without being reachable by anybody.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["PUBLIC", "own_network"]

# An address that stands for a public one in examples (RFC 5737).
PUBLIC = "198.51.100.1"


@contextmanager
def own_network() -> Iterator[None]:
    """Put this thread into a network with loopback and one public address; skip where the kernel does not let us."""
    if shutil.which("ip") is None:
        pytest.skip("a network of its own needs iproute2")
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            os.unshare(os.CLONE_NEWNET)
        except OSError as error:
            pytest.skip(f"a network of its own needs root: {error.strerror}")
        try:
            for command in (("link", "set", "lo", "up"), ("addr", "add", f"{PUBLIC}/32", "dev", "lo")):
                subprocess.run(["ip", *command], check=True, capture_output=True)
            yield
        finally:
            os.setns(before, os.CLONE_NEWNET)
    finally:
        os.close(before)
