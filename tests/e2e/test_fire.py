"""A scheduler starts a job of the real agent through the gate: it runs, and it runs once."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from herma.store.spent_file import SpentFile
from support.caller import Client
from support.fires import AUDIENCE, FIRE, Scheduler, fire_claims, scheduler, written_keys
from support.gate import Gate
from support.hermes import Dashboard, Hermes
from support.raw import Talk, raw, request
from support.stub_model import StubModel
from support.tokens import ISSUER, signer

pytestmark = pytest.mark.e2e
KEY = signer("ES256", "scheduler")
# The agent looks for due jobs once a minute.
PATIENCE_S = 150.0


@pytest.fixture
def agent(tmp_path: Path, model: StubModel) -> Iterator[Hermes]:
    """An agent of its own: in one that ran a job every later turn counts as a job's, and asks nobody for approval."""
    with Hermes(tmp_path / "hermes", model.url) as running:
        yield running


def fire(gate: Gate, token: bytes, job: str) -> Talk:
    body = json.dumps({"job_id": job}).encode()
    return raw(gate.port, request("POST", FIRE, host=gate.host, key=token.decode(), body=body))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.5)


def completed(client: Client, job: str) -> int:
    return int((client.json("GET", f"/api/jobs/{job}")["job"].get("repeat") or {}).get("completed") or 0)


@pytest.mark.bypass(76)
def test_a_fired_job_runs_once(tmp_path: Path, agent: Hermes) -> None:
    """The agent has no scheduler configured, and would refuse the token; the gate tells it to run the job."""
    state = tmp_path / "used.db"
    asyncio.run(SpentFile(str(state), lambda: time.time() - 1000).close())
    over = {
        "upstream": {"cron_fire": {"issuers": [scheduler(jwks_file=written_keys(tmp_path, KEY))]}},
        "state": {"file": str(state)},
    }
    with Gate(tmp_path / "gate", agent.url, over, upstream_key=agent.key) as gate:
        client = Client(gate, "scheduler")
        # Due in a month: within this test only the start from outside makes it run.
        made = {"name": "fired", "schedule": "every 720h", "prompt": "Say hello", "deliver": "local"}
        job = client.json("POST", "/api/jobs", made)["job"]["id"]
        try:
            token = KEY.token(fire_claims(job_id=job))
            assert fire(gate, token, job).status == 202
            assert [fire(gate, token, job).status for _ in range(3)] == [409] * 3
            assert fire(gate, KEY.token(fire_claims(job_id=job)), "0123456789ab").status == 401
            until(lambda: completed(client, job) > 0)
            assert completed(client, job) == 1
            lines = [line for line in gate.audit() if line.get("job") == job]
            assert [line["status"] for line in lines if line["operation"] == "cron.run"] == [200]
        finally:
            client.json("DELETE", f"/api/jobs/{job}")


@pytest.mark.bypass(76)
def test_a_token_is_handed_on_to_an_agent_that_verifies(tmp_path: Path, model: StubModel) -> None:
    """Both verify it by the scheduler's keys; what the agent alone would take, such as the token of ten years, it never sees."""
    with Scheduler(KEY) as keys:
        verifies = {"expected_audience": AUDIENCE, "nas_jwks_url": keys.url, "portal_url": ISSUER}
        extra = f"cron: {json.dumps({'chronos': verifies})}\n"
        fires = {"deliver": "forward", "issuers": [scheduler(jwks_url=keys.url)]}
        state = tmp_path / "used.db"
        asyncio.run(SpentFile(str(state), lambda: time.time() - 1000).close())
        over = {"upstream": {"cron_fire": fires}, "state": {"file": str(state)}}
        with (
            Hermes(tmp_path / "hermes", model.url, extra=extra) as agent,
            Gate(tmp_path / "gate", agent.url, over, upstream_key=agent.key) as gate,
        ):
            client = Client(gate, "scheduler")
            made = {"name": "fired", "schedule": "every 720h", "prompt": "Say hello", "deliver": "local"}
            job = client.json("POST", "/api/jobs", made)["job"]["id"]
            far = int(time.time()) + 315_360_000
            long = KEY.token(fire_claims(job_id=job, exp=far))
            direct = request("POST", FIRE, host=f"127.0.0.1:{agent.port}", key=long.decode(), body=b"{}")
            # Nothing is started: the agent finds no job in the body after it has taken the token.
            assert raw(agent.port, direct, source="127.0.0.1").status == 400
            until(lambda: fire(gate, KEY.token(fire_claims()), "").status == 400)
            assert fire(gate, long, job).status == 401
            token = KEY.token(fire_claims(job_id=job))
            assert fire(gate, token, job).status == 202
            assert fire(gate, token, job).status == 409
            until(lambda: completed(client, job) == 1)


@pytest.mark.bypass(76)
def test_a_dashboard_is_told_by_its_own_route(tmp_path: Path, model: StubModel) -> None:
    """It has another one than the API server, and says of the job that it is due."""
    state = tmp_path / "used.db"
    asyncio.run(SpentFile(str(state), lambda: time.time() - 1000).close())
    issuers = [scheduler(jwks_file=written_keys(tmp_path, KEY))]
    over = {
        "upstream": {"profile": "hermes-dashboard", "cron_fire": {"issuers": issuers}},
        "state": {"file": str(state)},
    }
    with (
        Dashboard(tmp_path / "dashboard", model.url) as agent,
        Gate(tmp_path / "gate", agent.url, over, upstream_key=agent.key) as gate,
    ):
        client = Client(gate, "scheduler")
        made = {"name": "fired", "schedule": "every 720h", "prompt": "Say hello", "deliver": "local"}
        job = client.json("POST", "/api/cron/jobs", made)
        path = f"/api/cron/jobs/{job['id']}"
        token = KEY.token(fire_claims(job_id=job["id"]))
        assert [fire(gate, token, job["id"]).status for _ in range(2)] == [202, 409]
        until(lambda: any(line["operation"] == "cron.run" for line in gate.audit()))
        (told,) = [line for line in gate.audit() if line["operation"] == "cron.run"]
        assert (told["job"], told["status"]) == (job["id"], 200)
        assert client.json("GET", path)["next_run_at"] < job["next_run_at"]
