"""Takes a changed configuration, or keeps the old one and says why."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from herma.config.load import load
from herma.config.settings import Settings
from herma.errors import ConfigError, ContentError
from herma.runtime.generation import Generations, build, read_content
from herma.runtime.start import Start
from herma.runtime.watch import INTERVAL_S, look, watch

__all__ = ["Reloader"]


class Reloader:
    """Reads the configuration again; `failure` tells why the last try was not taken, empty when it was."""

    def __init__(
        self,
        start: Start,
        apply: Callable[[Generations], Awaitable[None]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settings = start.settings
        self._serials = start.content.serials
        self._environ = start.environ
        self._fingerprint_key = start.fingerprint_key
        self._apply = apply
        self._log = start.log
        self._busy = asyncio.Lock()
        self._now = now
        self._due = start.content.due
        self._passed = 0
        # What the start has read: a change since then, however early, is a change.
        self._known = f"{start.settings.digest} {start.content.state}".strip()
        self.failure = ""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    async def reload(self) -> None:
        """Take the file as it is now, if all of it is valid; otherwise everything stays as it was."""
        async with self._busy:
            try:
                settings = await asyncio.to_thread(load, Path(self._settings.path), self._environ)
                content = await asyncio.to_thread(
                    read_content, settings, self._fingerprint_key, self._serials, self._now()
                )
                generations = build(settings, content)
            except (ConfigError, ContentError, OSError) as error:
                self._refuse(str(error))
                return
            fixed = _needs_restart(self._settings, settings)
            if fixed:
                self._refuse(
                    f"{settings.path}: {', '.join(fixed)} cannot change while the gate runs; restart it"
                )
                return
            await self._apply(generations)
            self._settings, self._serials, self.failure = settings, content.serials, ""
            self._due = content.due
            self._log("config.reloaded", f"{settings.path} was read again and applies to new requests")
            for note in content.notes:
                self._log("content.note", note)

    async def watch(self, interval_s: float = INTERVAL_S) -> None:
        """Reload after each change of the file and of the content it names, until cancelled.

        That something in it begins or ends is a change of its own: what is over is then refused or left out, and told.
        """
        await watch(self._look, f"{self._known} {self._passed}", self.reload, interval_s)

    async def _look(self) -> str:
        # A mount that hangs holds up this look, not the requests.
        seen = await asyncio.to_thread(look, self._settings)
        if self._due is not None and self._due <= self._now():
            # Once: what it led to stays until something changes again.
            self._due, self._passed = None, self._passed + 1
        return f"{seen} {self._passed}" if seen else ""

    def _refuse(self, reason: str) -> None:
        self.failure = reason
        self._log("config.refused", "the changed configuration is not used, the old one stays:")
        for line in reason.splitlines():
            self._log("config.refused", line)


def _needs_restart(old: Settings, new: Settings) -> list[str]:
    def where(settings: Settings) -> list[object]:
        return [
            (listener.address, listener.mode, listener.tls, listener.binds) for listener in settings.listen
        ]

    fixed = ("admin", "workers", "audit", "egress", "state")
    changed = [name for name in fixed if getattr(old, name) != getattr(new, name)]
    if list(old.upstreams) != list(new.upstreams):
        changed = ["the names of upstreams", *changed]
    return changed if where(old) == where(new) else ["listen", *changed]
