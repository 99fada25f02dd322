"""Every way to talk to the real agent works through the gate, whole and streamed, with and without a profile prefix."""

import json

import pytest

from support.caller import Client
from support.gate import Gate
from support.leak import sse_texts
from support.stub_model import PLAIN

pytestmark = pytest.mark.e2e
PREFIXES = ["", "/p/default"]


def _chat(prompt: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": prompt}], **more}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_chat(client: Client, prefix: str) -> None:
    """A chat completion is answered."""
    answer = client.json("POST", f"{prefix}/v1/chat/completions", _chat("hello"))
    assert answer["choices"][0]["message"]["content"] == PLAIN


@pytest.mark.parametrize("prefix", PREFIXES)
def test_chat_stream(client: Client, prefix: str) -> None:
    """A streamed chat completion arrives in pieces that make up the answer, and ends as it should."""
    talk = client.ask("POST", f"{prefix}/v1/chat/completions", _chat("hello", stream=True))
    assert talk.status == 200
    assert talk.first.complete
    assert talk.first.get("x-accel-buffering") == "no"
    assert talk.first.get("cache-control") == "no-cache"
    documents, joined = sse_texts(talk.first.body)
    assert "".join(joined.values()).strip().endswith(PLAIN)
    assert len(documents) > len(PLAIN.split())
    assert talk.first.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_responses(client: Client, prefix: str) -> None:
    """A response is made, stored, read again, continued and deleted."""
    made = client.json("POST", f"{prefix}/v1/responses", {"input": "SAY:first answer"})
    assert "first answer" in json.dumps(made["output"])
    again = client.json("GET", f"{prefix}/v1/responses/{made['id']}")
    assert again["id"] == made["id"]
    chained = client.json(
        "POST", f"{prefix}/v1/responses", {"input": "SAY:second", "previous_response_id": made["id"]}
    )
    assert "second" in json.dumps(chained["output"])
    client.json("DELETE", f"{prefix}/v1/responses/{made['id']}")
    assert client.ask("GET", f"{prefix}/v1/responses/{made['id']}").status == 404


@pytest.mark.parametrize("prefix", PREFIXES)
def test_responses_stream(client: Client, prefix: str) -> None:
    """A streamed response ends with `response.completed`."""
    talk = client.ask("POST", f"{prefix}/v1/responses", {"input": "hello", "stream": True})
    documents, joined = sse_texts(talk.first.body)
    assert talk.first.complete
    assert "".join(joined.values()).strip().endswith(PLAIN)
    assert documents[-1]["type"] == "response.completed"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_session_chat(client: Client, prefix: str) -> None:
    """A session is made, talked to whole and streamed, read and deleted."""
    made = client.json("POST", f"{prefix}/api/sessions", {"title": f"turns{len(prefix)}"}, status=201)
    session = (made.get("session") or made)["id"]
    answer = client.json("POST", f"{prefix}/api/sessions/{session}/chat", {"message": "hello"})
    assert PLAIN in json.dumps(answer)
    talk = client.ask("POST", f"{prefix}/api/sessions/{session}/chat/stream", {"message": "hello"})
    assert talk.first.complete
    assert "".join(sse_texts(talk.first.body)[1].values()).strip().endswith(PLAIN)
    assert b"event: done" in talk.first.body
    messages = client.json("GET", f"{prefix}/api/sessions/{session}/messages")
    assert PLAIN in json.dumps(messages)
    assert client.ask("DELETE", f"{prefix}/api/sessions/{session}").status == 200


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_run(client: Client, prefix: str) -> None:
    """A background run is started, followed to its end and read afterwards."""
    run_id = client.start_run("hello", prefix=prefix)
    talk = client.follow(run_id, prefix=prefix)
    assert talk.first.complete
    documents, joined = sse_texts(talk.first.body)
    assert "".join(joined.values()).strip().endswith(PLAIN)
    assert documents[-1]["event"] == "run.completed"
    assert client.json("GET", f"{prefix}/v1/runs/{run_id}")["status"] == "completed"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_reading(client: Client, prefix: str) -> None:
    """What can be read, can be read through the gate."""
    for path in (
        "/v1/models",
        "/v1/capabilities",
        "/v1/skills",
        "/v1/toolsets",
        "/api/sessions",
        "/health/detailed",
        "/api/jobs",
    ):
        assert isinstance(client.json("GET", f"{prefix}{path}"), dict)


def test_public_health(gate: Gate) -> None:
    """Liveness needs no key and tells no version."""
    talk = gate.ask("GET", "/health")
    assert talk.status == 200
    assert b"0.19.0" not in talk.received


def test_an_error_of_the_agent_keeps_its_form(client: Client) -> None:
    """What the agent refuses arrives with its own status, code and envelope."""
    talk = client.ask("POST", "/v1/chat/completions", {"messages": []})
    assert talk.status == 400
    assert json.loads(talk.first.body)["error"]["type"] == "invalid_request_error"
    talk = client.ask("POST", "/v1/responses", {"input": "x", "previous_response_id": "resp_nope"})
    assert talk.status == 404
    assert client.ask("GET", "/v1/runs/run_nope").status == 404


def test_a_provider_that_refuses_shows_no_key(client: Client) -> None:
    """The provider's error text, which quotes a key, arrives without it on every route."""
    for talk in (
        client.ask("POST", "/v1/chat/completions", _chat("FAIL:401")),
        client.ask("POST", "/v1/chat/completions", _chat("FAIL:401", stream=True)),
        client.ask("POST", "/v1/responses", {"input": "FAIL:401"}),
        client.follow(client.start_run("FAIL:401")),
    ):
        assert talk.responses
        assert b"sk-proj-FAKEfake" not in talk.received


def test_the_agents_session_header_comes_back(client: Client) -> None:
    """Session headers pass both ways."""
    talk = client.ask(
        "POST", "/v1/chat/completions", _chat("hello"), headers=[("X-Hermes-Session-Id", "e2e-session-1")]
    )
    assert talk.status == 200
    assert talk.first.get("x-hermes-session-id")
