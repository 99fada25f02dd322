"""The shared state of one process."""

from collections.abc import Coroutine
from typing import Any

import pytest

from herma.policy.limits.admission import MAX_RUN_AGE_S
from herma.policy.limits.throttle import ThrottleLimits
from herma.policy.routing.route import Turn
from herma.store import Ask, Lease, MemoryStore, Owner, RunLease
from support.shared_state import Clock

STEPS = {
    "admit": lambda store: store.admit(Ask("alice", Turn.OPEN, 1)),
    "release": lambda store: store.release("1"),
    "attach": lambda store: store.attach("1", "r"),
    "run_ended": lambda store: store.run_ended("r"),
    "open_runs": lambda store: store.open_runs(),
    "seed": lambda store: store.seed(1),
    "claim": lambda store: store.claim("run", "r", Owner("alice")),
    "owner": lambda store: store.owner("run", "r"),
    "blocked": lambda store: store.blocked(("all",)),
    "failed": lambda store: store.failed(("all",)),
    "succeeded": lambda store: store.succeeded(("all",)),
    "take": lambda store: store.take("b", 1.0, 1.0),
    "offer": lambda store: store.offer("r", ("once",)),
    "offered": lambda store: store.offered("r"),
    "withdraw": lambda store: store.withdraw("r"),
}


@pytest.mark.parametrize("method", STEPS)
def test_no_method_ever_suspends(method: str) -> None:
    """Between the question and the answer nobody else can change the state."""
    step: Coroutine[Any, Any, object] = STEPS[method](MemoryStore(Clock()))
    with pytest.raises(StopIteration):
        step.send(None)


async def test_run_that_was_dropped_for_its_age_is_reported() -> None:
    """The operator learns of a slot that was freed without an end."""
    clock, dropped = Clock(), list[RunLease]()
    store = MemoryStore(clock, on_dropped=dropped.append)
    lease = await store.admit(Ask("alice", Turn.BACKGROUND, 1))
    assert isinstance(lease, Lease)
    await store.attach(lease.id, "run_1")
    clock.now += MAX_RUN_AGE_S + 1
    assert isinstance(await store.admit(Ask("alice", Turn.OPEN, 1)), Lease)
    assert [run.run_id for run in dropped] == ["run_1"]


async def test_run_that_is_dropped_without_a_listener_is_dropped_all_the_same() -> None:
    """Reporting is a courtesy, freeing the slot is not."""
    clock = Clock()
    store = MemoryStore(clock)
    lease = await store.admit(Ask("alice", Turn.BACKGROUND, 1))
    assert isinstance(lease, Lease)
    await store.attach(lease.id, "run_1")
    clock.now += MAX_RUN_AGE_S + 1
    assert store.slots_taken == 0


async def test_new_throttle_limits_apply_to_what_was_counted_before() -> None:
    """A reload neither forgets failures nor waits for new ones."""
    store = MemoryStore(Clock(), ThrottleLimits(free_attempts=10))
    for _ in range(4):
        await store.failed(("address:192.0.2.1",))
    store.apply(ThrottleLimits(free_attempts=1))
    assert await store.failed(("address:192.0.2.1",)) == 8.0
