"""Keeps the egress gate running in a process of its own, writes down what it says, and never falls with it.

While the process is down nothing of the agent goes out: it is told to use a proxy that does not answer. A process that ends is started
again, each time after a longer while. It ends by itself when its standard input does, so it cannot outlive this one.
"""

import asyncio
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from herma.config.egress import Egress
from herma.egress.line import (
    MAX_LINE_BYTES,
    RELOAD,
    Counts,
    Failed,
    LineError,
    Message,
    Note,
    Ready,
    Sent,
    decode,
    key_line,
)
from herma.runtime.audit import AuditLog
from herma.runtime.start import Start
from herma.runtime.tally import Tally

__all__ = ["EgressGate"]

# The directory that this process was started in is nobody's to take modules from (-P).
_COMMAND: Final = (sys.executable, "-P", "-m", "herma.egress", "--config")
READY_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 5.0
FIRST_PAUSE_S: Final = 0.5
MAX_PAUSE_S: Final = 60.0
# Whoever was up for so long is started again at once.
STEADY_S: Final = 60.0
MAX_TOLD: Final = 64

_DOWN: Final = "it was not started yet"


class EgressGate:
    """The gate for what the agent sends out; without a section in the configuration there is none."""

    def __init__(
        self,
        start: Start,
        audit: AuditLog,
        tally: Tally,
        command: Sequence[str] = _COMMAND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._egress: Egress | None = start.settings.egress
        self._command = (*command, start.settings.path)
        self._key = start.settings.redaction.fingerprint_key or start.fingerprint_key
        self._audit = audit
        self._tally = tally
        self._log = start.log
        self._clock = clock
        self._process: Process | None = None
        self._address = ""
        self._reason = _DOWN
        self._note = ""
        self._restarts = 0
        self._counts = Counts(0, 0)
        self._told: set[tuple[str, str]] = set()

    async def run(self) -> None:
        """Keep the process running until cancelled."""
        pause = FIRST_PAUSE_S
        while self._egress is not None:
            began = self._clock()
            try:
                await self._live()
            except OSError as error:
                self._down(f"it cannot be started: {error.strerror}")
            if self._clock() - began >= STEADY_S:
                pause = FIRST_PAUSE_S
            self._log("egress.down", f"egress gate: {self._reason}; starting it again in {pause:g} s")
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_S)
            self._restarts += 1

    def reload(self) -> None:
        """Let the gate read content and watched files again."""
        if self._process is not None and self._process.stdin is not None and self._address:
            self._process.stdin.write(RELOAD)

    def status(self) -> dict[str, Any]:
        """Return the state, JSON-ready."""
        if self._egress is None:
            return {"configured": False}
        return {
            "configured": True,
            "up": bool(self._address),
            "address": self._address or str(self._egress.address),
            "reason": self._reason,
            "restarts": self._restarts,
            "connections": self._counts.connections,
            "held_bytes": self._counts.held_bytes,
        }

    def readings(self) -> dict[str, float]:
        """Return the readings of the moment for the metrics; none where there is no gate."""
        if self._egress is None:
            return {}
        return {
            "up": float(bool(self._address)),
            "restarts": self._restarts,
            "connections": self._counts.connections,
            "held_bytes": self._counts.held_bytes,
        }

    async def _live(self) -> None:
        """Start the process and hear it to its end."""
        self._note = ""
        # A session of its own: what a terminal sends to the gate's processes, the gate tells this one by itself.
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, limit=MAX_LINE_BYTES, start_new_session=True
        )
        self._process = process
        try:
            try:
                await self._hear(process)
            except (LineError, asyncio.LimitOverrunError):
                self._down("it said something that is no message")
                return
            except TimeoutError:
                self._down("it was not ready in time")
                return
            code = await process.wait()
            said = "" if self._address else self._note
            self._down(said or f"it ended with {code}")
        finally:
            self._process, self._address, self._counts = None, "", Counts(0, 0)
            await _end(process)

    async def _hear(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            return
        process.stdin.write(key_line(self._key))
        try:
            async with asyncio.timeout(READY_TIMEOUT_S) as patience:
                while True:
                    message = decode(await process.stdout.readuntil())
                    if isinstance(message, Ready):
                        patience.reschedule(None)
                    self._take(message)
        except asyncio.IncompleteReadError:
            # Half a line at the end is what was being said when it died.
            return

    def _down(self, reason: str) -> None:
        self._address, self._reason = "", reason

    def _take(self, message: Message) -> None:
        match message:
            case Ready():
                self._address, self._reason = message.address, ""
                self._log("egress.ready", f"the agent's way out is at {message.address}")
            case Sent():
                self._tally.sent(message)
                self._audit.sent(message)
            case Failed():
                self._tally.hook_failed(message.hook, message.kind)
                self._tell_once(message)
            case Counts():
                self._counts = message
            case Note():
                self._note = message.text
                self._log(message.code, f"egress gate: {message.text}")

    def _tell_once(self, failed: Failed) -> None:
        told = (failed.hook, failed.kind)
        if told not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(told)
            self._log("egress.failed", f"egress gate: {failed.hook} failed ({failed.kind}); nothing was sent")


async def _end(process: Process) -> None:
    """Let a process end, and end it if it does not; also when the wait for it is cut short."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await _over(process)
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await _over(process)


async def _over(process: Process) -> None:
    """Wait for the end of a process; what it still says is read, so that it does not wait for that."""
    while process.stdout is not None and await process.stdout.read(MAX_LINE_BYTES):
        pass
    await process.wait()
