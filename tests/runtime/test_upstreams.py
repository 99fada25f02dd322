"""The watch over all upstreams."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from herma.policy.limits.admission import Ask, Lease
from herma.policy.routing.profile import Turn
from herma.runtime.generation import build
from herma.runtime.upstreams import Upstreams
from herma.store import MemoryStore, Partition
from support.gate import Gate
from support.inside import Lines, content_of, settings_of, until
from support.shared_state import Clock
from support.upstream import RecordingUpstream, detailed_health, json_answer


class Watched:
    """A watch, and all it talks to."""

    def __init__(self, upstreams: Upstreams, store: MemoryStore, log: Lines) -> None:
        self.upstreams = upstreams
        self.store = store
        self.log = log


@asynccontextmanager
async def _watched(gate: Gate, second: str) -> AsyncIterator[Watched]:
    gate.config["upstreams"] = {"second": {"url": second, "public_names": ["second.example.com"]}}
    gate.write_config(gate.config)
    settings = settings_of(gate)
    generations = build(settings, content_of(settings))
    store, log = MemoryStore(Clock()), Lines()
    watched = Watched(Upstreams(lambda: generations, store, log), store, log)
    task = asyncio.get_running_loop().create_task(watched.upstreams.run())
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await generations.close()


async def test_turns_of_all_upstreams_are_counted_together(gate: Gate, upstream: RecordingUpstream) -> None:
    """There is one number of slots; what ran before this start takes some at each."""
    upstream.on("GET", "/health/detailed", json_answer(detailed_health(2)))
    with RecordingUpstream() as other:
        other.on("GET", "/health/detailed", json_answer(detailed_health(3)))
        async with _watched(gate, other.url) as watched:
            await until(lambda: watched.store.slots_taken == 5)


async def test_one_that_is_down_is_told_by_its_name(gate: Gate) -> None:
    """The first is up all the same."""
    async with _watched(gate, "http://127.0.0.1:9") as watched:
        await until(lambda: watched.upstreams.default.up)
        await until(lambda: "does not answer" in watched.upstreams.status("second")["reason"])
        assert watched.upstreams.status("default")["up"] is True
        assert watched.upstreams.status("second")["up"] is False
        assert watched.upstreams.readings()["second"] == {"up": 0, "exposed": 0, "route_drift": 0}


async def test_a_run_is_asked_after_where_it_was_started(gate: Gate, upstream: RecordingUpstream) -> None:
    """Another upstream does not know it, and a run that is not known is over."""
    with RecordingUpstream() as other:
        other.on("GET", "/v1/runs/run_1", json_answer({"status": "completed"}))
        upstream.on("GET", "/v1/runs/run_1", json_answer({"status": "running"}))
        async with _watched(gate, other.url) as watched:
            for name in ("default", "second"):
                lease = await watched.store.admit(Ask("laptop", Turn.BACKGROUND, 0))
                assert isinstance(lease, Lease)
                await Partition(watched.store, name).attach(lease.id, "run_1")
            await until(lambda: len(watched.store.open_runs_after("", 9)) == 1)
            assert [run.run_id for run in await watched.store.open_runs()] == ["default/run_1"]
