"""A coordinator with workers, all in one event loop, and a clock that only moves when told."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from herma.store import Coordinator, Farewell, MemoryStore, RemoteStore


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Attended:
    """How the connections of a coordinator ended."""

    def __init__(self) -> None:
        self.farewells: list[Farewell] = []

    async def attend(self, coordinator: Coordinator, name: str, sock: socket.socket) -> None:
        self.farewells.append(await coordinator.attend(name, sock))


@asynccontextmanager
async def workers(coordinator: Coordinator, count: int) -> AsyncIterator[list[RemoteStore]]:
    """Connect that many workers, and disconnect them in the end."""
    async with asyncio.TaskGroup() as group:
        stores = []
        for number in range(count):
            ours, theirs = socket.socketpair()
            group.create_task(coordinator.attend(f"w{number}", ours))
            # A busy machine that runs the suite is no coordinator that hangs.
            stores.append(await RemoteStore.connect(theirs, wait_s=60))
        try:
            yield stores
        finally:
            for store in stores:
                store.close()


async def settle(store: MemoryStore, slots: int) -> None:
    """Wait until so many slots are taken; the suite's own timeout ends a wait that is in vain."""
    async with asyncio.timeout(10):
        while store.slots_taken != slots:
            await asyncio.sleep(0)
