"""A worker process: takes slots through the socket it inherited, says so on standard output, and waits to be killed.

Run with the socket's descriptor, the number of open slots and the number of runs to take.
"""

import asyncio
import socket
import sys

from herma.policy.routing.route import Turn
from herma.store import Ask, Lease, RemoteStore


async def main(descriptor: int, requests: int, runs: int) -> None:
    gone = asyncio.Event()
    store = await RemoteStore.connect(socket.socket(fileno=descriptor), on_lost=gone.set, wait_s=60)
    for _ in range(requests):
        assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 0)), Lease)
    for number in range(runs):
        lease = await store.admit(Ask("alice", Turn.BACKGROUND, 0))
        assert isinstance(lease, Lease)
        await store.attach(lease.id, f"run_{descriptor}_{number}")
    print("ready", flush=True)
    await gone.wait()


asyncio.run(main(*(int(argument) for argument in sys.argv[1:])))
