"""The real gate as its own process, with a configuration, keys and ports made for one test or module."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from typing import Any, Self

import yaml

from support.raw import Talk, raw, request

__all__ = ["SCOPES", "Gate", "free_port", "merged", "refused_start"]

# A start takes about a second; a machine that builds something else beside the tests needs patience.
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0
ADMIN_TIMEOUT_S = 20.0
PORTS = range(20_000, 32_000)
ROOT = Path(__file__).resolve().parents[2]
# The keys every gate of the suites has: name to scopes.
SCOPES: dict[str, list[str]] = {
    "admin": ["admin"],
    "runner": ["run", "read", "approve", "status"],
    "other": ["run", "read", "approve"],
    "reader": ["read"],
    "scheduler": ["cron"],
    "watcher": ["status"],
}


def free_port(address: str = "127.0.0.1") -> int:
    """Return a port that was free a moment ago.

    Below the range that the kernel takes ports for outgoing connections from, so that none of those takes it first.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for _ in range(200):
        port = secrets.choice(PORTS)
        with socket.socket(family) as probe:
            try:
                probe.bind((address, port))
            except OSError:
                continue
            return port
    raise AssertionError("no free port among those for tests")


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one configuration over another; mappings merge, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        result[key] = (
            merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        )
    return result


class _PlainDumper(yaml.SafeDumper):
    """YAML without aliases: the gate refuses them."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """What the admin listener said."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Parse the body."""
        return json.loads(self.body)


class Gate:
    """A running gate; use it as a context.

    The base configuration is generous where a limit is not the subject, so that tests do not throttle each other.
    """

    def __init__(
        self,
        directory: Path,
        upstream_url: str,
        overrides: Mapping[str, Any] | None = None,
        *,
        upstream_key: str | None = None,
        scopes: Mapping[str, list[str]] | None = None,
        environ: Mapping[str, str] | None = None,
        launcher: tuple[str, ...] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.port = free_port()
        self.admin_port = free_port()
        self.config_path = directory / "herma.yaml"
        self.audit_path = directory / "audit.jsonl"
        self.stderr_path = directory / "stderr.txt"
        self.stdout_path = directory / "stdout.txt"
        self.keys = {name: secrets.token_hex(32) for name in (scopes or SCOPES)}
        self.upstream_key = upstream_key or secrets.token_hex(32)
        self._environ = dict(environ or {})
        self._launcher = launcher
        self._shadow = ""
        self._process: subprocess.Popen[bytes] | None = None
        base = {
            "listen": [{"address": f"127.0.0.1:{self.port}"}],
            "upstream": {
                "url": upstream_url,
                "profile": "hermes-api",
                "key_file": self.secret_file("upstream", self.upstream_key),
            },
            "auth": {
                "keys": [
                    {
                        "name": name,
                        "key_file": self.secret_file(name, self.keys[name]),
                        "scopes": list(granted),
                    }
                    for name, granted in (scopes or SCOPES).items()
                ],
                "failures": {"free_attempts": 100000},
            },
            "limits": {
                "max_concurrent_runs": 100,
                "max_connections_per_address": 1024,
                "rates": {"unauthenticated": {"per_s": 10000, "burst": 10000}},
            },
            "admin": {"address": f"127.0.0.1:{self.admin_port}"},
            "audit": {"file": str(self.audit_path)},
            "drain_timeout_s": 5,
        }
        self.config = merged(base, overrides or {})
        self.write_config(self.config)

    @property
    def host(self) -> str:
        """The Host header an honest client sends."""
        return f"127.0.0.1:{self.port}"

    def message(self, method: str, target: str | bytes, *, key: str | None = None, **parts: Any) -> bytes:
        """Write one request to this gate; `key` names one of its keys."""
        parts.setdefault("host", self.host)
        return request(method, target, key=self.keys[key] if key else None, **parts)

    def ask(
        self,
        method: str,
        target: str | bytes,
        *,
        key: str | None = None,
        source: str | None = None,
        **parts: Any,
    ) -> Talk:
        """Send one request on a connection of its own and return what came back."""
        return raw(self.port, self.message(method, target, key=key, **parts), source=source)

    def secret_file(self, name: str, value: str) -> str:
        """Write a secret where only its owner reads it."""
        path = self.directory / f"{name}.key"
        path.touch(mode=0o600)
        path.write_text(value + "\n")
        return str(path)

    def shadow(self, directory: Path) -> None:
        """Let the modules in this directory stand before the installed ones."""
        self._shadow = f"{directory}{os.pathsep}"

    def write_config(self, config: Mapping[str, Any] | str) -> None:
        """Replace the configuration file at once, as an editor does."""
        text = (
            config
            if isinstance(config, str)
            else yaml.dump(dict(config), Dumper=_PlainDumper, sort_keys=False)
        )
        fresh = self.directory / "herma.yaml.new"
        fresh.touch(mode=0o600)
        fresh.write_text(text)
        fresh.replace(self.config_path)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for anything."""
        kept = ("PATH", "HOME", "LANG", "TMPDIR")
        # A measured run of the suite measures the gate's own processes as well.
        environ = {
            name: value for name, value in os.environ.items() if name in kept or name.startswith("COVERAGE_")
        }
        environ["PYTHONPATH"] = self._shadow + str(ROOT / "proxy")
        with self.stdout_path.open("ab") as out, self.stderr_path.open("ab") as err:
            self._process = subprocess.Popen(
                [*self._launcher, sys.executable, "-m", "herma", "run", "--config", str(self.config_path)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.directory,
                env=environ | self._environ,
            )
        return self._process

    def start(self) -> None:
        """Start the gate and wait until it says it is ready."""
        process = self.spawn()
        deadline = monotonic() + START_TIMEOUT_S
        while monotonic() < deadline:
            assert process.poll() is None, (
                f"the gate ended with {process.returncode}:\n{self.stderr()[-4000:]}"
            )
            try:
                if self.admin("/readyz").status == 200:
                    return
            except OSError:
                pass
            _nap(process)
        self.stop()
        raise AssertionError(f"the gate was not ready in {START_TIMEOUT_S} s:\n{self.stderr()[-4000:]}")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running process."""
        assert self._process is not None
        return self._process

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the gate."""
        self.process.send_signal(number)

    def wait_ended(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Wait for the end of the process and return its exit code."""
        return self.process.wait(timeout_s)

    def stop(self) -> None:
        """Ask the process to end, twice if need be, then end it."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            process.send_signal(number)
            try:
                process.wait(1.0 if number is signal.SIGTERM else STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                continue
            return

    def children(self) -> list[int]:
        """Return the ids of the processes below the gate's own."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.process.pid and fields[0] != "Z":
                found.append(int(path.parent.name))
        return sorted(found)

    def workers(self) -> list[int]:
        """Return the ids of the processes that hold a caller's connection."""
        established, port = "01", f":{self.port:04X}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        sockets = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(port) and row[3] == established}
        return [child for child in self.children() if sockets & _descriptors(child)]

    def admin(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> AdminAnswer:
        """Ask the admin listener."""
        connection = HTTPConnection("127.0.0.1", self.admin_port, timeout=ADMIN_TIMEOUT_S)
        try:
            connection.request(method, path, headers=dict(headers or {}))
            response = connection.getresponse()
            return AdminAnswer(response.status, response.read())
        except HTTPException as error:
            raise OSError("the admin listener answered nonsense") from error
        finally:
            connection.close()

    def metrics(self) -> dict[str, float]:
        """Return every sample of the metrics page by its name and labels."""
        samples = {}
        for line in self.admin("/metrics").body.decode().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                samples[name] = float(value)
        return samples

    def stderr(self) -> str:
        """Return what the gate wrote to standard error."""
        return self.stderr_path.read_text(errors="replace") if self.stderr_path.exists() else ""

    def stdout(self) -> str:
        """Return what the gate wrote to standard output."""
        return self.stdout_path.read_text(errors="replace") if self.stdout_path.exists() else ""

    def audit(self) -> list[dict[str, Any]]:
        """Return the audit's lines."""
        if not self.audit_path.exists():
            return []
        return [json.loads(line) for line in self.audit_path.read_text().splitlines() if line]

    def written(self) -> str:
        """Return everything the gate wrote anywhere an operator reads."""
        audit = self.audit_path.read_text() if self.audit_path.exists() else ""
        return self.stderr() + self.stdout() + audit


def _descriptors(process: int) -> set[str]:
    """Return what the descriptors of a process point to."""
    found = set()
    for path in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            found.add(str(path.readlink()))
    return found


def _nap(process: subprocess.Popen[bytes]) -> None:
    """Wait a little, or less if the process ends."""
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        return


def _answers(gate: Gate) -> bool:
    """Tell whether the gate's admin listener is there."""
    try:
        return gate.admin("/healthz").status == 200
    except OSError:
        return False


def refused_start(gate: Gate, timeout_s: float = START_TIMEOUT_S) -> tuple[int, str]:
    """Start a gate that must not start; return its exit code and what it wrote to standard error."""
    process = gate.spawn()
    deadline = monotonic() + timeout_s
    try:
        while process.poll() is None:
            assert not _answers(gate), "the gate started although it had to refuse"
            assert monotonic() < deadline, f"the gate neither started nor refused in {timeout_s} s"
            _nap(process)
        return process.returncode, gate.stderr()
    finally:
        gate.stop()
