"""The part of the shared state that belongs to one upstream."""

from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.limits.admission import Ask, Lease
from herma.policy.routing.profile import Turn
from herma.store import MemorySpent, MemoryStore, Once, Owner, Partition, Spending, Store, parted
from herma.store.memory import MemoryStore as Memory
from support.shared_state import Clock

NAMES = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,10}", fullmatch=True)


@given(upstream=NAMES, own=st.text(min_size=1, max_size=20))
async def test_a_name_can_be_taken_apart(upstream: str, own: str) -> None:
    """Whatever an upstream calls a run, nothing else is read out of it."""
    store = MemoryStore(Clock())
    lease = await store.admit(Ask("laptop", Turn.BACKGROUND, 0))
    assert isinstance(lease, Lease)
    part = Partition(store, upstream)
    await part.attach(lease.id, own)
    (run,) = await store.open_runs()
    assert parted(run.run_id) == (upstream, own)
    assert [one.run_id for one in await part.open_runs()] == [own]
    assert await Partition(store, upstream + "x").open_runs() == ()


async def test_runs_offers_and_owners_are_an_upstreams_own() -> None:
    """The same id elsewhere is another thing."""
    store = MemoryStore(Clock())
    api, board = Partition(store, "default"), Partition(store, "board")
    mine, theirs = Owner("laptop", ""), Owner("phone", "")
    assert await api.claim("session", "s1", mine) == mine
    assert await board.owner("session", "s1") is None
    assert await board.claim("session", "s1", theirs) == theirs
    assert await api.owner("session", "s1") == mine
    await api.offer("run_1", ("once",))
    assert await board.offered("run_1") is None
    await board.withdraw("run_1", every=True)
    assert await api.offered("run_1") == ("once",)


async def test_the_end_of_a_run_elsewhere_ends_nothing_here() -> None:
    """Its slot stays taken."""
    store = MemoryStore(Clock())
    lease = await store.admit(Ask("laptop", Turn.BACKGROUND, 0))
    assert isinstance(lease, Lease)
    api, board = Partition(store, "default"), Partition(store, "board")
    await api.attach(lease.id, "run_1")
    await board.run_ended("run_1")
    assert store.slots_taken == 1
    await api.run_ended("run_1")
    assert store.slots_taken == 0


async def test_a_run_whose_id_was_not_heard_has_none_here_either() -> None:
    """It holds its slot for a while, and nobody asks after it."""
    store = MemoryStore(Clock())
    lease = await store.admit(Ask("laptop", Turn.BACKGROUND, 0))
    assert isinstance(lease, Lease)
    await Partition(store, "default").attach(lease.id, "")
    assert store.slots_taken == 1
    assert await Partition(store, "default").open_runs() == ()


@pytest.mark.parametrize("name", [name for name in vars(Store) if not name.startswith("_")])
def test_it_is_asked_like_the_whole(name: str) -> None:
    """Every method is there, with the same parameters."""
    assert signature(getattr(Partition, name)) == signature(getattr(Memory, name))


async def test_what_is_everybodys_stays_so() -> None:
    """Failures, rates and slots are counted over all upstreams."""
    store = MemoryStore(Clock(), spent=MemorySpent(Clock(), since=-1000))
    api, board = Partition(store, "default"), Partition(store, "board")
    assert await api.take("key:laptop", 0.001, 1.0) == 0
    assert await board.take("key:laptop", 0.001, 1.0) > 0
    for _ in range(6):
        await api.failed(("address:192.0.2.1",))
    assert await board.blocked(("address:192.0.2.1",)) > 0
    await api.succeeded(("address:192.0.2.2",))
    lease = await api.admit(Ask("laptop", Turn.OPEN, 1))
    assert isinstance(lease, Lease)
    assert not isinstance(await board.admit(Ask("phone", Turn.OPEN, 1)), Lease)
    await board.release(lease.id)
    assert store.slots_taken == 0
    await api.seed(1)
    assert store.slots_taken == 1
    once = Once("a", 1000.0, 2000.0)
    assert [await one.spend(once) for one in (api, board)] == [Spending.FIRST, Spending.AGAIN]
