"""How an agent server is told to start a job: once, whatever becomes of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from herma.ingress import fire_delivery
from support.fires import BODY, FIRE, JOB, RUN, fire_claims, scheduler, written_keys
from support.inprocess import JOB_KEY, UPSTREAM_KEY, Call, Gated, code, gated, json_of, until
from support.raw import Response
from support.tokens import signer
from support.upstream import answer

KEY = signer("ES256", "fire")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written_keys(tmp_path_factory.mktemp("scheduler"), KEY)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fire_delivery, "RETRY_AFTER_S", (0.0, 0.0))


@asynccontextmanager
async def told() -> AsyncIterator[Gated]:
    """Run a gate with one job key."""
    fires = {"job_keys": [{"name": "nightly", "job_id": JOB, "key": "${JOB}"}]}
    async with gated(upstream_extra={"cron_fire": fires}) as gate:
        yield gate


@asynccontextmanager
async def forwarding(keys: str) -> AsyncIterator[Gated]:
    """Run a gate that hands tokens on."""
    fires = {"deliver": "forward", "issuers": [scheduler(jwks_file=keys)]}
    async with gated(upstream_extra={"cron_fire": fires}) as gate:
        key_set = gate.plane.key_sets.get(next(iter(gate.plane.generation.key_sources)))
        assert key_set is not None
        await until(lambda: not key_set.failure)
        yield gate


async def fire(gate: Gated, key: str = JOB_KEY, **rest: Any) -> Response:
    return await gate.ask("POST", FIRE, key=key, body=BODY, **rest)


async def _reset(call: Call) -> None:
    call.reset()


@pytest.mark.parametrize(
    ("play", "outcome", "tries"),
    [
        (answer(200, b"{}"), "started", 1),
        (answer(404, b"{}"), "not_taken", 1),
        (answer(400, b"{}"), "not_taken", 1),
        (answer(500, b"{}"), "not_taken", 1),
        (answer(503, b"{}"), "not_taken", 3),
        (answer(429, b"{}"), "not_taken", 3),
        (_reset, "unknown", 1),
    ],
)
async def test_what_may_have_been_heard_is_not_said_again(play: Any, outcome: str, tries: int) -> None:
    """Only an agent that says that it did not start the job is told again; the audit has what became of it."""
    async with told() as gate:
        gate.agent.on("POST", RUN, play)
        assert (await fire(gate)).status == 202
        await gate.quiet()
        assert gate.agent.asked == [f"POST {RUN}"] * tries
        assert gate.meter.counts["fires", outcome] == 1
        line = next(one for one in gate.audit.records if one.operation == "cron.run")
        assert (line.job, line.principal, line.route) == (JOB, "fire:nightly", "/api/jobs/{job_id}/run")
        assert line.code == ("" if outcome == "started" else f"herma.fire.{outcome}")
        assert line.outcome == ("answered" if outcome == "started" else "failed")
        assert gate.slots == 0


async def test_an_agent_that_comes_back_is_told() -> None:
    """Nothing was said, so it is said again."""
    async with told() as gate:
        plays = [answer(503, b"{}"), answer(200, b"{}")]

        async def play(call: Call) -> None:
            await call.send(plays.pop(0))

        gate.agent.on("POST", RUN, play)
        assert (await fire(gate)).status == 202
        await gate.quiet()
        assert gate.meter.counts["fires", "started"] == 1


async def test_an_agent_that_is_not_there_is_given_up() -> None:
    """After the last try; the caller has long been answered."""
    async with told() as gate:
        generation = gate.plane.generation
        await generation.pool.close()
        assert (await fire(gate)).status == 202
        await gate.quiet()
        assert gate.meter.counts["fires", "unreachable"] == 1
        assert gate.agent.calls == []


async def test_a_token_is_handed_on_as_it_came(keys: str) -> None:
    """With the very bytes of the body, and nothing else of the caller's."""
    async with forwarding(keys) as gate:
        gate.agent.on("POST", FIRE, answer(202, b'{"status":"accepted","job_id":"0123456789ab"}'))
        token = KEY.token(fire_claims()).decode()
        given = await fire(gate, token, headers=[("X-Forwarded-For", "192.0.2.1"), ("X-Own", "1")])
        assert (given.status, json_of(given)) == (202, {"status": "accepted", "job_id": JOB})
        call = await gate.agent.only()
        assert (call.target, call.body, call.get("authorization")) == (FIRE, BODY, f"Bearer {token}")
        assert UPSTREAM_KEY not in repr(call.headers)
        assert {name.lower() for name, _ in call.headers} == {
            "host",
            "content-type",
            "accept",
            "accept-encoding",
            "authorization",
            "content-length",
        }


@pytest.mark.parametrize(
    ("play", "status", "expected"),
    [
        (answer(401, b'{"error":"invalid fire token"}'), 502, "herma.fire.not_taken"),
        (answer(404, b"{}"), 502, "herma.fire.not_taken"),
        (answer(503, b"{}"), 503, "herma.fire.busy"),
        (answer(429, b"{}"), 503, "herma.fire.busy"),
        (_reset, 502, "herma.upstream.failed"),
    ],
)
async def test_an_agent_that_does_not_take_a_token(keys: str, play: Any, status: int, expected: str) -> None:
    """The caller hears of it, and what the agent said stays inside."""
    async with forwarding(keys) as gate:
        gate.agent.on("POST", FIRE, play)
        token = KEY.token(fire_claims()).decode()
        refused = await fire(gate, token)
        assert (refused.status, code(refused)) == (status, expected)
        assert len(gate.agent.calls) == 1
        assert (await fire(gate, token)).status == 409
