"""What the gate finds out about its upstream."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from herma.config.upstream import DEFAULT_UPSTREAM
from herma.ingress import Generation
from herma.runtime.generation import build, new_fingerprint_key, read_content
from herma.runtime.probe import MAX_ANSWER_BYTES, MAX_DRIFT, MAX_ROUTE_CHARS, UpstreamWatch, ask
from herma.store import MemoryStore
from herma.wire import UpstreamError
from support.gate import Gate
from support.inside import Lines, content_of, settings_of, until
from support.shared_state import Clock
from support.upstream import ABORT, Answer, RecordingUpstream, Seen, answer, detailed_health, json_answer

DETAILED, CAPABILITIES = "/health/detailed", "/v1/capabilities"


def _generation(gate: Gate) -> Generation:
    settings = settings_of(gate)
    return build(settings, content_of(settings)).by_name[DEFAULT_UPSTREAM]


class Looking:
    """A watch over an upstream, whose looks happen when the test says so."""

    def __init__(self, gate: Gate, generation: Generation, ask_interval_s: float = 0.0) -> None:
        self.gate = gate
        self.generation = generation
        self.store = MemoryStore(Clock())
        self.log = Lines()
        self.watch = UpstreamWatch(lambda: self.generation, self._seed, self.log, ask_interval_s)
        self.state = self.watch.state

    async def _seed(self) -> None:
        await self.store.seed(self.state.running or 0)

    async def look(self) -> None:
        async with asyncio.timeout(20):
            await self.watch.look()


@pytest.fixture
async def looking(gate: Gate) -> AsyncIterator[Looking]:
    looking = Looking(gate, _generation(gate))
    yield looking
    await looking.generation.pool.close()


def _endpoints(*routes: tuple[Any, Any]) -> Answer:
    endpoints = {f"e{number}": {"method": m, "path": p} for number, (m, p) in enumerate(routes)}
    return json_answer({"endpoints": endpoints})


async def test_before_the_first_look_nothing_is_claimed(looking: Looking) -> None:
    """A gate that has not asked yet is not ready."""
    assert (looking.state.up, looking.state.key_accepted, looking.state.running) == (False, None, None)
    assert looking.state.reason == "not asked yet"


async def test_an_upstream_that_answers_is_up(looking: Looking, upstream: RecordingUpstream) -> None:
    """It is asked with its own key and name, uncompressed, and what it says is noted."""
    await looking.look()
    assert looking.state.up
    assert looking.state.key_accepted
    assert looking.state.running == 0
    assert looking.log.events() == ["upstream.up"]
    seen = upstream.seen[0]
    assert seen.get("authorization") == f"Bearer {looking.gate.upstream_key}".encode()
    assert seen.get("host") == f"127.0.0.1:{upstream.port}".encode()
    assert seen.get("accept-encoding") == b"identity"


async def test_without_a_key_none_is_sent(gate: Gate, upstream: RecordingUpstream) -> None:
    """An upstream that needs no key is not told one."""
    del gate.config["upstream"]["key_file"]
    gate.write_config(gate.config)
    looking = Looking(gate, _generation(gate))
    await looking.look()
    assert looking.state.up
    assert all(seen.get("authorization") is None for seen in upstream.seen)
    await looking.generation.pool.close()


@pytest.mark.parametrize(
    ("steps", "up"),
    [
        (json_answer({"error": "x"}, status=401), True),
        (json_answer({"error": "x"}, status=404), True),
        ([answer(200, b"not json")], True),
        (json_answer({"error": "x"}, status=503), False),
        ([ABORT], False),
        ([b"SMTP ready\r\n\r\n", ABORT], False),
        ([answer(200, b"x" * (MAX_ANSWER_BYTES + 1))], False),
    ],
    ids=["refuses", "has no such route", "no json", "fails", "breaks off", "no http", "too large"],
)
async def test_any_answer_but_a_failure_is_up(
    looking: Looking, upstream: RecordingUpstream, steps: Answer, up: bool
) -> None:
    """Whoever answers is there; whoever fails or answers nonsense is not, and the reason says so."""
    upstream.on("GET", "/health", steps)
    await looking.look()
    assert looking.state.up is up
    assert looking.state.reason.startswith("the upstream answered" if up else "the upstream ")


async def test_an_upstream_that_goes_away_is_down_and_comes_back(
    looking: Looking, upstream: RecordingUpstream
) -> None:
    """Each change is told once, and a return is looked at as closely as a start."""
    await looking.look()
    upstream.refuse_connections()
    for _ in range(2):
        await looking.look()
        assert not looking.state.up
        assert looking.state.reason == "the upstream does not answer (connect)"
    upstream.listen_again()
    asked = len([seen for seen in upstream.seen if seen.path == DETAILED])
    await looking.look()
    assert looking.state.up
    assert looking.log.events() == ["upstream.up", "upstream.down", "upstream.up"]
    assert len([seen for seen in upstream.seen if seen.path == DETAILED]) == asked + 1


async def test_a_refused_key_is_told(looking: Looking, upstream: RecordingUpstream) -> None:
    """An upstream that is up but does not take the key answers nobody; the log names the option."""
    for path in (DETAILED, CAPABILITIES):
        upstream.on("GET", path, json_answer({"error": "x"}, status=401))
    await looking.look()
    assert looking.state.up
    assert looking.state.key_accepted is False
    assert "upstream.key" in looking.log.text()
    assert looking.gate.upstream_key not in looking.log.text()


async def test_unknown_routes_are_listed(looking: Looking, upstream: RecordingUpstream) -> None:
    """What the upstream announces and the profile does not know shows; what is no route is skipped."""
    routes = [("POST", "/v1/runs"), ("POST", "/v1/brand-new"), (1, "/x"), ("GET", None), ("GET", "/v2/other")]
    upstream.on("GET", CAPABILITIES, _endpoints(*routes))
    await looking.look()
    assert looking.state.drift == ("GET /v2/other", "POST /v1/brand-new")
    assert "upstream.drift" in looking.log.events()
    assert "/v1/brand-new" in looking.log.text()


async def test_the_list_of_unknown_routes_is_bounded(looking: Looking, upstream: RecordingUpstream) -> None:
    """An upstream cannot flood the status page."""
    routes = [("GET", f"/v9/{number:04}" + "x" * 500) for number in range(300)]
    upstream.on("GET", CAPABILITIES, _endpoints(*routes))
    await looking.look()
    assert len(looking.state.drift) == MAX_DRIFT
    assert max(map(len, looking.state.drift)) <= MAX_ROUTE_CHARS * 2 + 1


async def test_the_running_count_is_seeded(looking: Looking, upstream: RecordingUpstream) -> None:
    """After a restart the turns that upstream still runs take slots."""
    upstream.on("GET", DETAILED, json_answer(detailed_health(3)))
    await looking.look()
    assert (looking.state.running, looking.store.slots_taken) == (3, 3)


async def test_the_running_count_only_falls(looking: Looking, upstream: RecordingUpstream) -> None:
    """Turns that this gate started have their own slots: a higher count adds none, a lower one gives slots back."""
    counts = iter([3, 5, 2, 0])

    def detailed(_: Seen) -> Answer:
        return json_answer(detailed_health(next(counts)))

    upstream.on("GET", DETAILED, detailed)
    taken = []
    for _ in range(6):
        await looking.look()
        taken.append(looking.store.slots_taken)
    assert taken == [3, 3, 2, 0, 0, 0]


@pytest.mark.parametrize(
    "value",
    [True, "3", None, -4, {"readiness": []}],
    ids=["a truth", "text", "nothing", "negative", "elsewhere"],
)
async def test_a_count_that_is_none_seeds_nothing(
    looking: Looking, upstream: RecordingUpstream, value: Any
) -> None:
    """Only a number is a number; a negative one is zero."""
    document = detailed_health(0)
    document["readiness"] = {"checks": {"background_queues": {"active_api_runs": value}}}
    upstream.on("GET", DETAILED, json_answer(document))
    await looking.look()
    assert looking.store.slots_taken == 0
    assert looking.state.running in {None, 0}


async def test_a_look_that_failed_half_way_is_repeated(looking: Looking, upstream: RecordingUpstream) -> None:
    """Turns that upstream runs are counted at the next look if they could not be counted at the first."""
    upstream.on("GET", DETAILED, [ABORT])
    await looking.look()
    assert looking.state.up
    assert looking.store.slots_taken == 0
    upstream.on("GET", DETAILED, json_answer(detailed_health(2)))
    await looking.look()
    assert looking.store.slots_taken == 2
    assert looking.log.events() == ["upstream.up"]


async def test_a_count_down_that_fails_keeps_the_slots(looking: Looking, upstream: RecordingUpstream) -> None:
    """What may still be running stays counted while the readout cannot be had."""
    upstream.on("GET", DETAILED, json_answer(detailed_health(2)))
    await looking.look()
    upstream.on("GET", DETAILED, [ABORT])
    await looking.look()
    assert looking.store.slots_taken == 2


async def test_a_new_configuration_is_looked_at_closely(gate: Gate, looking: Looking) -> None:
    """After a reload the key that is shown as accepted is the one in force."""
    await looking.look()
    await looking.generation.pool.close()
    with RecordingUpstream() as other:
        other.on("GET", DETAILED, json_answer({"error": "x"}, status=403))
        gate.config["upstream"]["url"] = other.url
        gate.write_config(gate.config)
        looking.generation = _generation(gate)
        await looking.look()
        assert looking.state.up
        assert looking.state.key_accepted is False
        await looking.generation.pool.close()


async def test_an_upstream_of_another_kind_is_only_asked_whether_it_is_up(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """A profile that names no readout has none asked for."""
    gate.config["upstream"]["profile"] = "openai"
    gate.write_config(gate.config)
    settings = settings_of(gate)
    looking = Looking(
        gate, build(settings, read_content(settings, new_fingerprint_key())).by_name[DEFAULT_UPSTREAM]
    )
    profile = looking.generation.profile
    assert (profile.running, profile.capabilities) == (None, None)
    await looking.look()
    await looking.look()
    assert looking.state.up
    assert {seen.path for seen in upstream.seen} == {"/health"}
    await looking.generation.pool.close()


async def test_what_another_profile_found_is_forgotten(
    gate: Gate, looking: Looking, upstream: RecordingUpstream
) -> None:
    """After a change of the profile, the status shows nothing that was asked with the old one."""
    upstream.on("GET", CAPABILITIES, _endpoints(("POST", "/v1/brand-new")))
    upstream.on("GET", DETAILED, json_answer(detailed_health(2)))
    await looking.look()
    assert (looking.state.drift, looking.state.key_accepted) == (("POST /v1/brand-new",), True)
    await looking.generation.pool.close()
    gate.config["upstream"]["profile"] = "openai"
    gate.write_config(gate.config)
    settings = settings_of(gate)
    looking.generation = build(settings, read_content(settings, new_fingerprint_key())).by_name[
        DEFAULT_UPSTREAM
    ]
    asked = len(upstream.seen)
    for _ in range(2):
        await looking.look()
    assert (looking.state.drift, looking.state.key_accepted) == ((), None)
    assert {seen.path for seen in upstream.seen[asked:]} == {"/health"}


async def test_it_looks_until_it_is_cancelled(looking: Looking) -> None:
    """The first look comes at once."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(looking.watch.run())
        await until(lambda: looking.state.up)
        task.cancel()
    assert task.cancelled()


async def test_an_answer_is_read_as_a_strangers(looking: Looking, upstream: RecordingUpstream) -> None:
    """JSON that is ambiguous or too deep is none."""
    for body in (b'{"a":1,"a":2}', b"[" * 100 + b"]" * 100, b"\xff"):
        upstream.on("GET", "/any", [answer(200, body)])
        assert await ask(looking.generation, "/any") == (200, None)
    upstream.on("GET", "/any", [ABORT])
    with pytest.raises(UpstreamError):
        await ask(looking.generation, "/any")


async def test_an_upstream_that_was_heard_lately_is_only_reached(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """Between two questions it is not asked anything, and is still noticed when it goes."""
    looking = Looking(gate, _generation(gate), ask_interval_s=60.0)
    await looking.look()
    asked = len(upstream.seen)
    await looking.look()
    assert looking.state.up
    assert len(upstream.seen) == asked
    upstream.refuse_connections()
    await looking.generation.pool.close()
    looking.generation = _generation(gate)
    await looking.look()
    assert not looking.state.up
    upstream.listen_again()
    await looking.generation.pool.close()


@pytest.mark.parametrize(
    ("status", "gated", "accepted", "event"),
    [
        (200, False, True, None),
        (401, False, False, "upstream.key"),
        (404, False, None, None),
        (401, True, False, "upstream.own_login"),
    ],
    ids=["key accepted", "key refused", "not known there", "a login of its own"],
)
async def test_a_dashboard_is_asked_whether_it_takes_the_key(
    gate: Gate,
    upstream: RecordingUpstream,
    status: int,
    gated: bool,
    accepted: bool | None,
    event: str | None,
) -> None:
    """One that asks for a login of its own takes none, whatever the key; the operator hears what to set."""
    gate.config["upstream"]["profile"] = "hermes-dashboard"
    gate.write_config(gate.config)
    settings = settings_of(gate)
    content = read_content(settings, new_fingerprint_key())
    looking = Looking(gate, build(settings, content).by_name[DEFAULT_UPSTREAM])
    upstream.on("GET", "/api/status", json_answer({"auth_required": gated}))
    upstream.on("GET", "/api/profiles/active", json_answer({}, status=status))
    await looking.look()
    assert (looking.state.key_accepted, looking.state.own_login) == (accepted, gated)
    assert looking.log.events() == ["upstream.up", *([event] if event else [])]
    assert ("public_url" in looking.log.text()) is gated
    await looking.generation.pool.close()
