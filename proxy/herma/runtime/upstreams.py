"""Watches every upstream: whether it is up, what it runs, and whether it can be reached beside the gate."""

import asyncio
from collections.abc import Callable
from typing import Any

from herma.config.settings import Settings
from herma.config.upstream import DEFAULT_UPSTREAM, Upstream
from herma.config.values import Tcp
from herma.ingress import Generation
from herma.runtime.exposure import listening_addresses
from herma.runtime.generation import Generations
from herma.runtime.log import Log
from herma.runtime.probe import UpstreamState, UpstreamWatch
from herma.runtime.runs import RunWatch
from herma.store import Partition, Store

__all__ = ["Upstreams"]

EXPOSURE_INTERVAL_S = 60.0


class Upstreams:
    """The upstreams that the gate was started with; what each of them is may change, which there are may not."""

    def __init__(self, current: Callable[[], Generations], store: Store, log: Log) -> None:
        self._current = current
        self._store = store
        self._log = log
        names = tuple(current().by_name)
        self._watches = {name: self._watch(name) for name in names}
        self._runs = [RunWatch(self._of(name), Partition(store, name)) for name in names]
        self._exposed: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())

    @property
    def default(self) -> UpstreamState:
        """What is known of the first upstream."""
        return self._watches[DEFAULT_UPSTREAM].state

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for watch in self._watches.values():
                group.create_task(watch.run())
            for runs in self._runs:
                group.create_task(runs.run())
            group.create_task(self._watch_exposure())

    def status(self, name: str) -> dict[str, Any]:
        """Return what is known of an upstream, JSON-ready, without a secret."""
        upstream, state = self._current().by_name[name].upstream, self._watches[name].state
        return {
            "name": name,
            "url": str(upstream.url),
            "profile": upstream.profile,
            "up": state.up,
            "reason": state.reason,
            "key_accepted": state.key_accepted,
            "own_login": state.own_login,
            "running": state.running,
            "route_drift": list(state.drift),
            "exposed": list(self._exposed[name]),
        }

    def readings(self) -> dict[str, dict[str, float]]:
        """Return the readings of the moment of each upstream, for the metrics."""
        return {
            name: {
                "up": float(watch.state.up),
                "exposed": float(bool(self._exposed[name])),
                "route_drift": float(len(watch.state.drift)),
            }
            for name, watch in self._watches.items()
        }

    def _watch(self, name: str) -> UpstreamWatch:
        def log(event: str, text: str) -> None:
            self._log(event, text if name == DEFAULT_UPSTREAM else f"{name}: {text}")

        return UpstreamWatch(self._of(name), self._seed, log)

    def _of(self, name: str) -> Callable[[], Generation]:
        return lambda: self._current().by_name[name]

    async def _seed(self) -> None:
        """Count the turns of all upstreams that ran before this start: slots are one number for all of them."""
        await self._store.seed(sum(watch.state.running or 0 for watch in self._watches.values()))

    async def _watch_exposure(self) -> None:
        while True:
            settings = self._current().settings
            for name, upstream in settings.all_upstreams().items():
                found = _exposed(settings, upstream)
                if found and found != self._exposed[name]:
                    self._log(
                        "upstream.exposed",
                        f"WARNING: the upstream can be reached beside the gate, on {', '.join(found)}: "
                        "bind it to 127.0.0.1, or everything the gate refuses can simply go round it",
                    )
                self._exposed[name] = found
            await asyncio.sleep(EXPOSURE_INTERVAL_S)


def _exposed(settings: Settings, upstream: Upstream) -> tuple[str, ...]:
    address = upstream.url.address
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
