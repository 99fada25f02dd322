"""The control plane: watches the configuration and the upstream, and shows the state of the gate."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from herma import __version__
from herma.policy.limits.lifecycle import Lifecycle, Stage
from herma.runtime.egress import EgressGate
from herma.runtime.generation import Generations
from herma.runtime.log import Log
from herma.runtime.metrics import render
from herma.runtime.reload import Reloader
from herma.runtime.tally import Tally
from herma.runtime.upstreams import Upstreams
from herma.store import MemoryStore, parted

__all__ = ["Control"]


class Control:
    """Runs beside the data plane, or alone in a process of its own when there are several workers."""

    def __init__(
        self,
        current: Callable[[], Generations],
        store: MemoryStore,
        tally: Tally,
        lifecycle: Lifecycle,
        reloader: Reloader,
        log: Log,
        connections: Callable[[], int],
        workers: Callable[[], int],
        egress: EgressGate,
    ) -> None:
        self._store = store
        self._tally = tally
        self._lifecycle = lifecycle
        self._reloader = reloader
        self._log = log
        self._connections = connections
        self._workers = workers
        self._egress = egress
        self._started = time.monotonic()
        self._upstreams = Upstreams(current, store, log)

    async def run(self) -> None:
        """Watch until cancelled, and keep the agent's way out open until then."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._upstreams.run())
            group.create_task(self._reloader.watch())
            group.create_task(self._egress.run())

    def ready(self) -> tuple[bool, str]:
        """Tell whether requests are served, and if not, why.

        The first upstream decides: a dashboard that is down is no reason to take the API beside it out of service.
        """
        if self._lifecycle.stage is not Stage.SERVING:
            return False, self._lifecycle.stage.value
        if self._workers() == 0:
            return False, "no worker is up"
        first = self._upstreams.default
        return first.up, "" if first.up else first.reason

    async def status(self) -> dict[str, Any]:
        """Return the state, JSON-ready, without a secret."""
        settings = self._reloader.settings
        runs = await self._store.open_runs()
        ready, reason = self.ready()
        return {
            "version": __version__,
            "stage": self._lifecycle.stage.value,
            "ready": ready,
            "reason": reason,
            "uptime_s": round(time.monotonic() - self._started, 1),
            "busy": {
                "slots_taken": self._store.slots_taken,
                "slots": settings.limits.max_concurrent_runs,
                "runs": [
                    {
                        "run_id": own,
                        "upstream": upstream,
                        "key": run.principal,
                        "age_s": round(run.age_s, 1),
                    }
                    for run, upstream, own in ((run, *parted(run.run_id)) for run in runs)
                ],
                "connections": self._connections(),
            },
            "workers": {"configured": settings.workers, "connected": self._workers()},
            "upstreams": [self._upstreams.status(name) for name in settings.all_upstreams()],
            "egress": self._egress.status(),
            "config": {
                "path": settings.path,
                "digest": settings.digest,
                "last_reload_failed": self._reloader.failure,
                "warnings": [str(warning) for warning in settings.warnings],
            },
            "keys": [
                {"name": key.name, "scopes": sorted(key.scopes), "group": key.group}
                for key in settings.auth.keys
            ],
        }

    async def metrics(self) -> bytes:
        """Return the metrics in Prometheus' text form."""
        return render(
            self._tally,
            {
                "slots_taken": self._store.slots_taken,
                "slots": self._reloader.settings.limits.max_concurrent_runs,
                "connections": self._connections(),
                "workers": self._workers(),
                "draining": float(self._lifecycle.stage is not Stage.SERVING),
                "reload_failed": float(bool(self._reloader.failure)),
            },
            self._upstreams.readings(),
            self._egress.readings(),
        )
