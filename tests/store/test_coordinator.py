"""One memory store for all workers."""

import asyncio
import socket

import pytest

from herma.errors import StoreError
from herma.policy.routing.route import Turn
from herma.store import (
    Ask,
    Coordinator,
    Farewell,
    Lease,
    MemoryStore,
    MessageError,
    Notice,
    Once,
    RemoteStore,
    Spending,
)
from herma.store.messages import Answer, Call, encode
from support.shared_state import Attended, Clock, settle, workers

MALFORMED = {
    "too large": b"\xff\xff\xff\xff",
    "no JSON": b"\x00\x00\x00\x01{",
    "answer": encode(Answer(1, None)),
    "unknown operation": encode(Call(1, "become_admin", [])),
    "missing argument": encode(Call(1, "admit", ["alice", "open", 1])),
    "wrong type": encode(Call(1, "release", [1])),
    "unknown turn": encode(Call(1, "admit", ["alice", "sideways", 1, None])),
    "turn that takes no slot": encode(Call(1, "admit", ["alice", "none", 1, None])),
    "negative cap": encode(Call(1, "admit", ["alice", "open", -1, None])),
    "subject that is no text": encode(Call(1, "failed", [["all", 1]])),
    "rate of zero": encode(Call(1, "take", ["b", 0.0, 1.0])),
    "token that is no text": encode(Call(1, "spend", [1, 1.0, 2.0])),
    "token without an end": encode(Call(1, "spend", ["a", 1.0])),
    "page after nonsense": encode(Call(1, "open_runs", ["9" * 6000])),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_worker_that_makes_no_sense_is_cut_off_and_its_slots_are_free(case: str) -> None:
    """A connection that cannot be understood is worth as much as none."""
    store, attended = MemoryStore(Clock()), Attended()
    coordinator = Coordinator(store)
    ours, theirs = socket.socketpair()
    async with asyncio.TaskGroup() as group:
        group.create_task(attended.attend(coordinator, "w", ours))
        reader, writer = await asyncio.open_unix_connection(sock=theirs)
        writer.write(encode(Call(0, "admit", ["alice", "open", 5, None])) + MALFORMED[case])
        async with asyncio.timeout(10):
            await reader.read()
        writer.transport.abort()
    assert attended.farewells == [Farewell.MALFORMED]
    assert (store.slots_taken, coordinator.workers) == (0, 0)


async def test_worker_that_is_gone_gives_its_open_slots_back_and_keeps_its_runs() -> None:
    """The end of a connection frees what died with it, and only that."""
    store = MemoryStore(Clock())
    async with workers(Coordinator(store), 2) as (first, second):
        for _ in range(3):
            await first.admit(Ask("alice", Turn.OPEN, 10))
        lease = await first.admit(Ask("alice", Turn.BACKGROUND, 10))
        assert isinstance(lease, Lease)
        await first.attach(lease.id, "run_1")
        await second.admit(Ask("bob", Turn.OPEN, 10))
        first.close()
        await settle(store, 2)
        assert [run.run_id for run in await second.open_runs()] == ["run_1"]


async def test_successor_of_the_same_name_keeps_its_slots_when_the_old_worker_ends() -> None:
    """A worker that hangs on while it is replaced takes nothing with it."""
    store = MemoryStore(Clock())
    coordinator = Coordinator(store)
    async with asyncio.TaskGroup() as group:
        stores = []
        for _ in range(2):
            ours, theirs = socket.socketpair()
            group.create_task(coordinator.attend("w", ours))
            stores.append(await RemoteStore.connect(theirs, wait_s=60))
        for remote in stores:
            await remote.admit(Ask("alice", Turn.OPEN, 10))
        stores[0].close()
        await settle(store, 1)
        stores[1].close()
    assert store.slots_taken == 0


async def test_many_calls_may_be_outstanding_and_many_answers_unread() -> None:
    """A worker that asks a thousand times before it reads gets a thousand answers, in order."""
    coordinator = Coordinator(MemoryStore(Clock()))
    ours, theirs = socket.socketpair()
    async with asyncio.TaskGroup() as group:
        group.create_task(coordinator.attend("w", ours))
        reader, writer = await asyncio.open_unix_connection(sock=theirs, limit=10_000_000)
        choices = [f"{number:02}" + "x" * 60 for number in range(16)]
        writer.write(encode(Call(0, "offer", ["r", choices])))
        asked = b"".join(encode(Call(number, "offered", ["r"])) for number in range(1, 1001))
        writer.write(asked)
        answers = [encode(Answer(0, None))] + [encode(Answer(number, choices)) for number in range(1, 1001)]
        async with asyncio.timeout(10):
            assert await reader.readexactly(len(b"".join(answers))) == b"".join(answers)
        writer.transport.abort()


async def test_notices_reach_the_coordinator_with_the_name_of_the_worker() -> None:
    """What a worker counts arrives, and the coordinator knows who said it."""
    heard: list[tuple[str, Notice]] = []
    coordinator = Coordinator(MemoryStore(Clock()), lambda worker, notice: heard.append((worker, notice)))
    async with workers(coordinator, 2) as stores:
        for number, store in enumerate(stores):
            assert store.notify("metrics", [number])
            await store.seed(0)
    assert heard == [("w0", Notice("metrics", [0])), ("w1", Notice("metrics", [1]))]


async def test_notice_that_nobody_listens_to_is_dropped() -> None:
    """A coordinator without a listener serves all the same."""
    async with workers(Coordinator(MemoryStore(Clock())), 1) as (store,):
        store.notify("metrics")
        assert await store.offered("r") is None


async def test_worker_whose_notice_is_refused_is_cut_off() -> None:
    """A listener may find a notice malformed."""

    def refuse(_worker: str, _notice: Notice) -> None:
        raise MessageError("not like this")

    attended = Attended()
    ours, theirs = socket.socketpair()
    async with asyncio.TaskGroup() as group:
        group.create_task(attended.attend(Coordinator(MemoryStore(Clock()), refuse), "w", ours))
        lost = asyncio.Event()
        store = await RemoteStore.connect(theirs, on_lost=lost.set, wait_s=60)
        store.notify("metrics")
        async with asyncio.timeout(10):
            await lost.wait()
    assert attended.farewells == [Farewell.MALFORMED]


async def test_every_worker_is_notified() -> None:
    """A reload, a drain or an abort reaches all workers."""
    coordinator = Coordinator(MemoryStore(Clock()))
    heard: list[tuple[int, Notice]] = []
    async with asyncio.TaskGroup() as group:
        stores = []
        for number in range(3):
            ours, theirs = socket.socketpair()
            group.create_task(coordinator.attend(f"w{number}", ours))

            def hear(notice: Notice, number: int = number) -> None:
                heard.append((number, notice))

            stores.append(await RemoteStore.connect(theirs, hear, wait_s=60))
        for store in stores:
            await store.seed(0)
        assert coordinator.workers == 3
        coordinator.notify_all("drain", 30)
        for store in stores:
            await store.seed(0)
            store.close()
    assert sorted(heard, key=lambda item: item[0]) == [(number, Notice("drain", 30)) for number in range(3)]


async def test_worker_that_does_not_read_is_cut_off_when_notices_pile_up() -> None:
    """One worker that hangs fills neither the memory nor the time of the coordinator."""
    store, attended = MemoryStore(Clock()), Attended()
    coordinator = Coordinator(store)
    ours, theirs = socket.socketpair()
    async with asyncio.TaskGroup() as group:
        group.create_task(attended.attend(coordinator, "w", ours))
        theirs.setblocking(False)
        theirs.send(encode(Call(0, "admit", ["alice", "open", 5, None])))
        await settle(store, 1)
        for _ in range(40):
            coordinator.notify_all("reload", "x" * 60_000)
        await settle(store, 0)
    theirs.close()
    assert attended.farewells == [Farewell.GONE]


async def test_worker_that_vanishes_with_answers_unread_is_gone() -> None:
    """A connection that breaks while it is written to is an end like any other."""
    store, attended = MemoryStore(Clock()), Attended()
    ours, theirs = socket.socketpair()
    async with asyncio.TaskGroup() as group:
        group.create_task(attended.attend(Coordinator(store), "w", ours))
        theirs.send(encode(Call(0, "admit", ["alice", "open", 5, None])) * 20)
        theirs.close()
    assert attended.farewells == [Farewell.GONE]
    assert store.slots_taken == 0


class Slow:
    """A memory of used tokens that answers when it is told to, or not at all."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.go = asyncio.Event()
        self.asked = 0
        self._failure = failure

    async def spend(self, _once: Once) -> Spending:
        self.asked += 1
        if self._failure is not None:
            raise self._failure
        await self.go.wait()
        return Spending.FIRST

    async def close(self) -> None:
        self.go.set()


async def test_a_memory_that_is_slow_holds_up_nobody_else() -> None:
    """Other calls of the same worker are answered meanwhile."""
    slow = Slow()
    async with (
        workers(Coordinator(MemoryStore(Clock(), spent=slow)), 1) as (store,),
        asyncio.TaskGroup() as group,
    ):
        spending = group.create_task(store.spend(Once("a", 1.0, 2.0)))
        while not slow.asked:
            await asyncio.sleep(0)
        assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 1)), Lease)
        assert not spending.done()
        slow.go.set()
        assert await spending is Spending.FIRST


async def test_a_memory_that_is_down_costs_nothing_but_its_own_calls() -> None:
    """The worker hears that it is not known, and stays."""
    slow = Slow(StoreError("down"))
    async with workers(Coordinator(MemoryStore(Clock(), spent=slow)), 1) as (store,):
        for _ in range(2):
            with pytest.raises(StoreError):
                await store.spend(Once("a", 1.0, 2.0))
        assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 1)), Lease)


async def test_what_still_waits_ends_with_its_worker() -> None:
    """Nobody is left to hear the answer."""
    slow = Slow()
    async with workers(Coordinator(MemoryStore(Clock(), spent=slow)), 1) as (store,):
        asking = asyncio.get_running_loop().create_task(store.spend(Once("a", 1.0, 2.0)))
        while not slow.asked:
            await asyncio.sleep(0)
        store.close()
        with pytest.raises(StoreError):
            await asking
