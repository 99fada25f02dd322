"""hermes-agent's own redactor, entry validator and prompt scan, called in a process of their own.

They are what Herma is measured against: the same inputs, the same machine, the same run.
"""

import json
import os
import selectors
import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Self

from support.tree import ROOT

__all__ = ["NoUpstream", "Stopped", "UpstreamFunctions"]

WORKER = Path(__file__).parent / "upstream_worker.py"
# Its imports take two seconds on a free machine.
START_TIMEOUT_S = 120.0
# Beyond this an answer is not waited for: some inputs take it minutes.
CALL_TIMEOUT_S = 20.0
# A file of many lines.
FILE_TIMEOUT_S = 300.0
READ_BYTES = 1 << 16
_ENDED = "hermes-agent's functions could not be imported, or their process ended"


class NoUpstream(Exception):
    """There is no environment with hermes-agent; the message says what to do."""


class Stopped(Exception):
    """A call took longer than was allowed."""


class UpstreamFunctions:
    """The functions; use it as a context."""

    def __init__(self) -> None:
        venv = Path(os.environ.get("HERMA_HERMES_VENV") or ROOT / ".cache" / "hermes-0.19.0")
        self._python = venv / "bin" / "python"
        if not self._python.exists():
            raise NoUpstream(
                f"no hermes-agent in {venv}: `make hermes-venv` installs it, or HERMA_HERMES_VENV names an environment that has it"
            )
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def redact(self, text: str) -> str:
        """Give its redaction of a text, as it is for logs and answers (`force=True`)."""
        return str(self.ask({"do": "redact", "value": text})["answer"])

    def redact_each(self, pieces: Sequence[str]) -> str:
        """Give its redaction of a text that comes in pieces: it knows only one at a time."""
        return str(self.ask({"do": "each", "value": pieces})["answer"])

    def changed_lines(self, lines: list[str]) -> int:
        """Count the lines that its redaction changes, each by itself."""
        return int(self.ask({"do": "lines", "value": lines}, FILE_TIMEOUT_S)["answer"])

    def refuses_entry(self, name: str, entry: object) -> bool:
        """Tell whether its validator has an objection to an MCP server entry."""
        return bool(self.ask({"do": "entry", "name": name, "value": entry})["answer"])

    def refuses_prompt(self, prompt: str) -> bool:
        """Tell whether its scan refuses a scheduled prompt."""
        return bool(self.ask({"do": "prompt", "value": prompt})["answer"])

    def ask(self, asked: dict[str, Any], timeout_s: float = CALL_TIMEOUT_S) -> dict[str, Any]:
        """Have one request answered; `Stopped` if that takes too long."""
        process = self._process or self._start()
        try:
            line = self._exchange(process, asked, timeout_s)
        except Stopped:
            self._stop()
            raise
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [str(self._python), str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A bare environment: not our coverage, not our import path.
            env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
        )
        # Its imports are not charged to the first call that is timed.
        self._exchange(self._process, {"do": "redact", "value": ""}, START_TIMEOUT_S)
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], asked: dict[str, Any], timeout_s: float) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise NoUpstream(_ENDED) from None
        deadline = monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - monotonic())):
                    raise Stopped
                read = os.read(process.stdout.fileno(), READ_BYTES)
                if not read:
                    raise NoUpstream(_ENDED)
                self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self._pending = b""
