"""A worker's view of the shared state."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from herma.errors import StoreError
from herma.policy.routing.route import Turn
from herma.store import Ask, Coordinator, Lease, MemoryStore, Owner, RemoteStore, SessionLimits
from herma.store.messages import Answer, Call, Decoder, encode
from support.shared_state import Clock, settle, workers

CAP = 7


async def flood(store: RemoteStore, times: int, seen: list[int], memory: MemoryStore) -> int:
    """Take and release slots, note how many were taken at any time; return how often a slot was free."""
    admitted = 0
    for _ in range(times):
        outcome = await store.admit(Ask("alice", Turn.OPEN, CAP))
        seen.append(memory.slots_taken)
        if isinstance(outcome, Lease):
            admitted += 1
            await asyncio.sleep(0)
            await store.release(outcome.id)
    return admitted


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_flood_from_two_workers_never_exceeds_the_cap(
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    """The cap is one for all workers, and after the flood every slot is free."""

    async def scenario() -> None:
        memory = MemoryStore(Clock())
        seen: list[int] = []
        async with workers(Coordinator(memory), 2) as stores:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(flood(store, 20, seen, memory)) for store in stores for _ in range(15)
                ]
            assert sum(task.result() for task in tasks) >= CAP
            assert max(seen) == CAP
            assert memory.slots_taken == 0

    run(scenario())


async def test_flood_of_callers_who_leave_in_between_leaks_no_slot() -> None:
    """Whenever a client goes, the slot that was on its way to it comes back."""
    memory = MemoryStore(Clock())

    async def impatient(store: RemoteStore, patience: int) -> None:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(flood(store, 3, [], memory))
            for _ in range(patience):
                await asyncio.sleep(0)
            task.cancel()

    async def careful(store: RemoteStore, patience: int) -> None:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(hold(store))
            for _ in range(patience):
                await asyncio.sleep(0)
            task.cancel()

    async def hold(store: RemoteStore) -> None:
        lease = await store.admit(Ask("alice", Turn.OPEN, 0))
        assert isinstance(lease, Lease)
        try:
            await asyncio.Event().wait()
        finally:
            await store.release(lease.id)

    async with workers(Coordinator(memory), 2) as stores:
        async with asyncio.TaskGroup() as group:
            for patience in range(40):
                group.create_task(careful(stores[patience % 2], patience))
        for store in stores:
            await store.seed(0)
        await settle(memory, 0)


async def test_limits_owners_and_throttles_hold_across_workers() -> None:
    """What one worker has seen counts for the other."""
    async with workers(Coordinator(MemoryStore(Clock())), 2) as (first, second):
        await first.claim("run", "r", Owner("alice"))
        assert await second.claim("run", "r", Owner("bob")) == Owner("alice")
        for number in range(6):
            await (first, second)[number % 2].failed(("address:192.0.2.1",))
        assert await first.blocked(("address:192.0.2.1",)) == 1.0
        assert await first.take("b", 1.0, 1.0) == 0.0
        assert await second.take("b", 1.0, 1.0) == 1.0
        await first.offer("r", ("once",))
        assert await second.offered("r") == ("once",)
        await first.open_session("s", "alice", "b", SessionLimits(60, 100))
        assert await second.session("s", SessionLimits(60, 100)) is not None
        await second.end_session("s")
        assert await first.session("s", SessionLimits(60, 100)) is None


async def test_worker_without_a_coordinator_refuses() -> None:
    """Every method raises after the connection is lost; none answers as if nothing had happened."""
    ours, theirs = socket.socketpair()
    lost = asyncio.Event()
    store = await RemoteStore.connect(theirs, on_lost=lost.set, wait_s=60)
    ours.close()
    await lost.wait()
    calls: list[Coroutine[Any, Any, Any]] = [
        store.admit(Ask("alice", Turn.OPEN, 1)),
        store.release("1"),
        store.attach("1", "r"),
        store.run_ended("r"),
        store.open_runs(),
        store.seed(1),
        store.claim("run", "r", Owner("alice")),
        store.owner("run", "r"),
        store.blocked(("all",)),
        store.failed(("all",)),
        store.succeeded(("all",)),
        store.take("b", 1.0, 1.0),
        store.offer("r", ("once",)),
        store.offered("r"),
        store.withdraw("r"),
    ]
    for call in calls:
        with pytest.raises(StoreError):
            await call


async def test_coordinator_that_hangs_is_not_waited_for() -> None:
    """A call has a bounded wait; a slot that is granted after it is given back."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    store = await RemoteStore.connect(theirs, wait_s=0)
    with pytest.raises(StoreError, match="in time"):
        await store.admit(Ask("alice", Turn.OPEN, 1))
    decoder = Decoder()
    (call,) = decoder.feed(await reader.read(65536))
    assert isinstance(call, Call)
    writer.write(encode(Answer(call.number, ["lease", "42"])))
    (release,) = decoder.feed(await reader.read(65536))
    assert isinstance(release, Call)
    assert (release.operation, release.arguments) == ("release", ["42"])
    with pytest.raises(StoreError, match="in time"):
        await store.admit(Ask("alice", Turn.OPEN, 1))
    (call,) = decoder.feed(await reader.read(65536))
    assert isinstance(call, Call)
    writer.write(encode(Answer(call.number, ["full", 1, "all"])))
    store.notify("after")
    store.close()
    writer.transport.abort()


METHODS: dict[str, Callable[[RemoteStore], Coroutine[Any, Any, Any]]] = {
    "admit": lambda store: store.admit(Ask("alice", Turn.OPEN, 1)),
    "open_runs": lambda store: store.open_runs(),
    "claim": lambda store: store.claim("run", "r", Owner("alice")),
    "owner": lambda store: store.owner("run", "r"),
    "blocked": lambda store: store.blocked(("all",)),
    "take": lambda store: store.take("b", 1.0, 1.0),
    "offered": lambda store: store.offered("r"),
    "session": lambda store: store.session("s", SessionLimits(1, 2)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("answer", [True, "free", [["lease"]], {"a": 1}], ids=str)
async def test_answer_of_unknown_form_is_an_error_and_ends_the_connection(
    method: str, answer: object
) -> None:
    """What is not understood is not taken for a yes."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_unix_connection(sock=ours)
    lost = asyncio.Event()
    store = await RemoteStore.connect(theirs, on_lost=lost.set, wait_s=60)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(outcome(METHODS[method](store)))
        (call,) = Decoder().feed(await reader.read(65536))
        assert isinstance(call, Call)
        writer.write(encode(Answer(call.number, answer)))
    assert isinstance(task.result(), StoreError)
    assert lost.is_set()
    writer.transport.abort()


async def outcome(call: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await call
    except StoreError as error:
        return error


async def test_killed_worker_process_gives_its_slots_back() -> None:
    """A real process that is killed with open requests and runs leaves only its runs."""
    memory = MemoryStore(Clock())
    coordinator = Coordinator(memory)
    async with asyncio.TaskGroup() as group:
        processes = []
        for number in range(2):
            ours, theirs = socket.socketpair()
            group.create_task(coordinator.attend(f"w{number}", ours))
            processes.append(await start_worker(theirs, requests=5, runs=1))
            theirs.close()
        async with asyncio.timeout(60):
            for process in processes:
                assert process.stdout is not None
                assert await process.stdout.readline() == b"ready\n"
        assert memory.slots_taken == 12
        processes[0].kill()
        await settle(memory, 7)
        assert len(await memory.open_runs()) == 2
        os.kill(processes[1].pid, signal.SIGKILL)
        await settle(memory, 2)
        for process in processes:
            assert await process.wait() == -signal.SIGKILL
    assert coordinator.workers == 0


async def start_worker(sock: socket.socket, *, requests: int, runs: int) -> asyncio.subprocess.Process:
    """Start a worker that holds the only other copy of the socket."""
    descriptor = sock.fileno()
    script = Path(__file__).parents[1] / "support" / "state_worker.py"
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(script),
        *(str(number) for number in (descriptor, requests, runs)),
        pass_fds=(descriptor,),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
