"""A scheduler starts a job of the real agent through the gate: it runs, and it runs once."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from herma.store.spent_file import SpentFile
from support.caller import Client
from support.fires import FIRE, fire_claims, scheduler, written_keys
from support.gate import Gate
from support.hermes import Hermes
from support.raw import Talk, raw, request
from support.stub_model import StubModel
from support.tokens import signer

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
            deadline = time.monotonic() + PATIENCE_S
            while completed(client, job) == 0:
                assert time.monotonic() < deadline, client.json("GET", f"/api/jobs/{job}")
                time.sleep(1)
            assert completed(client, job) == 1
            lines = [line for line in gate.audit() if line.get("job") == job]
            assert [line["status"] for line in lines if line["operation"] == "cron.run"] == [200]
        finally:
            client.json("DELETE", f"/api/jobs/{job}")
