"""Finds out that background runs have ended when no caller is looking.

A slot of a run is held until its end was seen. Streams and status polls of callers see most ends; this asks the upstream
about the rest.
"""

import asyncio
from collections.abc import Callable
from urllib.parse import quote

from herma.errors import StoreError
from herma.ingress import Generation
from herma.runtime.probe import ask
from herma.store import Store
from herma.wire import UpstreamError

__all__ = ["RunWatch"]

INTERVAL_S = 2.0
# One look asks about this many runs at most, so that it stays within its interval; the rest waits for the next one.
MAX_ASKED = 64


class RunWatch:
    """Polls the upstream's run status with the upstream's own key."""

    def __init__(self, current: Callable[[], Generation], store: Store) -> None:
        self._current = current
        self._store = store
        self._next = 0

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            await self.look()

    async def look(self) -> None:
        """Ask about open runs once and give back the slots of those that ended."""
        generation = self._current()
        asked = generation.profile.run_status
        if asked is None:
            return
        try:
            runs = await self._store.open_runs()
            # Start where the last look ended, so that runs which never end, or cannot be asked about, do not keep the
            # others from being asked about.
            self._next = self._next % len(runs) if runs else 0
            for run in (runs[self._next :] + runs[: self._next])[:MAX_ASKED]:
                self._next += 1
                status, value = await ask(
                    generation, asked.path.replace("{run_id}", quote(run.run_id, safe=""))
                )
                # The upstream forgets an ended run after a while: not knowing it means that it is over.
                if status == 404 or asked.is_end(value):
                    await self._store.run_ended(run.run_id)
        except (UpstreamError, TimeoutError, StoreError):
            return
