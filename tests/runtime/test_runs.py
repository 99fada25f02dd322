"""Background runs whose end no caller sees."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from herma.config.upstream import DEFAULT_UPSTREAM
from herma.policy.routing.route import Turn
from herma.runtime.generation import build, new_fingerprint_key, read_content
from herma.runtime.runs import MAX_ASKED, RunWatch
from herma.store import Ask, Lease, MemoryStore
from support.gate import Gate
from support.inside import content_of, settings_of
from support.shared_state import Clock
from support.upstream import ABORT, Answer, RecordingUpstream, Seen, json_answer


class Runs:
    """A store with runs, and the watch over them."""

    def __init__(self, watch: RunWatch, store: MemoryStore) -> None:
        self.watch = watch
        self.store = store

    async def start(self, *run_ids: str) -> None:
        for run_id in run_ids:
            lease = await self.store.admit(Ask("laptop", Turn.BACKGROUND, 0))
            assert isinstance(lease, Lease)
            await self.store.attach(lease.id, run_id)

    async def look(self) -> None:
        async with asyncio.timeout(20):
            await self.watch.look()

    async def open(self) -> list[str]:
        return [run.run_id for run in await self.store.open_runs()]


@pytest.fixture
async def runs(gate: Gate) -> AsyncIterator[Runs]:
    settings = settings_of(gate)
    generation = build(settings, content_of(settings)).by_name[DEFAULT_UPSTREAM]
    store = MemoryStore(Clock())
    yield Runs(RunWatch(lambda: generation, store), store)
    await generation.pool.close()


def _asked(upstream: RecordingUpstream) -> list[str]:
    return [seen.path.rpartition("/")[2] for seen in upstream.seen]


@pytest.mark.parametrize(
    ("steps", "open_after"),
    [
        (json_answer({"status": "completed"}), 0),
        (json_answer({"status": "failed"}), 0),
        (json_answer({"status": "cancelled"}), 0),
        (json_answer({"error": "x"}, status=404), 0),
        (json_answer({"status": "running"}), 1),
        (json_answer({"status": "something new"}), 1),
        (json_answer({"error": "x"}, status=401), 1),
        (json_answer({"error": "x"}, status=500), 1),
        (json_answer(["completed"]), 1),
        ([ABORT], 1),
    ],
    ids=[
        "completed",
        "failed",
        "cancelled",
        "unknown",
        "running",
        "new",
        "refused",
        "error",
        "shape",
        "gone",
    ],
)
async def test_a_slot_is_given_back_when_the_end_is_certain(
    runs: Runs, upstream: RecordingUpstream, steps: Answer, open_after: int
) -> None:
    """An end, or a run that upstream has forgotten, frees the slot; everything else keeps it."""
    await runs.start("run_1")
    upstream.on("GET", "/v1/runs/run_1", steps)
    await runs.look()
    assert runs.store.slots_taken == open_after


async def test_without_runs_nothing_is_asked(runs: Runs, upstream: RecordingUpstream) -> None:
    """An idle gate leaves its upstream alone."""
    await runs.look()
    assert upstream.seen == []


async def test_upstream_is_asked_with_its_own_key_and_an_escaped_id(
    runs: Runs, gate: Gate, upstream: RecordingUpstream
) -> None:
    """An id that upstream made up cannot change which route is asked."""
    await runs.start("../jobs?x=/#")
    await runs.look()
    (seen,) = upstream.seen
    assert seen.target == "/v1/runs/..%2Fjobs%3Fx%3D%2F%23"
    assert seen.get("authorization") == f"Bearer {gate.upstream_key}".encode()


async def test_every_run_gets_its_turn(runs: Runs, upstream: RecordingUpstream) -> None:
    """One look asks about so many; the next one goes on where it ended, and begins again at the end."""
    names = [f"run_{number:03}" for number in range(MAX_ASKED + 6)]
    await runs.start(*names)
    for name in names:
        upstream.on("GET", f"/v1/runs/{name}", json_answer({"status": "running"}))
    await runs.look()
    assert _asked(upstream) == names[:MAX_ASKED]
    await runs.look()
    assert _asked(upstream) == names + names[: MAX_ASKED - 6]


async def test_a_run_that_cannot_be_asked_about_does_not_hide_the_others(
    runs: Runs, upstream: RecordingUpstream
) -> None:
    """A look ends at the first failure, and the next one begins behind it."""
    await runs.start("bad", "first", "second")

    def broken(_: Seen) -> Answer:
        return [ABORT]

    upstream.on("GET", "/v1/runs/bad", broken)
    for name in ("first", "second"):
        upstream.on("GET", f"/v1/runs/{name}", json_answer({"status": "completed"}))
    for _ in range(3):
        await runs.look()
    assert await runs.open() == ["bad"]


async def test_a_profile_without_run_states_asks_nothing(gate: Gate, upstream: RecordingUpstream) -> None:
    """Where upstream has no runs, there is nothing to ask."""
    gate.config["upstream"]["profile"] = "openai"
    gate.write_config(gate.config)
    settings = settings_of(gate)
    generation = build(settings, read_content(settings, new_fingerprint_key())).by_name[DEFAULT_UPSTREAM]
    store = MemoryStore(Clock())
    runs = Runs(RunWatch(lambda: generation, store), store)
    await runs.start("run_1")
    await runs.look()
    assert upstream.seen == []
    await generation.pool.close()
