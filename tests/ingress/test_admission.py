"""The slot that a turn needs: who takes one, how long it is held, and that it always comes back."""

import json

import pytest

from herma.errors import StoreError
from herma.ingress.admission import Slot
from herma.policy.limits.lifecycle import Event
from herma.policy.routing.route import Turn
from herma.store import Ask, Lease
from herma.wire import ServerLimits
from support.inprocess import Call, Gated, code, event, gated, held, json_of, sse, until
from support.raw import Ended
from support.upstream import answer, sse_head

CHAT = "/v1/chat/completions"
ONE = {"max_concurrent_runs": 1}
# Every kind of route that starts a turn; an unknown one may.
TURNS = {
    "chat": CHAT,
    "responses": "/v1/responses",
    "runs": "/v1/runs",
    "prefixed": "/p/team/v1/chat/completions",
    "session chat": "/api/sessions/s1/chat",
    "session stream": "/api/sessions/s1/chat/stream",
    "job": "/api/jobs/j1/run",
    "unknown": "/v9/new",
}


@pytest.mark.parametrize("name", TURNS)
async def test_every_turn_takes_a_slot(name: str) -> None:
    """Whatever starts a turn is counted while it is open, and refused when all slots are taken."""
    async with gated(limits=ONE) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", TURNS[name], waiting)
        client = await gate.open("POST", TURNS[name], body={})
        await waiting.reached()
        assert gate.slots == 1
        refused = await gate.ask("POST", TURNS[name], body={})
        assert (refused.status, code(refused)) == (429, "herma.limit.concurrency")
        assert len(gate.agent.calls) == 1
        waiting.release()
        await client.answer()
        # An answer to a start that names no run is counted on, for an hour: something may be running.
        gate.clock.now += 3601
        await until(lambda: gate.slots == 0)


async def test_a_full_gate_says_when_to_come_again() -> None:
    """429 as OpenAI's SDKs expect it, with `Retry-After`, and it may be repeated."""
    async with gated(limits=ONE) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        await gate.open("POST", CHAT, body={})
        await waiting.reached()
        refused = await gate.ask("POST", CHAT, body={})
        assert json_of(refused)["error"]["type"] == "rate_limit_error"
        assert int(refused.get("retry-after") or 0) >= 1
        assert refused.get("x-should-retry") is None
        assert "the agent" in json_of(refused)["error"]["message"]


async def test_what_starts_no_turn_needs_no_slot() -> None:
    """A full gate still answers readers."""
    async with gated(limits=ONE) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        gate.agent.on("GET", "/v1/models", {"data": []})
        await gate.open("POST", CHAT, body={})
        await waiting.reached()
        assert (await gate.ask("GET", "/v1/models")).status == 200


async def test_a_key_has_its_own_cap() -> None:
    """When it is reached, the refusal says so, and other keys still get in."""
    async with gated() as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        await gate.open("POST", CHAT, key="single", body={})
        await waiting.reached()
        refused = await gate.ask("POST", CHAT, key="single", body={})
        assert refused.status == 429
        assert "this key" in json_of(refused)["error"]["message"]
        await gate.open("POST", CHAT, body={})
        await waiting.reached(2)
        assert gate.slots == 2


async def test_zero_turns_the_common_cap_off() -> None:
    """More turns than the default cap run at once, and are still counted."""
    async with gated(limits={"max_concurrent_runs": 0}) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        for _ in range(12):
            await gate.open("POST", CHAT, body={})
        await waiting.reached(12)
        assert gate.slots == 12


async def test_a_local_caller_is_counted_as_well() -> None:
    """Without keys the cap holds all the same."""
    async with gated(keys=False, limits=ONE) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        await gate.open("POST", CHAT, key=None, body={})
        await waiting.reached()
        assert (await gate.ask("POST", CHAT, key=None, body={})).status == 429


async def test_a_gate_that_drains_starts_no_turns() -> None:
    """503 with `Retry-After` for a turn, while everything else is still answered."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", {"data": []})
        gate.plane.lifecycle.handle(Event.STOP_ASKED, 0.0)
        refused = await gate.ask("POST", CHAT, body={})
        assert (refused.status, code(refused)) == (503, "herma.draining")
        assert refused.get("retry-after") == "5"
        assert (await gate.ask("GET", "/v1/models")).status == 200
        assert gate.agent.asked == ["GET /v1/models"]


async def test_a_turn_under_way_outlives_the_drain() -> None:
    """What was admitted may end."""
    async with gated() as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        client = await gate.open("POST", CHAT, body={})
        await waiting.reached()
        gate.plane.lifecycle.handle(Event.STOP_ASKED, 0.0)
        waiting.release()
        assert (await client.answer())[0].endswith(b"200 OK")


# --- a slot is given back


async def test_a_caller_who_leaves_gives_the_slot_back() -> None:
    """The upstream's work is given up, and the next caller gets in."""
    async with gated(limits=ONE) as gate:
        waiting = held({"id": "x"})
        gate.agent.on("POST", CHAT, waiting)
        client = await gate.open("POST", CHAT, body={})
        await waiting.reached()
        client.close()
        await waiting.calls[0].gone()
        await until(lambda: gate.slots == 0)


async def test_a_caller_who_leaves_a_stream_gives_the_slot_back() -> None:
    """In mid-stream as well."""

    async def play(call: Call) -> None:
        await call.send(sse_head())
        await call.chunk(event({"id": "c", "choices": [{"index": 0, "delta": {"content": "hello "}}]}))
        await call.gone()

    async with gated(limits=ONE) as gate:
        gate.agent.on("POST", CHAT, play)
        client = await gate.open("POST", CHAT, body={"stream": True})
        await client.until(b"hello")
        assert gate.slots == 1
        client.close()
        await until(lambda: gate.slots == 0)


async def test_a_stream_holds_its_slot_to_its_end() -> None:
    """And then it is free."""
    async with gated(limits=ONE) as gate:
        gate.agent.on("POST", CHAT, sse(event(b"[DONE]")))
        for _ in range(2):
            assert (await gate.ask("POST", CHAT, body={"stream": True})).status == 200


async def _resets(call: Call) -> None:
    call.reset()


async def _closes(call: Call) -> None:
    call.close()


@pytest.mark.parametrize("target", [CHAT, "/v1/runs"])
@pytest.mark.parametrize(
    "play", [_resets, _closes, answer(404, b"{}"), answer(500, b"oops"), b"nonsense\r\n\r\n"]
)
async def test_a_failing_upstream_gives_the_slot_back(target: str, play: object) -> None:
    """No turn runs where none was started, whatever the upstream did instead."""
    async with gated(limits=ONE) as gate:
        gate.agent.on("POST", target, play)
        for _ in range(2):
            assert (await gate.ask("POST", target, body={})).status in {404, 500, 502}
        assert gate.slots == 0


@pytest.mark.parametrize("target", [CHAT, "/v1/runs"])
async def test_an_unreachable_upstream_gives_the_slot_back(target: str) -> None:
    """503, and the cap is not used up by what never began."""
    async with gated(limits=ONE) as gate:
        gate.plane.generation.pool.retire()
        for _ in range(2):
            refused = await gate.ask("POST", target, body={})
            assert (refused.status, code(refused)) == (503, "herma.upstream.unreachable")
        assert gate.slots == 0


@pytest.mark.parametrize("target", [CHAT, "/v1/runs"])
@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"body": b"{"}, 400),
        ({"body": {}, "headers": [("Content-Encoding", "br")]}, 415),
        ({"body": b"5\r\nabcde\r\nx", "headers": [("Transfer-Encoding", "chunked")]}, 400),
    ],
    ids=["malformed", "encoding", "framing"],
)
async def test_a_refusal_after_the_admission_gives_the_slot_back(
    target: str, parts: dict[str, object], status: int
) -> None:
    """The slot is taken before the body is read, and given back when the body is refused."""
    async with gated(limits=ONE) as gate:
        for _ in range(2):
            assert (await gate.ask("POST", target, **parts)).status == status
        assert gate.slots == 0
        assert gate.agent.calls == []


async def test_a_body_that_never_comes_gives_the_slot_back() -> None:
    """A turn cannot be held by sending nothing: 408."""
    async with gated(limits=ONE, wire=ServerLimits(body_timeout_s=0.02)) as gate:
        client = await gate.open("POST", CHAT, headers=[("Content-Length", "10")])
        status, body = await client.answer()
        assert b" 408 " in status
        assert json.loads(body)["error"]["code"] == "herma.body.timeout"
        assert gate.slots == 0


async def test_a_caller_who_leaves_in_mid_upload_gives_the_slot_back() -> None:
    """Even before anything went upstream."""
    async with gated(limits=ONE) as gate:
        client = await gate.open("POST", CHAT, headers=[("Content-Length", "10"), ("Expect", "100-continue")])
        await client.until(b"100 Continue\r\n\r\n")
        assert gate.slots == 1
        client.close()
        await until(lambda: gate.slots == 0)
        assert gate.agent.calls == []


# --- background runs


async def _start(gate: Gated, run: str = "run_1", key: str = "runner") -> int:
    gate.agent.on("POST", "/v1/runs", answer(202, json.dumps({"run_id": run}).encode()))
    return (await gate.ask("POST", "/v1/runs", key=key, body={"input": "x"})).status


async def test_a_run_holds_its_slot_beyond_its_request() -> None:
    """The answer is out and the run goes on: its slot is taken."""
    async with gated(limits=ONE) as gate:
        assert await _start(gate) == 202
        assert gate.slots == 1
        assert await _start(gate) == 429
        assert (await gate.ask("POST", CHAT, body={})).status == 429


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "interrupted"])
async def test_a_poll_that_sees_the_end_frees_the_slot(state: str) -> None:
    """Any caller's status poll tells the gate too, and a run that still runs keeps its slot."""
    async with gated(limits=ONE) as gate:
        await _start(gate)
        gate.agent.on("GET", "/v1/runs/run_1", {"run_id": "run_1", "status": "running"})
        assert (await gate.ask("GET", "/v1/runs/run_1")).status == 200
        assert gate.slots == 1
        gate.agent.on("GET", "/v1/runs/run_1", {"run_id": "run_1", "status": state})
        assert (await gate.ask("GET", "/p/team/v1/runs/run_1")).status == 404
        assert gate.slots == 1
        assert (await gate.ask("GET", "/v1/runs/run_1")).status == 200
        assert gate.slots == 0
        assert await _start(gate, "run_2") == 202


@pytest.mark.parametrize("last", ["run.completed", "run.failed", "run.cancelled"])
async def test_a_stream_that_sees_the_end_frees_the_slot(last: str) -> None:
    """The run's own event stream tells of its end."""
    async with gated(limits=ONE) as gate:
        await _start(gate)
        delta = event({"event": "message.delta", "run_id": "run_1", "delta": "hi"})
        gate.agent.on("GET", "/v1/runs/run_1/events", sse(delta))
        assert (await gate.ask("GET", "/v1/runs/run_1/events")).status == 200
        assert gate.slots == 1
        gate.agent.on("GET", "/v1/runs/run_1/events", sse(delta, event({"event": last, "run_id": "run_1"})))
        assert (await gate.ask("GET", "/v1/runs/run_1/events")).status == 200
        assert gate.slots == 0


async def test_a_run_whose_caller_left_is_owned_and_counted() -> None:
    """The run goes on without its caller: it holds its slot, belongs to the caller's key, and ends as any other."""
    async with gated(limits=ONE) as gate:
        waiting = held({"run_id": "run_1", "status": "started"}, 202)
        gate.agent.on("POST", "/v1/runs", waiting)
        client = await gate.open("POST", "/v1/runs", body={"input": "x"})
        await waiting.reached()
        client.close()
        await until(lambda: not gate.plane.active)
        assert gate.audit.records[-1].outcome == "client_gone"
        assert gate.slots == 1
        waiting.release()
        await gate.quiet()
        assert gate.slots == 1
        gate.agent.on("GET", "/v1/runs/run_1", {"run_id": "run_1", "status": "completed"})
        assert (await gate.ask("GET", "/v1/runs/run_1", key="other")).status == 404
        assert (await gate.ask("GET", "/v1/runs/run_1")).status == 200
        assert gate.slots == 0


async def test_a_start_that_fails_after_its_caller_left_gives_the_slot_back() -> None:
    """Nothing was started, and nobody is there to hear it; the operator sees it counted."""
    async with gated(limits=ONE) as gate:

        async def play(call: Call) -> None:
            await until(lambda: not gate.plane.active)
            call.reset()

        gate.agent.on("POST", "/v1/runs", play)
        client = await gate.open("POST", "/v1/runs", body={"input": "x"})
        await gate.agent.only()
        client.close()
        await until(lambda: gate.slots == 0)
        await gate.quiet()
        assert gate.meter.counts["kept_work_failed", ""] == 1


async def test_a_repeated_start_holds_one_slot() -> None:
    """The upstream answers a repetition with the run it started before: one run, one slot."""
    async with gated() as gate:
        await _start(gate)
        await _start(gate)
        assert gate.slots == 1


@pytest.mark.parametrize("body", [b"{}", b"not json", b'{"run_id": 7}'])
async def test_a_run_without_an_id_is_counted_for_a_while(body: bytes) -> None:
    """An answer that names no run leaves something that may run, and nothing whose end could be seen."""
    async with gated(limits=ONE) as gate:
        gate.agent.on("POST", "/v1/runs", answer(202, body))
        assert (await gate.ask("POST", "/v1/runs", body={"input": "x"})).status == 202
        assert gate.slots == 1
        gate.clock.now += 3601
        assert gate.slots == 0


async def test_a_run_that_cannot_be_noted_is_not_answered() -> None:
    """The state is lost after the upstream has started: 503 rather than a run that belongs to nobody."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/runs", answer(202, b'{"run_id": "run_1"}'))
        gate.store.broken["attach"] = StoreError("gone")
        talk = await gate.talk("POST", "/v1/runs", body={"input": "x"})
        assert (talk.status, code(talk.first)) == (503, "herma.store.unavailable")
        assert talk.ended is Ended.OPEN


# --- the slot itself


async def _leased(gate: Gated) -> str:
    lease = await gate.store.admit(Ask("k", Turn.BACKGROUND, 0))
    assert isinstance(lease, Lease)
    return lease.id


async def test_a_slot_is_a_context() -> None:
    """Leaving it gives the lease back, once."""
    async with gated() as gate:
        slot = Slot(gate.store, await _leased(gate))
        async with slot:
            assert gate.slots == 1
        assert gate.slots == 0
        async with slot:
            pass
        assert gate.store.asked["release"] == 1


async def test_a_lent_lease_is_given_back_by_who_holds_it() -> None:
    """Who lent it may leave first."""
    async with gated() as gate:
        slot = Slot(gate.store, await _leased(gate))
        async with slot:
            lent = slot.lend()
        assert gate.slots == 1
        async with lent:
            pass
        assert gate.slots == 0


async def test_a_lease_handed_over_stays_with_the_run() -> None:
    """Once a run holds it, only its end frees it; handing over what is not held changes nothing."""
    async with gated() as gate:
        async with Slot(gate.store, await _leased(gate)) as slot:
            await slot.hand_over("run_1")
            await slot.hand_over("run_2")
        assert [run.run_id for run in await gate.store.open_runs()] == ["run_1"]
        await gate.store.run_ended("run_1")
        assert gate.slots == 0
