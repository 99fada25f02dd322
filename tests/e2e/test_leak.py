"""The captured leak: a command that holds secrets shows none of them in any byte of any answer, and stays readable."""

import json
from typing import Any

import pytest

from support.caller import Client
from support.gate import Gate
from support.hermes import Hermes
from support.leak import COMMAND, assert_no_secret, assert_same_shape, commands_in, shape, sse_texts
from support.raw import Talk, raw, request

pytestmark = pytest.mark.e2e
PROMPT = f"RUN:{COMMAND}"
READABLE = ("curl -sS -m 2", "X-Vault-Token", "127.0.0.1:18699", "| bash", "rm -rf ./scratch")


def _assert_closed(talk: Talk) -> list[Any]:
    """Fail if a byte of a secret left, in the bytes or in what a client puts together; return the documents."""
    assert talk.responses, talk
    assert_no_secret(talk.received)
    assert_no_secret(talk.first.body)
    if (talk.first.get("content-type") or "").startswith("text/event-stream"):
        documents, joined = sse_texts(talk.first.body)
        for text in joined.values():
            assert_no_secret(text)
        return documents
    return [json.loads(talk.first.body)]


def _assert_readable(documents: list[Any]) -> None:
    """Fail unless the command is there with its verbs, host and flags, and parses as it did."""
    commands = [command for document in documents for command in commands_in(document)]
    assert commands
    for command in commands:
        for part in READABLE:
            assert part in command
        if "=***" not in command:
            # The agent's own redactor swallows the `;` of some copies before the gate sees them.
            assert_same_shape(command)


def test_the_leak_is_there_without_the_gate(hermes: Hermes) -> None:
    """The suite can fail: asked directly, the agent shows the secrets."""
    message = request("POST", "/v1/responses", key=hermes.key, body=json.dumps({"input": PROMPT}).encode())
    talk = raw(hermes.port, message, timeout_s=60)
    with pytest.raises(AssertionError, match="shows"):
        assert_no_secret(talk.received)


@pytest.mark.parametrize("choice", ["once", "deny"])
@pytest.mark.parametrize("prefix", ["", "/p/default"])
def test_run_events(client: Client, choice: str, prefix: str) -> None:
    """Neither the raw preview nor the prompt of a run shows a secret, and both show the same command."""
    run_id = client.start_run(PROMPT, prefix=prefix)
    talk = client.follow(run_id, answer=choice, prefix=prefix)
    documents = _assert_closed(talk)
    by_event = {document.get("event"): document for document in documents}
    preview, command = by_event["tool.started"]["preview"], by_event["approval.request"]["command"]
    for part in ("curl -sS -m 2", "X-Vault-Token", "127.0.0.1:18699", "| bash"):
        assert part in preview
        assert part in command
    assert "rm -rf ./scratch" in command
    # The agent's own redactor has swallowed the `;` before it; from the first program on the structure must be whole.
    assert shape(command.partition("curl")[2]) == shape(COMMAND.partition("curl")[2])
    _assert_closed(client.ask("GET", f"{prefix}/v1/runs/{run_id}"))


def test_responses(client: Client) -> None:
    """A response, the stored response and the next one in the chain show no secret."""
    made = client.ask("POST", "/v1/responses", {"input": PROMPT})
    _assert_readable(_assert_closed(made))
    response_id = json.loads(made.first.body)["id"]
    _assert_readable(_assert_closed(client.ask("GET", f"/v1/responses/{response_id}")))
    chained = client.ask("POST", "/v1/responses", {"input": "hello", "previous_response_id": response_id})
    _assert_closed(chained)


def test_responses_stream(client: Client) -> None:
    """A streamed response shows no secret in arguments, output or deltas."""
    _assert_readable(_assert_closed(client.ask("POST", "/v1/responses", {"input": PROMPT, "stream": True})))


@pytest.mark.parametrize("stream", [False, True])
def test_chat(client: Client, stream: bool) -> None:
    """Neither the tool label nor the model's words of a chat completion show a secret."""
    talk = client.ask(
        "POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": PROMPT}], "stream": stream}
    )
    _assert_closed(talk)


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_model_says(client: Client, stream: bool) -> None:
    """A secret in the model's own words, split as models split them, is masked."""
    body = {"messages": [{"role": "user", "content": f"SAY:{COMMAND}"}], "stream": stream}
    talk = client.ask("POST", "/v1/chat/completions", body)
    _assert_closed(talk)
    assert b"scratch" in talk.first.body


def test_sessions(client: Client) -> None:
    """Session chat, its stream, the transcript and the session's own answers show no secret."""
    made = client.json("POST", "/api/sessions", {"title": "leak"}, status=201)
    session = (made.get("session") or made)["id"]
    stream = client.ask("POST", f"/api/sessions/{session}/chat/stream", {"message": PROMPT})
    _assert_readable(_assert_closed(stream))
    _assert_closed(client.ask("POST", f"/api/sessions/{session}/chat", {"message": PROMPT}))
    transcript = client.ask("GET", f"/api/sessions/{session}/messages")
    _assert_readable(_assert_closed(transcript))
    for target in (f"/api/sessions/{session}", "/api/sessions"):
        _assert_closed(client.ask("GET", target))
    fork = client.ask("POST", f"/api/sessions/{session}/fork", {"title": "fork"})
    _assert_closed(fork)


def test_code(client: Client) -> None:
    """The script of an `execute_code` prompt is masked as well."""
    code = "api_key = 'sk-proj-FAKEfakeFAKEfake1234567890abcd'\npassword = 'hunter2hunter2'\nprint(1)"
    talk = client.follow(client.start_run(f"EXEC:{code}"), answer="deny")
    documents = _assert_closed(talk)
    command = next(
        document["command"] for document in documents if document.get("event") == "approval.request"
    )
    assert "print(1)" in command
    assert "password" in command


def test_nothing_is_written_down(gate: Gate, client: Client) -> None:
    """After all of it, no log, audit or metric of the gate holds a secret."""
    _assert_closed(client.ask("POST", "/v1/responses", {"input": PROMPT}))
    assert_no_secret(
        gate.written() + gate.admin("/metrics").body.decode() + gate.admin("/status").body.decode()
    )
