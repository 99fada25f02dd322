"""The process that keeps the state of several workers, watches the upstream and shows both."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Any

from herma.console import serve_admin
from herma.policy.limits.lifecycle import Event, Lifecycle, Order
from herma.runtime.activity import ACTIVITY, Heard
from herma.runtime.audit import AUDIT_LOST, AuditLog
from herma.runtime.control import Control
from herma.runtime.egress import EgressGate
from herma.runtime.generation import Generations, build
from herma.runtime.overview import make_console
from herma.runtime.recent import Recent
from herma.runtime.reload import Reloader
from herma.runtime.signals import CHILD_STOP, on_signals
from herma.runtime.start import Start, throttle_limits
from herma.runtime.state import used_tokens
from herma.runtime.tally import Tally
from herma.runtime.worker import METRICS
from herma.store import Coordinator, MemoryStore, MessageError, Notice, SpentStore

__all__ = ["serve_hub"]

# A worker's name as the parent sends it beside the descriptor.
MAX_NAME_BYTES = 64


class _Hub:
    def __init__(self, start: Start, audit: AuditLog, spent: SpentStore) -> None:
        self.lifecycle = Lifecycle(start.settings.drain_timeout_s)
        self.store = MemoryStore(time.monotonic, throttle_limits(start.settings), start.dropped, spent)
        self.tally = Tally()
        self.recent = Recent(self.tally)
        self.activity = Heard(self.recent)
        self.generations = build(start.settings, start.content)
        self.stopped = asyncio.Event()
        self.connections: dict[str, int] = {}
        self.coordinator = Coordinator(self.store, self._heard)
        self.egress = EgressGate(start, audit, self.tally)

    async def apply(self, generations: Generations) -> None:
        self.store.apply(throttle_limits(generations.settings))
        old, self.generations = self.generations, generations
        self.lifecycle.drain_timeout_s = generations.settings.drain_timeout_s
        old.retire()
        self.egress.reload()

    def stop(self) -> None:
        if self.lifecycle.handle(Event.STOP_ASKED, time.monotonic()) is Order.ABORT:
            self.stopped.set()

    async def attend(self, worker: str, sock: socket.socket) -> None:
        try:
            await self.coordinator.attend(worker, sock)
        finally:
            self.connections.pop(worker, None)
            self.activity.gone(worker)

    def _heard(self, worker: str, notice: Notice) -> None:
        match notice:
            case Notice(topic=topic, payload=[int(connections), list(rows)]) if topic == METRICS:
                self.connections[worker] = connections
                self.tally.merge([_row(row) for row in rows])
            case Notice(topic=topic, payload=payload) if topic == ACTIVITY:
                self.activity.hear(worker, payload)
            case _:
                raise MessageError("a worker said something unknown")


def _row(row: Any) -> tuple[tuple[str, ...], float]:
    match row:
        case [[*key], int(amount) | float(amount)]:
            return tuple(str(part) for part in key), float(amount)
        case _:
            raise MessageError("a worker's counts are malformed")


async def serve_hub(start: Start, parent: socket.socket, stop_all: Callable[[], None]) -> None:
    """Serve until stopped; over `parent` come the lines to new workers, and its end stops the hub."""
    with AuditLog(start.settings.audit.file, lambda: hub.tally.count(AUDIT_LOST)) as audit:
        async with used_tokens(start.settings, start.log) as spent:
            hub = _Hub(start, audit, spent)
            await _serve(hub, start, parent, stop_all)


async def _serve(hub: _Hub, start: Start, parent: socket.socket, stop_all: Callable[[], None]) -> None:
    reloader = Reloader(start, hub.apply)
    control = Control(
        current=lambda: hub.generations,
        store=hub.store,
        tally=hub.tally,
        lifecycle=hub.lifecycle,
        reloader=reloader,
        log=start.log,
        connections=lambda: sum(hub.connections.values()),
        workers=lambda: hub.coordinator.workers,
        egress=hub.egress,
    )
    console = make_console(
        start, control, hub.store, hub.recent, hub.activity.under_way, lambda: hub.generations
    )
    admin = serve_admin(start.admin.sock, control, stop_all, console)
    async with admin, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(control.run()),
            group.create_task(on_signals(stop=hub.stop, reload=reloader.reload, stops=(CHILD_STOP,))),
            group.create_task(_welcome(hub, parent)),
        ]
        # The first request to stop makes the gate unready; the parent hangs up when the last worker is gone.
        await hub.stopped.wait()
        for task in tasks:
            task.cancel()
    await hub.generations.close()


async def _welcome(hub: _Hub, parent: socket.socket) -> None:
    """Take the line to each new worker, until the parent hangs up or is gone."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[tuple[str, int]] = asyncio.Queue()

    def receive() -> None:
        name, descriptors, _flags, _address = socket.recv_fds(parent, MAX_NAME_BYTES, 1)
        for descriptor in descriptors:
            arrived.put_nowait((name.decode("ascii"), descriptor))
        if not name:
            loop.remove_reader(parent)
            hub.stopped.set()

    loop.add_reader(parent, receive)
    async with asyncio.TaskGroup() as attending:
        while True:
            name, descriptor = await arrived.get()
            sock = socket.socket(fileno=descriptor)
            sock.setblocking(False)
            attending.create_task(hub.attend(name, sock))
