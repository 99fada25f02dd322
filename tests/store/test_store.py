"""What every store promises, in one process and from a worker."""

from collections.abc import AsyncIterator

import pytest

from herma.policy.limits.admission import MAX_RUN_ID_CHARS
from herma.policy.routing.route import Turn
from herma.store import (
    Ask,
    Coordinator,
    Full,
    Lease,
    LiveSession,
    MemorySpent,
    MemoryStore,
    Once,
    Owner,
    SessionLimits,
    Spending,
    Store,
    Which,
)
from support.shared_state import Clock, workers

ALICE, BOB = Owner("alice", "team"), Owner("bob")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "remote"])
async def store(request: pytest.FixtureRequest, clock: Clock) -> AsyncIterator[Store]:
    memory = MemoryStore(clock, spent=MemorySpent(clock, since=0))
    if request.param == "memory":
        yield memory
    else:
        async with workers(Coordinator(memory), 1) as (remote,):
            yield remote


async def lease(store: Store, turn: Turn = Turn.OPEN, cap: int = 100) -> str:
    outcome = await store.admit(Ask("alice", turn, cap))
    assert isinstance(outcome, Lease)
    return outcome.id


async def test_slots_are_taken_up_to_the_cap_and_given_back(store: Store) -> None:
    """A full gate says which cap is reached, and a released slot is free at once."""
    one = await lease(store, cap=1)
    assert await store.admit(Ask("bob", Turn.OPEN, 1)) == Full(1, Which.ALL)
    assert await store.admit(Ask("alice", Turn.OPEN, 5, 1)) == Full(1, Which.PRINCIPAL)
    await store.release(one)
    await store.release(one)
    assert isinstance(await store.admit(Ask("bob", Turn.OPEN, 1, 1)), Lease)


async def test_run_holds_its_slot_until_its_end(store: Store, clock: Clock) -> None:
    """A background run is listed with its age until somebody saw its end."""
    one = await lease(store, Turn.BACKGROUND)
    await store.attach(one, "run_1")
    await store.release(one)
    clock.now += 7
    (run,) = await store.open_runs()
    assert (run.lease_id, run.run_id, run.principal, run.age_s) == (one, "run_1", "alice", 7.0)
    await store.run_ended("run_1")
    assert await store.open_runs() == ()


async def test_all_open_runs_are_listed(store: Store) -> None:
    """The list is complete, also where the store hands it out in parts and ids are long."""
    run_ids = [f"{number:03}" + "\U0001f9ff" * (MAX_RUN_ID_CHARS - 3) for number in range(50)]
    for run_id in run_ids:
        await store.attach(await lease(store, Turn.BACKGROUND), run_id)
    assert [run.run_id for run in await store.open_runs()] == run_ids


async def test_run_whose_id_is_absurd_is_counted(store: Store) -> None:
    """An id too long to keep, or to send, takes the slot all the same."""
    one = await lease(store, Turn.BACKGROUND, cap=1)
    await store.attach(one, "x" * 1_000_000)
    await store.release(one)
    assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 1)), Full)
    await store.seed(0)
    assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 1)), Lease)


async def test_seed_takes_the_slots_of_unknown_runs(store: Store) -> None:
    """What ran before a restart counts."""
    await store.seed(2)
    assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 2)), Full)


async def test_first_claim_binds(store: Store) -> None:
    """A thing belongs to whoever claimed it first."""
    assert await store.owner("run", "r") is None
    assert await store.claim("run", "r", ALICE) == ALICE
    assert await store.claim("run", "r", BOB) == ALICE
    assert await store.owner("run", "r") == ALICE
    assert await store.claim("session", "\ud800", BOB) == BOB


async def test_owner_of_a_run_is_forgotten_two_hours_after_its_end(store: Store, clock: Clock) -> None:
    """The end of a run frees its slot at once and its owner later."""
    await store.claim("run", "r", ALICE)
    await store.run_ended("r")
    clock.now += 2 * 3600 - 1
    assert await store.owner("run", "r") == ALICE
    clock.now += 2
    assert await store.owner("run", "r") is None


async def test_failed_attempts_block(store: Store) -> None:
    """Failures add up to a wait that a success does not shorten."""
    subjects = ("address:192.0.2.1", "all")
    assert [await store.failed(subjects) for _ in range(6)] == [0.0] * 5 + [1.0]
    await store.succeeded(subjects)
    assert await store.blocked(subjects) == 1.0
    assert await store.blocked(("address:192.0.2.2", "all")) == 0.0


async def test_rates_are_limited(store: Store, clock: Clock) -> None:
    """A bucket gives its burst and then a token at a time; whole numbers are as good as fractions."""
    assert [await store.take("b", 2, 2) for _ in range(3)] == [0.0, 0.0, 0.5]
    clock.now += 1
    assert await store.take("b", 2, 2) == 0.0


async def test_offers_last_until_answered(store: Store) -> None:
    """Only what a waiting prompt offered is on offer, and the end of the run ends that."""
    assert await store.offered("r") is None
    await store.offer("r", ("once", "deny"))
    assert await store.offered("r") == ("once", "deny")
    await store.offer("r", ("deny",))
    assert await store.offered("r") == ("deny",)
    await store.withdraw("r")
    assert await store.offered("r") == ("deny",)
    await store.withdraw("r", every=True)
    assert await store.offered("r") is None
    await store.offer("r", ("once",))
    await store.run_ended("r")
    assert await store.offered("r") is None


async def test_sessions_hold_until_they_end(store: Store, clock: Clock) -> None:
    """Opened once, used, looked at without use, and ended."""
    limits = SessionLimits(60, 100)
    await store.open_session("s", "alice", "binding", limits)
    clock.now += 50
    assert await store.session("s", limits, touch=False) == LiveSession("alice", "binding", 10.0)
    assert await store.session("s", limits) == LiveSession("alice", "binding", 50.0)
    clock.now += 40
    assert await store.session("s", limits) == LiveSession("alice", "binding", 10.0)
    assert await store.session("other", limits) is None
    await store.end_session("s")
    await store.end_session("s")
    assert await store.session("s", limits) is None


async def test_a_token_is_used_once(store: Store, clock: Clock) -> None:
    """And again only when nobody would take it; one from before the memory is not taken."""
    once = Once("f" * 64, clock.now, clock.now + 300)
    assert await store.spend(once) is Spending.FIRST
    assert await store.spend(once) is Spending.AGAIN
    assert await store.spend(Once("e" * 64, 10.0, clock.now + 300)) is Spending.OUTDATED
    clock.now = once.until
    assert await store.spend(once) is Spending.FIRST
