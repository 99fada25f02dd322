"""What the gate counts and reports in front of the real agent."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from support.caller import Client
from support.gate import Gate
from support.hermes import Hermes
from support.raw import opened
from support.stub_model import StubModel

pytestmark = pytest.mark.e2e
# The run takes two seconds, and its end has to be noticed by a poll.
SLOT_RETURN_S = 30.0


def test_the_real_server_has_no_route_the_profile_does_not_know(gate: Gate) -> None:
    """The endpoints 0.19.0 reports are all in the profile: no drift."""
    status = gate.admin("/status").json()
    text = json.dumps(status)
    assert "0.19.0" in text or "drift" in text
    drift = _find(status, "drift")
    assert not drift or not any(
        drift if isinstance(drift, list) else [drift.get("unknown") if isinstance(drift, dict) else drift]
    )


def _find(value: object, name: str) -> object:
    if isinstance(value, dict):
        for key, item in value.items():
            if name in key:
                return item
            found = _find(item, name)
            if found is not None:
                return found
    return None


def test_two_turns_at_once_and_no_third(tmp_path: Path, hermes: Hermes) -> None:
    """With two slots in two workers, the real agent never runs more than two turns, whichever route they come by."""
    limits = {"limits": {"max_concurrent_runs": 2}, "workers": 2}
    with (
        Gate(tmp_path, hermes.url, limits, upstream_key=hermes.key) as narrow,
        ThreadPoolExecutor(12) as pool,
    ):
        client = Client(narrow)
        made = client.json("POST", "/api/sessions", {"title": "limits"}, status=201)
        session = (made.get("session") or made)["id"]
        turns = [
            ("/v1/chat/completions", {"messages": [{"role": "user", "content": "SLOW:3"}]}),
            ("/v1/responses", {"input": "SLOW:3"}),
            (f"/api/sessions/{session}/chat", {"message": "SLOW:3"}),
        ] * 4
        statuses = [talk.status for talk in pool.map(lambda turn: client.ask("POST", *turn), turns)]
    assert sorted(set(statuses)) == [200, 429]
    assert statuses.count(200) == 2


def test_a_background_run_takes_a_slot_until_it_ends(tmp_path: Path, hermes: Hermes) -> None:
    """A run nobody follows holds its slot, and gives it back when it is over."""
    with Gate(
        tmp_path, hermes.url, {"limits": {"max_concurrent_runs": 1}}, upstream_key=hermes.key
    ) as narrow:
        client = Client(narrow)
        chat = {"messages": [{"role": "user", "content": "hello"}]}
        client.start_run("SLOW:2")
        assert client.ask("POST", "/v1/chat/completions", chat).status == 429
        deadline = monotonic() + SLOT_RETURN_S
        while (
            status := client.ask("POST", "/v1/chat/completions", chat).status
        ) == 429 and monotonic() < deadline:
            pass
    assert status == 200


def test_a_client_that_leaves_stops_the_agent(gate: Gate, model: StubModel) -> None:
    """When the client of a stream goes, the agent hears of it at its next word and drops its request to the model."""
    # Fifteen seconds of words.
    body = json.dumps(
        {"stream": True, "messages": [{"role": "user", "content": "SAY:" + "word " * 3000}]}
    ).encode()
    before = sum(seen.path == "/v1/chat/completions" for seen in model.seen)
    with opened(gate.port, gate.message("POST", "/v1/chat/completions", key="admin", body=body)) as stream:
        stream.read_until(b"word ", 30)
        asked = model.wait(before + 1, 30, path="/v1/chat/completions")[before]
    assert asked.connection.gone.wait(5)
