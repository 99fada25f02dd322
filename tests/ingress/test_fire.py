"""The remote start of a scheduled job: who may, what is refused how, and in which order."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from herma.errors import StoreError
from herma.policy.limits.lifecycle import Event
from herma.policy.routing.route import Turn
from herma.store import Ask, Lease
from support.fires import BODY, FIRE, JOB, RUN, fire_claims, scheduler, written_keys
from support.inprocess import JOB_KEY, KEYS, UPSTREAM_KEY, Gated, code, gated, json_of, until
from support.raw import Response
from support.tokens import claims, signer

KEY, STRANGER = signer("ES256", "fire"), signer("ES256", "stranger")
UNIFORM = {"error": "invalid fire token", "code": "herma.fire.refused"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written_keys(
        tmp_path_factory.mktemp("scheduler"), KEY, signer("RS256", "rs"), signer("EdDSA", "ed")
    )


@asynccontextmanager
async def firing(keys: str, *, deliver: str = "run", **extra: Any) -> AsyncIterator[Gated]:
    """Run a gate that takes the tokens of a scheduler, and one job key."""
    fires: dict[str, Any] = {"deliver": deliver, "issuers": [scheduler(jwks_file=keys)]}
    if deliver == "run":
        fires["job_keys"] = [{"name": "nightly", "job_id": JOB, "key": "${JOB}"}]
    async with gated(upstream_extra={"cron_fire": fires, **extra.pop("below", {})}, **extra) as gate:
        source = next(iter(gate.plane.generation.key_sources))
        key_set = gate.plane.key_sets.get(source)
        assert key_set is not None
        await until(lambda: not key_set.failure)
        gate.agent.on("POST", RUN, {"job": {"id": JOB}})
        yield gate


async def fire(gate: Gated, token: bytes | str | None = None, body: object = BODY, **rest: Any) -> Response:
    credential = KEY.token(fire_claims()) if token is None else token
    text = credential.decode() if isinstance(credential, bytes) else credential
    return await gate.ask("POST", rest.pop("target", FIRE), key=text, body=body, **rest)


@pytest.mark.parametrize("key", [KEY, signer("RS256", "rs"), signer("EdDSA", "ed")], ids=["ES", "RS", "Ed"])
async def test_a_start_is_told_to_the_agent_with_its_own_key(keys: str, key: Any) -> None:
    """The caller is answered at once; the agent sees the gate's request, and nothing of the caller's."""
    async with firing(keys) as gate:
        answer = await fire(gate, key.token(fire_claims()), b'{"job_id":"0123456789ab","extra":"x"}')
        assert (answer.status, json_of(answer)) == (202, {"status": "accepted", "job_id": JOB})
        call = await gate.agent.only()
        assert (call.method, call.target, call.body) == ("POST", RUN, b"{}")
        assert call.get("authorization") == f"Bearer {UPSTREAM_KEY}"
        await gate.quiet()
        told, asked = gate.audit.records[-2:]
        if told.operation == "cron.fire":
            told, asked = asked, told
        assert (asked.principal, asked.job, asked.status) == ("fire:scheduler", JOB, 202)
        assert (told.exchange, told.operation, told.status, told.outcome) == (
            asked.exchange,
            "cron.run",
            200,
            "answered",
        )
        assert gate.slots == 0
        assert gate.meter.counts["fires", "started"] == 1


async def test_the_caller_is_answered_before_the_agent_is(keys: str) -> None:
    """An agent that takes its time holds up nobody, and the gate waits for it before it stops."""
    go = asyncio.Event()

    async def slow(call: Any) -> None:
        await go.wait()
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async with firing(keys) as gate:
        gate.agent.on("POST", RUN, slow)
        assert (await fire(gate)).status == 202
        await gate.agent.only()
        assert gate.plane.busy
        go.set()
        await gate.quiet()


async def test_a_job_key_starts_its_job_and_nothing_else(keys: str) -> None:
    """As often as it is sent; another job is another key's."""
    async with firing(keys) as gate:
        assert [(await fire(gate, JOB_KEY)).status for _ in range(2)] == [202, 202]
        other = await fire(gate, JOB_KEY, {"job_id": "0123456789ac"})
        assert (other.status, json_of(other)) == (401, UNIFORM)
        for method, target in (("GET", "/v1/models"), ("GET", "/api/jobs"), ("POST", RUN)):
            assert (await gate.ask(method, target, key=JOB_KEY, body={})).status == 401
        await gate.quiet()
        assert gate.agent.asked == [f"POST {RUN}"] * 2


# Each is made when it is sent: a token that is over is refused for that.
WRONG: dict[str, Callable[[], bytes]] = {
    "another key's": lambda: STRANGER.token(fire_claims(), kid="fire"),
    "unknown key": lambda: STRANGER.token(fire_claims()),
    "another audience": lambda: KEY.token(fire_claims(aud="agent-8")),
    "part of the audience": lambda: KEY.token(fire_claims(aud="agent-77")),
    "another issuer": lambda: KEY.token(fire_claims(iss="https://evil.example.com")),
    "another purpose": lambda: KEY.token(fire_claims(purpose="report")),
    "no purpose": lambda: KEY.token(fire_claims(purpose=None)),
    "another job": lambda: KEY.token(fire_claims(job_id="0123456789ac")),
    "no job": lambda: KEY.token(fire_claims(job_id=None)),
    "no id": lambda: KEY.token(fire_claims(jti=None)),
    "long id": lambda: KEY.token(fire_claims(jti="j" * 129)),
    "not issued": lambda: KEY.token(fire_claims(iat=None)),
    "no end": lambda: KEY.token(fire_claims(exp=None)),
    "over": lambda: KEY.token(fire_claims(exp=1_700_000_000, iat=1_699_999_900)),
    "ten years": lambda: KEY.token(fire_claims(exp=2_400_000_000)),
    "issued for an hour": lambda: KEY.token(fire_claims(exp=fire_claims()["iat"] + 3600)),
    "another profile": lambda: KEY.token(fire_claims(profile="work")),
    "another body": lambda: KEY.token(fire_claims(body_sha256="0" * 64)),
    "an access token": lambda: KEY.token(fire_claims(), typ="at+jwt"),
    "its own key": lambda: KEY.token(fire_claims(), jwk=STRANGER.jwk()),
    "a URL of keys": lambda: KEY.token(fire_claims(), jku="http://127.0.0.1:1/"),
    "critical": lambda: KEY.token(fire_claims(), crit=["exp"]),
    "no signature": lambda: KEY.token(fire_claims()).rpartition(b".")[0] + b".",
    "none": lambda: b".".join(
        (
            base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"="),
            KEY.token(fire_claims()).split(b".")[1],
            b"",
        )
    ),
    "long": lambda: b"eyJ" + b"a" * 9000,
}


@pytest.mark.bypass(75, 76)
@pytest.mark.parametrize("wrong", WRONG)
async def test_who_may_not_is_told_the_same_whatever_is_wrong(keys: str, wrong: str) -> None:
    """One answer for all; the agent sees nothing."""
    async with firing(keys) as gate:
        refused = await fire(gate, WRONG[wrong]())
        assert (refused.status, json_of(refused)) == (401, UNIFORM)
        last = await gate.last()
        assert (last.code, gate.agent.calls) == ("herma.fire.refused", [])
        assert len(last.findings) == 1


@pytest.mark.bypass(76)
@pytest.mark.parametrize("key", [None, *KEYS])
async def test_no_key_of_the_gate_starts_a_job_there(keys: str, key: str | None) -> None:
    """Not even an admin's, nor the agent's own; and it tells nobody which keys there are."""
    async with firing(keys) as gate:
        refused = await gate.ask("POST", FIRE, key=key, body=BODY)
        assert (refused.status, json_of(refused)) == (401, UNIFORM)
        own = await gate.ask("POST", FIRE, key=UPSTREAM_KEY, body=BODY)
        assert (own.status, json_of(own)) == (401, UNIFORM)
        await gate.quiet()
        assert gate.agent.calls == []


@pytest.mark.bypass(76)
async def test_a_fire_token_opens_nothing_else(keys: str) -> None:
    """Not where tokens are taken either, and of the same issuer."""
    issuer = {
        "name": "idp",
        "issuer": claims()["iss"],
        "audience": "api",
        "jwks_file": keys,
        "scopes": ["admin"],
        "subjects": ["worker-1"],
        "default_scopes": ["run"],
    }
    async with firing(keys, others={"tokens": [issuer]}) as gate:
        said = fire_claims(aud=["agent-7", "api"], sub="worker-1", scope="admin")
        token = KEY.token(said).decode()
        for method, target in (
            ("GET", "/v1/models"),
            ("GET", "/api/jobs"),
            ("POST", RUN),
            ("GET", "/health/detailed"),
        ):
            assert (await gate.ask(method, target, key=token, body={})).status == 401
        assert gate.agent.calls == []
        assert (await fire(gate, token)).status == 202


@pytest.mark.bypass(76)
async def test_a_token_is_used_once(keys: str) -> None:
    """Of any number of requests at the same time one starts the job, the others are told that it was used."""
    async with firing(keys) as gate:
        token = KEY.token(fire_claims())
        answers = await asyncio.gather(*(fire(gate, token) for _ in range(8)))
        assert sorted(answer.status for answer in answers) == [202] + [409] * 7
        assert {code(one) for one in answers if one.status == 409} == {"herma.fire.used"}
        await gate.quiet()
        assert gate.agent.asked == [f"POST {RUN}"]


async def test_a_refused_request_does_not_use_the_token_up(keys: str) -> None:
    """A scheduler that is told to come again, or to send another body, still has a token to come with."""
    async with firing(keys, limits={"max_concurrent_runs": 1}) as gate:
        token = KEY.token(fire_claims())
        assert (await fire(gate, token, b"{}")).status == 400
        assert (await fire(gate, token, {"job_id": "other"})).status == 401
        lease = await gate.store.admit(Ask("runner", Turn.OPEN, 1))
        assert isinstance(lease, Lease)
        full = await fire(gate, token)
        assert (full.status, full.get("retry-after")) == (429, "1")
        await gate.store.release(lease.id)
        assert (await fire(gate, token)).status == 202


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"", 400, "missing job_id"),
        (b"{}", 400, "missing job_id"),
        (b'{"job_id":""}', 400, "missing job_id"),
        (b'{"job_id":7}', 400, "missing job_id"),
        (b'{"job_id":"../../x"}', 400, "missing job_id"),
        (b'["0123456789ab"]', 400, None),
        (b"job_id=0123456789ab", 400, None),
        (b'{"job_id":"0123456789ac","job_id":"0123456789ab"}', 400, None),
        (b'{"job_id":"0123456789ab"', 400, None),
        (b'{"job_id":"0123456789ab","profile":"work"}', 401, "invalid fire token"),
        (b'{"job_id":"0123456789ab","profile":null}', 202, None),
    ],
)
async def test_the_body_names_one_job(keys: str, body: bytes, status: int, expected: str | None) -> None:
    """In JSON with one meaning."""
    async with firing(keys) as gate:
        answer = await fire(gate, None, body)
        assert answer.status == status
        if expected is not None:
            assert json_of(answer)["error"] == expected
        await gate.quiet()
        assert len(gate.agent.calls) == (status == 202)


@pytest.mark.bypass(76)
async def test_the_body_that_was_signed_for_is_the_one(keys: str) -> None:
    """Byte for byte, when the token has its digest."""
    async with firing(keys) as gate:
        token = KEY.token(fire_claims(body_sha256=hashlib.sha256(BODY).hexdigest()))
        assert (await fire(gate, token, BODY + b" ")).status == 401
        assert (await fire(gate, token)).status == 202


@pytest.mark.bypass(76)
@pytest.mark.parametrize(
    ("profile", "prefix", "status"),
    [
        ("work", "/p/work", 202),
        ("work", "/p/other", 401),
        ("work", "", 401),
        (None, "/p/work", 401),
        ("default", "", 202),
    ],
)
async def test_a_profile_is_part_of_what_was_signed_for(
    keys: str, profile: str | None, prefix: str, status: int
) -> None:
    """The path names the one of the token, and the agent is told by a path of the same one."""
    async with firing(keys) as gate:
        gate.agent.on("POST", f"{prefix}{RUN}", {})
        answer = await fire(gate, KEY.token(fire_claims(profile=profile)), target=f"{prefix}{FIRE}")
        assert answer.status == status
        await gate.quiet()
        assert gate.agent.asked == ([f"POST {prefix}{RUN}"] if status == 202 else [])


async def test_nothing_of_a_body_is_read_before_the_token_is_verified(keys: str) -> None:
    """A caller who waits for `100 Continue` is refused without one."""
    headers = [("Expect", "100-continue"), ("Content-Length", "25")]
    async with firing(keys) as gate:
        talk = await gate.talk("POST", FIRE, key="wrong", headers=headers)
        assert (talk.status, talk.interim) == (401, [])
        large = await gate.ask(
            "POST", FIRE, key=KEY.token(fire_claims()).decode(), headers=[("Content-Length", "99999999")]
        )
        assert large.status == 413


async def test_a_gate_that_stops_starts_no_jobs(keys: str) -> None:
    """And leaves the token good for its successor."""
    async with firing(keys) as gate:
        gate.plane.lifecycle.handle(Event.STOP_ASKED, 0.0)
        refused = await fire(gate)
        assert (refused.status, code(refused), refused.get("retry-after")) == (503, "herma.draining", "5")
        assert gate.store.asked["spend"] == 0


@pytest.mark.parametrize("method", ["spend", "blocked", "take"])
async def test_without_shared_state_nothing_is_started(keys: str, method: str) -> None:
    """What cannot be known is refused."""
    async with firing(keys, limits={"rates": {"per_key": {"per_s": 5, "burst": 5}}}) as gate:
        gate.store.broken[method] = StoreError("down")
        refused = await fire(gate)
        assert (refused.status, code(refused)) == (503, "herma.store.unavailable")
        gate.store.broken.clear()
        await gate.quiet()
        assert gate.agent.calls == []


async def test_guesses_are_slowed_down(keys: str) -> None:
    """As for every credential; then not even a right one gets in from there."""
    async with firing(keys) as gate:
        statuses = [(await fire(gate, "wrong", source="127.0.0.9")).status for _ in range(6)]
        assert statuses[0] == 401
        assert statuses[-1] == 429
        assert (await fire(gate, source="127.0.0.9")).status == 429
        assert (await fire(gate)).status == 202


async def test_an_outlived_job_key_slows_itself_down() -> None:
    """Wherever it is tried from, and no key of the gate with it."""
    below = {
        "cron_fire": {
            "job_keys": [{"name": "runner", "job_id": JOB, "key": "${JOB}", "networks": ["192.0.2.0/24"]}]
        }
    }
    async with gated(upstream_extra=below) as gate:
        seen = [(await fire(gate, JOB_KEY, source=f"127.0.1.{n}")).status for n in range(1, 8)]
        assert (seen[0], seen[-1]) == (401, 429)
        gate.agent.on("GET", "/v1/models", {})
        assert (await gate.ask("GET", "/v1/models", key="runner")).status == 200


async def test_rates_hold_for_schedulers_too(keys: str) -> None:
    """By address and by name."""
    rates = {"per_key": {"per_s": 0.001, "burst": 1}, "per_address": {"per_s": 0.001, "burst": 2}}
    async with firing(keys, limits={"rates": rates}) as gate:
        assert [(await fire(gate)).status for _ in range(2)] == [202, 429]
        assert (await fire(gate, JOB_KEY)).status == 429


async def test_strangers_are_limited(keys: str) -> None:
    """Whoever sends nothing, and whoever sends what a forger could not have made."""
    async with firing(keys, limits={"rates": {"unauthenticated": {"per_s": 0.001, "burst": 2}}}) as gate:
        assert (await gate.ask("POST", FIRE, key=None, body=BODY)).status == 401
        assert (await fire(gate, KEY.token(fire_claims(purpose="x")))).status == 401
        assert (await gate.ask("POST", FIRE, key=None, body=BODY)).status == 429
        assert (await fire(gate)).status == 202


async def test_a_credential_has_one_place(keys: str) -> None:
    """Not the URL, and not two headers."""
    async with firing(keys) as gate:
        token = KEY.token(fire_claims()).decode()
        assert (await gate.ask("POST", f"{FIRE}?token={token}", key=None, body=BODY)).status == 400
        twice = [("Authorization", f"Bearer {token}"), ("X-API-Key", "x")]
        assert (await gate.ask("POST", FIRE, key=None, body=BODY, headers=twice)).status == 400


async def test_without_a_scheduler_the_route_is_closed() -> None:
    """As before: nobody but who has a key learns that it is there."""
    async with gated() as gate:
        assert (await gate.ask("POST", FIRE, key="admin", body=BODY)).status == 403
        assert (await gate.ask("POST", FIRE, key=KEY.token(fire_claims()).decode(), body=BODY)).status == 401
        assert gate.agent.calls == []


async def test_the_audit_has_the_flaw_and_no_token(keys: str) -> None:
    """By rule and by whose rules it fell under."""
    async with firing(keys) as gate:
        token = KEY.token(fire_claims(purpose="report"))
        await fire(gate, token)
        (found,) = (await gate.last()).findings
        assert (found.rule_id, found.place) == ("fire-purpose", "by:scheduler")
        assert token.decode() not in repr(gate.audit.records)
        await fire(gate, KEY.token(fire_claims(job_id="0123456789ac")))
        assert (await gate.last()).findings[0].rule_id == "fire-job"
