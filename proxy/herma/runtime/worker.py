"""One of several processes that share the listeners; its state is the hub's."""

import asyncio
import socket
import time
from typing import Any, Protocol

from herma.policy.limits.lifecycle import Lifecycle
from herma.runtime import activity
from herma.runtime.audit import AUDIT_LOST, AuditLog
from herma.runtime.dataplane import DataPlane
from herma.runtime.generation import build
from herma.runtime.recent import Recent, under_way
from herma.runtime.reload import Reloader
from herma.runtime.signals import CHILD_STOP, on_signals
from herma.runtime.start import Start
from herma.runtime.tally import Tally
from herma.store import RemoteStore

__all__ = ["METRICS", "hand_over", "serve_worker"]

# The topic of the notice in which a worker hands its counts over: [connections, [[name, labels…], amount]…].
METRICS = "metrics"

REPORT_INTERVAL_S = 1.0
# A message between processes holds 64 KiB; a row takes less than 300 bytes.
ROWS_PER_NOTICE = 150


class Line(Protocol):
    """What leads to the hub."""

    def notify(self, topic: str, payload: Any) -> bool:
        """Tell it something; return False when that cannot be sent now."""
        ...


class Connected(Protocol):
    """What knows how many callers are connected."""

    @property
    def connections(self) -> int:
        """Count them."""
        ...


async def serve_worker(start: Start, hub: socket.socket) -> None:
    """Serve until stopped; `hub` is this worker's end of its line to the hub."""
    settings = start.settings
    tally = Tally()
    recent = Recent(tally)
    with AuditLog(settings.audit.file, lambda: tally.count(AUDIT_LOST)) as audit:
        lifecycle = Lifecycle(settings.drain_timeout_s)
        lost = asyncio.Event()
        store = await RemoteStore.connect(hub, on_lost=lost.set)
        data = DataPlane(build(settings, start.content), store, audit, recent, lifecycle, start.log)
        reloader = Reloader(start, data.swap)
        async with asyncio.TaskGroup() as group:
            watching = [
                group.create_task(_end_with_hub(lost, data)),
                group.create_task(_report(store, tally, recent, data)),
                group.create_task(data.watch()),
                group.create_task(
                    on_signals(stop=data.stop_asked, reload=reloader.reload, stops=(CHILD_STOP,))
                ),
                group.create_task(reloader.watch()),
            ]
            await data.open(start.listeners)
            await data.until_stopped()
            for task in watching:
                task.cancel()
        hand_over(store, tally, data)
        _tell(store, recent, data)
    store.close()


async def _end_with_hub(lost: asyncio.Event, data: DataPlane) -> None:
    # Without the hub every limit would be refused: this worker ends, and the parent starts another.
    await lost.wait()
    data.fail()


async def _report(store: RemoteStore, tally: Tally, recent: Recent, data: DataPlane) -> None:
    while True:
        await asyncio.sleep(REPORT_INTERVAL_S)
        hand_over(store, tally, data)
        _tell(store, recent, data)


def _tell(store: RemoteStore, recent: Recent, data: DataPlane) -> None:
    activity.hand_over(store, recent, *under_way(data.plane.active, time.monotonic(), time.time()))


def hand_over(store: Line, tally: Tally, data: Connected) -> None:
    """Tell the hub what was counted since the last time; what cannot be sent now stays counted here."""
    rows = tally.take()
    for at in range(0, max(1, len(rows)), ROWS_PER_NOTICE):
        batch = rows[at : at + ROWS_PER_NOTICE]
        if not store.notify(METRICS, [data.connections, [[list(key), amount] for key, amount in batch]]):
            # Not sent now: counted again at the next try.
            tally.merge(batch)
