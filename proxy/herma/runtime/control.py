"""The control plane: watches the configuration and the upstream, and shows the state of the gate."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from herma import __version__
from herma.config.settings import Settings
from herma.config.values import Tcp
from herma.ingress import Generation
from herma.policy.limits.lifecycle import Lifecycle, Stage
from herma.runtime.exposure import listening_addresses
from herma.runtime.log import Log
from herma.runtime.metrics import render
from herma.runtime.probe import UpstreamWatch
from herma.runtime.reload import Reloader
from herma.runtime.runs import RunWatch
from herma.runtime.tally import Tally
from herma.store import MemoryStore

__all__ = ["Control"]

EXPOSURE_INTERVAL_S = 60.0


class Control:
    """Runs beside the data plane, or alone in a process of its own when there are several workers."""

    def __init__(
        self,
        current: Callable[[], Generation],
        store: MemoryStore,
        tally: Tally,
        lifecycle: Lifecycle,
        reloader: Reloader,
        log: Log,
        connections: Callable[[], int],
        workers: Callable[[], int],
    ) -> None:
        self._current = current
        self._store = store
        self._tally = tally
        self._lifecycle = lifecycle
        self._reloader = reloader
        self._log = log
        self._connections = connections
        self._workers = workers
        self._started = time.monotonic()
        self._exposed: tuple[str, ...] = ()
        self._upstream = UpstreamWatch(current, store, log)
        self._runs = RunWatch(current, store)

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._upstream.run())
            group.create_task(self._runs.run())
            group.create_task(self._watch_exposure())
            group.create_task(self._reloader.watch())

    async def _watch_exposure(self) -> None:
        while True:
            found = _exposed(self._reloader.settings)
            if found and found != self._exposed:
                self._log(
                    "upstream.exposed",
                    f"WARNING: the upstream can be reached beside the gate, on {', '.join(found)}: "
                    "bind it to 127.0.0.1, or everything the gate refuses can simply go round it",
                )
            self._exposed = found
            await asyncio.sleep(EXPOSURE_INTERVAL_S)

    def ready(self) -> tuple[bool, str]:
        """Tell whether requests are served, and if not, why."""
        if self._lifecycle.stage is not Stage.SERVING:
            return False, self._lifecycle.stage.value
        if self._workers() == 0:
            return False, "no worker is up"
        return self._upstream.state.up, "" if self._upstream.state.up else self._upstream.state.reason

    async def status(self) -> dict[str, Any]:
        """Return the state, JSON-ready, without a secret."""
        settings, upstream = self._reloader.settings, self._upstream.state
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
                    {"run_id": run.run_id, "key": run.principal, "age_s": round(run.age_s, 1)} for run in runs
                ],
                "connections": self._connections(),
            },
            "workers": {"configured": settings.workers, "connected": self._workers()},
            "upstream": {
                "url": str(settings.upstream.url),
                "profile": settings.upstream.profile,
                "up": upstream.up,
                "reason": upstream.reason,
                "key_accepted": upstream.key_accepted,
                "running": upstream.running,
                "route_drift": list(upstream.drift),
                "exposed": list(self._exposed),
            },
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
                "upstream_up": float(self._upstream.state.up),
                "upstream_exposed": float(bool(self._exposed)),
                "route_drift": len(self._upstream.state.drift),
                "draining": float(self._lifecycle.stage is not Stage.SERVING),
                "reload_failed": float(bool(self._reloader.failure)),
            },
        )


def _exposed(settings: Settings) -> tuple[str, ...]:
    address = settings.upstream.url.address
    if not isinstance(address, Tcp):
        return ()
    # The gate itself may use the port of an upstream elsewhere.
    own = {
        bind
        for listener in settings.listen
        if isinstance(listener.address, Tcp) and listener.address.port == address.port
        for bind in listener.binds
    }
    return tuple(found for found in listening_addresses(address.port) if found not in own)
