"""One process that does everything: the common case."""

import asyncio
import time

from herma.console import serve_admin
from herma.policy.limits.lifecycle import Lifecycle
from herma.runtime.audit import AUDIT_LOST, AuditLog
from herma.runtime.control import Control
from herma.runtime.dataplane import DataPlane
from herma.runtime.egress import EgressGate
from herma.runtime.generation import Generations, build
from herma.runtime.overview import make_console
from herma.runtime.recent import Recent, under_way
from herma.runtime.reload import Reloader
from herma.runtime.signals import on_signals
from herma.runtime.start import Start, throttle_limits
from herma.runtime.state import used_tokens
from herma.runtime.tally import Tally
from herma.store import MemoryStore, SpentStore

__all__ = ["serve_solo"]


async def serve_solo(start: Start) -> None:
    """Serve until stopped."""
    async with used_tokens(start.settings, start.log) as spent:
        await _serve(start, spent)


async def _serve(start: Start, spent: SpentStore) -> None:
    settings = start.settings
    lifecycle = Lifecycle(settings.drain_timeout_s)
    store = MemoryStore(time.monotonic, throttle_limits(settings), start.dropped, spent)
    tally = Tally()
    recent = Recent(tally)
    with AuditLog(settings.audit.file, lambda: tally.count(AUDIT_LOST)) as audit:
        data = DataPlane(build(settings, start.content), store, audit, recent, lifecycle, start.log)

        egress = EgressGate(start, audit, tally)

        async def apply(generations: Generations) -> None:
            store.apply(throttle_limits(generations.settings))
            await data.swap(generations)
            egress.reload()

        reloader = Reloader(start, apply)
        control = Control(
            current=lambda: data.generations,
            store=store,
            tally=tally,
            lifecycle=lifecycle,
            reloader=reloader,
            log=start.log,
            connections=lambda: data.connections,
            workers=lambda: 1,
            egress=egress,
        )
        console = make_console(
            start,
            control,
            store,
            recent,
            lambda: under_way(data.plane.active, time.monotonic(), time.time()),
            lambda: data.generations,
        )
        admin = serve_admin(start.admin.sock, control, data.stop_asked, console)
        async with admin, asyncio.TaskGroup() as group:
            watching = [
                group.create_task(control.run()),
                group.create_task(data.watch()),
                group.create_task(on_signals(stop=data.stop_asked, reload=reloader.reload)),
            ]
            await data.open(start.listeners)
            start.announce()
            await data.until_stopped()
            for task in watching:
                task.cancel()
