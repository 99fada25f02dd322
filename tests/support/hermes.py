"""The real hermes-agent as an upstream, its API server or its dashboard, with the stub model in place of a provider.

Loopback only.
"""

import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Self

from support.gate import ROOT, free_port
from support.raw import Ended, raw, request

__all__ = ["OLDER", "Dashboard", "Hermes", "hermes_venv"]

RELEASE = "0.19.0"
# The older ones of which the gate sees something that the next one changed (docs/expose.md).
OLDER = ("0.16.0", "0.17.0", "0.18.2")
# 1 to 4 seconds when the machine is free.
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 20.0
# A port nobody listens on: whatever would leave this machine fails at once.
DEAD_PROXY = "http://127.0.0.1:9"
CONFIG = """\
model: {{default: stub-model, provider: custom, base_url: "{model}", api_key: stub-model-needs-none, context_length: 131072}}
approvals: {{mode: manual, timeout: 60, cron_mode: deny}}
security: {{redact_secrets: true, tirith_enabled: false, allow_lazy_installs: false}}
gateway: {{api_server: {{max_concurrent_runs: {runs}}}}}
terminal: {{backend: local, cwd: "{work}"}}
"""


def hermes_venv(release: str = RELEASE) -> Path:
    """Return the virtual environment that holds the real server; fail with what to do when there is none."""
    beside = ROOT / ".cache" / f"hermes-{release}"
    venv = Path(os.environ.get("HERMA_HERMES_VENV") or beside) if release == RELEASE else beside
    if not (venv / "bin" / "hermes").exists():
        raise AssertionError(
            f"no hermes-agent {release} in {venv}: `make test` installs it, or HERMA_HERMES_VENV names an environment that has {RELEASE}"
        )
    return venv


class Hermes:
    """The real API server; use it as a context."""

    command = ("gateway", "run", "-v")
    ready_path = "/health"

    def __init__(
        self,
        directory: Path,
        model_url: str,
        *,
        max_runs: int = 10,
        extra: str = "",
        environ: Mapping[str, str] | None = None,
        launcher: tuple[str, ...] = (),
        release: str = RELEASE,
    ) -> None:
        self.directory = directory
        self.port = free_port()
        self.key = secrets.token_hex(24)
        self.log_path = directory / "gateway.log"
        self.environ = dict(environ or {})
        self._launcher = launcher
        self.release = release
        self._venv = hermes_venv(release)
        self._process: subprocess.Popen[bytes] | None = None
        self.work = directory / "work"
        for path in (self.work, directory / "home"):
            path.mkdir(parents=True)
        config = directory / "config.yaml"
        config.touch(mode=0o600)
        config.write_text(CONFIG.format(model=f"{model_url}/v1", runs=max_runs, work=self.work) + extra)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def settings(self) -> dict[str, str]:
        """Give the variables that make it this kind of server."""
        return {
            "API_SERVER_ENABLED": "true",
            "API_SERVER_HOST": "127.0.0.1",
            "API_SERVER_PORT": str(self.port),
            "API_SERVER_KEY": self.key,
        }

    def arguments(self) -> tuple[str, ...]:
        """Give the arguments that start it."""
        return (*self.command, "--force") if self.release == RELEASE else self.command

    def __enter__(self) -> Self:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory / "home"),
            "HERMES_HOME": str(self.directory),
            **self.settings(),
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        environ |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD_PROXY)
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._launcher, str(self._venv / "bin" / "hermes"), *self.arguments()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.work,
                env=environ | self.environ,
            )
        try:
            self._wait_ready(self._process)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = monotonic() + START_TIMEOUT_S
        while monotonic() < deadline:
            assert process.poll() is None, (
                f"hermes-agent ended with {process.returncode}:\n{self.log()[-3000:]}"
            )
            try:
                if raw(self.port, request("GET", self.ready_path), source="127.0.0.1").status == 200:
                    return
            except OSError:
                pass
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError(f"hermes-agent was not ready in {START_TIMEOUT_S} s:\n{self.log()[-3000:]}")

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_TIMEOUT_S)

    def log(self) -> str:
        """Return what the server wrote."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def alive(self) -> bool:
        """Tell whether it still answers."""
        return raw(self.port, request("GET", self.ready_path), source="127.0.0.1").ended is not Ended.RESET


class Dashboard(Hermes):
    """The real dashboard on a loopback bind; `key` is its session token."""

    command = ("dashboard", "--host", "127.0.0.1", "--no-open", "--skip-build")
    ready_path = "/api/status"

    def settings(self) -> dict[str, str]:
        """Give the variables that make it this kind of server."""
        return {"HERMES_DASHBOARD_SESSION_TOKEN": self.key}

    def arguments(self) -> tuple[str, ...]:
        """Give the arguments that start it."""
        return (*self.command, "--port", str(self.port))
