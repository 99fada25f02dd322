"""The data plane of one process: its listeners, its generation, and how it stops."""

import asyncio
import time
from collections.abc import Sequence

from herma.config.settings import Settings
from herma.identity import KeySets, KeySource
from herma.ingress import AuditSink, Meter, Plane, Planes, handler, sweep, wire_error
from herma.policy.limits.lifecycle import Event, Lifecycle, Order, Stage
from herma.runtime.generation import Generations
from herma.runtime.log import Log
from herma.runtime.sockets import Bound
from herma.store import Partition, Store
from herma.wire import Census, Server, ServerLimits, renew

__all__ = ["DataPlane"]

# How often a draining process looks whether its last exchange is over.
DRAIN_LOOK_S = 0.05
# How often it is looked which turns are over; a slot is held for a second after the end in any case.
SWEEP_S = 0.5


class DataPlane:
    """Serves the configured listeners until it has drained."""

    def __init__(
        self,
        generations: Generations,
        store: Store,
        audit: AuditSink,
        meter: Meter,
        lifecycle: Lifecycle,
        log: Log,
    ) -> None:
        self._log = log
        self._servers: list[Server] = []
        # The listeners are opened with these; after a reload they show the certificates of the new generation.
        self._generations = generations
        self._contexts = generations.contexts
        self._lifecycle = lifecycle
        self._stop = asyncio.Event()
        (name, first), *others = generations.by_name.items()
        key_sets = KeySets(report=self._report_keys)
        self.plane = Plane(first, Partition(store, name), lifecycle, audit, meter, key_sets=key_sets)
        self._planes = {
            name: self.plane,
            **{other: self.plane.beside(generation, Partition(store, other)) for other, generation in others},
        }

    async def open(self, sockets: Sequence[Bound]) -> None:
        """Start to serve on bound sockets."""
        self.plane.key_sets.adopt(_key_sources(self._generations))
        limits = _limits(self._generations.settings)
        planes = Planes(tuple(self._planes.values()))
        # One for all listeners: a second address to reach the gate by is no second allowance.
        census = Census(limits.max_connections, limits.max_connections_per_address)
        for bound in sockets:
            server = Server(handler(planes, bound.listener), limits, wire_error, census)
            await server.serve(bound.sock, ssl=self._contexts[bound.listener])
            self._servers.append(server)

    @property
    def generations(self) -> Generations:
        """The generations that new exchanges get."""
        return self._generations

    async def swap(self, generations: Generations) -> None:
        """Give new exchanges other generations of the same upstreams, new connections their caps.

        Exchanges under way keep theirs.
        """
        old, self._generations = self._generations, generations
        for name, plane in self._planes.items():
            plane.generation = generations.by_name[name]
        self.plane.key_sets.adopt(_key_sources(generations))
        self._lifecycle.drain_timeout_s = generations.settings.drain_timeout_s
        limits = _limits(generations.settings)
        for server in self._servers:
            server.apply(limits)
        for serving, fresh in zip(self._contexts, generations.contexts, strict=True):
            if serving is not None and fresh is not None:
                renew(serving, fresh)
        old.retire()

    async def watch(self) -> None:
        """Give back the slots of turns that are over, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            for plane in self._planes.values():
                await sweep(plane, asyncio.get_running_loop().time())

    def stop_asked(self) -> None:
        """Take one more request to stop: the first drains, the second aborts."""
        self._lifecycle.handle(Event.STOP_ASKED, time.monotonic())
        self._stop.set()

    def fail(self) -> None:
        """Stop at once: a part that the gate cannot do without is lost."""
        self._lifecycle.handle(Event.FAILED, time.monotonic())
        self._stop.set()

    async def until_stopped(self) -> None:
        """Return when the data plane has stopped: drained, or aborted after its time."""
        await self._stop.wait()
        while self._lifecycle.stage is Stage.DRAINING:
            if not self.plane.busy:
                self._lifecycle.handle(Event.IDLE, time.monotonic())
            elif self._lifecycle.tick(time.monotonic()) is Order.ABORT:
                self._log(
                    "drain.timeout", f"{len(self.plane.active)} exchanges did not end in time and are cut"
                )
            await asyncio.sleep(DRAIN_LOOK_S)
        for server in self._servers:
            await server.drain(0)
        await self.plane.key_sets.close()
        await self._generations.close()

    def _report_keys(self, source: KeySource, failure: str) -> None:
        what = f"the keys of an issuer of tokens at {source}"
        self._log("tokens.keys", f"{what} cannot be read: {failure}" if failure else f"{what} were read")

    @property
    def connections(self) -> int:
        """The open connections of all listeners."""
        return sum(server.connections for server in self._servers)


def _key_sources(generations: Generations) -> frozenset[KeySource]:
    return frozenset().union(*(one.key_sources for one in generations.by_name.values()))


def _limits(settings: Settings) -> ServerLimits:
    limits = settings.limits
    return ServerLimits(
        head_timeout_s=limits.head_timeout_s,
        body_timeout_s=limits.body_timeout_s,
        idle_timeout_s=limits.idle_timeout_s,
        send_timeout_s=limits.send_timeout_s,
        max_headers=limits.max_headers,
        max_header_bytes=limits.max_header_bytes,
        max_target_bytes=limits.max_target_bytes,
        max_connections=limits.max_connections,
        max_connections_per_address=limits.max_connections_per_address,
    )
