"""The gate's runtime inside the test's own process and event loop."""

import asyncio
import inspect
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from herma.config.load import load
from herma.config.settings import Settings
from herma.policy.secret import Secret
from herma.runtime.generation import Content, new_fingerprint_key, read_content
from herma.runtime.log import Log
from herma.runtime.sockets import bind_all
from herma.runtime.solo import serve_solo
from herma.runtime.start import Start
from support.gate import AdminAnswer, Gate
from support.raw import Talk

__all__ = [
    "PATIENCE_S",
    "Inside",
    "Lines",
    "content_of",
    "serving_inside",
    "settings_of",
    "start_of",
    "until",
]

# Nothing here takes a second; a busy machine that runs the suite needs patience.
PATIENCE_S = 30.0


class Lines(Log):
    """A log that only remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str]] = []

    def __call__(self, event: str, message: str) -> None:
        """Remember one event."""
        self.lines.append((event, message))

    def events(self) -> list[str]:
        """Return what happened, in order."""
        return [event for event, _ in self.lines]

    def text(self) -> str:
        """Return all messages."""
        return "\n".join(message for _, message in self.lines)


def settings_of(gate: Gate) -> Settings:
    """Read the configuration of a gate that this process plays itself."""
    return load(gate.config_path, {})


_SHIPPED: dict[object, Content] = {}


def content_of(settings: Settings) -> Content:
    """Return the shipped rules; they are read once for the whole suite, and again for who is strict or has other upstreams."""
    upstreams = {name: upstream.profile for name, upstream in settings.all_upstreams().items()}
    kind = settings.strict, *upstreams.items()
    if kind not in _SHIPPED:
        _SHIPPED[kind] = read_content(settings, Secret(b"fake-fingerprint-key-of-the-suite"))
    return _SHIPPED[kind]


def start_of(gate: Gate, log: Log | None = None, environ: Mapping[str, str] | None = None) -> Start:
    """Bind the gate's sockets in this process."""
    settings = settings_of(gate)
    return Start(
        settings,
        content_of(settings),
        new_fingerprint_key(),
        environ or {},
        bind_all(settings),
        log or Lines(),
    )


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until it holds; the bound only ends a wait that is in vain."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = condition()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(0.001)


@dataclass(frozen=True, slots=True)
class Inside:
    """A gate that serves in the test's own loop; questions go through threads, as from other programs."""

    gate: Gate
    log: Lines
    task: asyncio.Task[None]

    async def ask(self, method: str, target: str, **parts: Any) -> Talk:
        """Send one request as a caller."""
        return await asyncio.to_thread(self.gate.ask, method, target, **parts)

    async def admin(self, path: str, method: str = "GET") -> AdminAnswer:
        """Ask the admin listener."""
        return await asyncio.to_thread(self.gate.admin, path, method)

    async def status(self) -> Any:
        """Return what `/status` shows."""
        return (await self.admin("/status")).json()

    async def ready(self) -> bool:
        """Tell whether it says that it is ready."""
        return (await self.admin("/readyz")).status == 200

    async def ended(self) -> None:
        """Wait until it has stopped."""
        async with asyncio.timeout(PATIENCE_S):
            await self.task


@asynccontextmanager
async def serving_inside(gate: Gate) -> AsyncIterator[Inside]:
    """Serve as one process, with this process's signals; stop in the end if the test did not."""
    log = Lines()
    start = start_of(gate, log)
    async with asyncio.TaskGroup() as group:
        inside = Inside(gate, log, group.create_task(serve_solo(start)))
        await until(inside.ready)
        try:
            yield inside
        finally:
            for _ in range(2):
                if not inside.task.done():
                    os.kill(os.getpid(), signal.SIGTERM)
                    await asyncio.sleep(0)
            await inside.ended()
