"""A real Redis server on loopback, of the test's own; what is asked of it is that it is installed."""

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from support.gate import free_port

__all__ = ["RedisServer"]

START_TIMEOUT_S = 20.0


class RedisServer:
    """A running server; use it as a context. `stop` and `start` are a restart, which loses everything unless it is kept."""

    def __init__(self, directory: Path, options: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        self.directory = directory
        self.socket = directory / "redis.sock"
        self._options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "unixsocket": str(self.socket),
            "dir": str(directory),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
        } | dict(options or {})
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = shutil.which("redis-server")
        assert program is not None, "redis-server is missing; run .ci/system-packages"
        words = [word for name, value in self._options.items() for word in (f"--{name}", *self._words(value))]
        self._process = subprocess.Popen(
            [program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.directory
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.socket.exists():
            assert self._process.poll() is None, "redis-server ended at once"
            assert time.monotonic() < deadline, "redis-server does not start"
            time.sleep(0.02)

    def stop(self) -> None:
        """End it; what it knew is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self.socket.unlink(missing_ok=True)

    @staticmethod
    def _words(value: str) -> list[str]:
        return value.split(" ") if value else [""]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
