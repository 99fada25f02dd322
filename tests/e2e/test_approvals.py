"""An approval prompt of the real agent is shown, answered and stopped through the gate."""

import json
from pathlib import Path

import pytest

from support.caller import Client
from support.gate import Gate
from support.hermes import Hermes
from support.leak import sse_texts
from support.verdict import assert_refused

pytestmark = pytest.mark.e2e


class _Nowhere:
    """The real server does not record: only the answer is judged."""

    def assert_untouched(self) -> None:
        return


def _scratch(hermes: Hermes, name: str) -> Path:
    path = hermes.work / name
    path.mkdir(exist_ok=True)
    return path


def _events(body: bytes) -> list[str]:
    return [str(document.get("event")) for document in sse_texts(body)[0]]


def test_once_lets_it_run(client: Client, hermes: Hermes) -> None:
    """An approved command runs, and the stream tells so to its end."""
    scratch = _scratch(hermes, "once")
    run_id = client.start_run(f"RUN:rm -rf {scratch}")
    talk = client.follow(run_id, answer="once")
    events = _events(talk.first.body)
    assert {
        "tool.started",
        "approval.request",
        "approval.responded",
        "tool.completed",
        "run.completed",
    } <= set(events)
    assert not scratch.exists()
    assert client.json("GET", f"/v1/runs/{run_id}")["status"] == "completed"


def test_deny_does_not(client: Client, hermes: Hermes) -> None:
    """A denied command does not run."""
    scratch = _scratch(hermes, "deny")
    talk = client.follow(client.start_run(f"RUN:rm -rf {scratch}"), answer="deny")
    assert "run.completed" in _events(talk.first.body)
    assert scratch.exists()


def test_stop_ends_the_run(client: Client, hermes: Hermes) -> None:
    """A run that waits for approval can be stopped."""
    scratch = _scratch(hermes, "stop")
    run_id = client.start_run(f"RUN:rm -rf {scratch}")
    client.follow(run_id, stop=True)
    assert scratch.exists()
    assert client.json("GET", f"/v1/runs/{run_id}")["status"] in {
        "cancelled",
        "stopping",
        "failed",
        "completed",
    }


def test_code_is_asked_for_as_well(client: Client) -> None:
    """A script is shown for approval like a command."""
    talk = client.follow(client.start_run("EXEC:print(40 + 2)"), answer="deny")
    assert "approval.request" in _events(talk.first.body)


def test_always_is_the_administrators(gate: Gate, hermes: Hermes) -> None:
    """A key without `admin` cannot rewrite the agent's allowlist; the agent's file stays as it was."""
    runner, stranger = Client(gate, "runner"), Client(gate, "other")
    config = (hermes.directory / "config.yaml").read_text()
    scratch = _scratch(hermes, "always")
    run_id = runner.start_run(f"RUN:rm -rf {scratch}")
    status = "started"
    for _ in range(2000):
        status = runner.json("GET", f"/v1/runs/{run_id}")["status"]
        if status == "waiting_for_approval":
            break
    assert status == "waiting_for_approval"
    for choice in ("always", " ALWAYS "):
        talk = runner.ask("POST", f"/v1/runs/{run_id}/approval", {"choice": choice})
        assert talk.status in {400, 403, 409}
    assert stranger.ask("POST", f"/v1/runs/{run_id}/approval", {"choice": "once"}).status in {403, 404}
    assert stranger.ask("POST", f"/v1/runs/{run_id}/stop", {}).status in {403, 404}
    assert runner.json("POST", f"/v1/runs/{run_id}/stop", {})["run_id"] == run_id
    assert (hermes.directory / "config.yaml").read_text() == config
    assert scratch.exists()


def test_a_prompt_on_a_route_that_cannot_answer_is_told(client: Client, hermes: Hermes) -> None:
    """Where the agent has no approval round trip, its pending result arrives readable."""
    scratch = _scratch(hermes, "pending")
    made = client.json("POST", "/v1/responses", {"input": f"RUN:rm -rf {scratch}"})
    assert "pending_approval" in json.dumps(made)
    assert scratch.exists()


def test_an_answer_nobody_asked_for_is_refused(gate: Gate) -> None:
    """A run that does not exist cannot be approved."""
    talk = gate.ask("POST", "/v1/runs/run_nope/approval", key="runner", body=b'{"choice":"once"}')
    assert_refused(_Nowhere(), talk, 403, 404, 409)  # type: ignore[arg-type]  # the real server keeps no record
