"""The gate with its egress side on, in the network of a test, and the variables that lead programs through it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from support.gate import ROOT, START_TIMEOUT_S, Gate, free_port, merged

__all__ = ["EgressGate"]


class EgressGate(Gate):
    """A gate that an agent is before, and behind.

    Args:
        directory: Where its files are.
        upstream_url: The agent server.
        ca_file: The test root, which it trusts beside the system's.
        egress: Further settings of the section.
        launcher: What is before its command, such as names of the test.
        given: What else the gate is given.
    """

    def __init__(
        self,
        directory: Path,
        upstream_url: str,
        *,
        ca_file: str,
        egress: Mapping[str, Any] | None = None,
        launcher: tuple[str, ...] = (),
        **given: Any,
    ) -> None:
        self.egress_port = free_port()
        self.state = directory / "egress"
        section: dict[str, Any] = {
            "address": f"127.0.0.1:{self.egress_port}",
            "ca_file": ca_file,
            "state_dir": str(self.state),
        }
        overrides = {"egress": merged(section, egress or {})}
        super().__init__(directory, upstream_url, overrides, launcher=launcher, **given)

    def egress(self) -> dict[str, Any]:
        """Return what the status says of this side."""
        return dict(self.admin("/status").json()["egress"])

    def wait_egress(self, *, up: bool = True, after: int = 0) -> dict[str, Any]:
        """Wait until this side is up, or down, after so many restarts; return what it says of itself."""
        deadline = monotonic() + START_TIMEOUT_S
        said: dict[str, Any] = {}
        while monotonic() < deadline:
            assert self.process.poll() is None, self.stderr()[-4000:]
            try:
                said = self.egress()
            except OSError:
                said = {}
            if said and said["up"] is up and said["restarts"] >= after:
                return said
            try:
                self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError(f"{said}\n{self.stderr()[-4000:]}")

    def environ(self) -> dict[str, str]:
        """Return the variables that `herma ca env` prints for a shell."""
        done = subprocess.run(
            [sys.executable, "-m", "herma", "ca", "env", "--config", str(self.config_path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "proxy")},
        )
        words = [word for line in done.stdout.splitlines() for word in shlex.split(line, comments=True)]
        return dict(word.split("=", 1) for word in words if "=" in word)
