"""Who may touch a run, and which answers to an approval prompt reach the upstream."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import SCOPES, Gate
from support.raw import raw
from support.upstream import RecordingUpstream, json_answer, sse_answer
from support.verdict import assert_refused

START = b'{"input":"x"}'


def _start(gate: Gate, upstream: RecordingUpstream, key: str = "runner") -> str:
    """Start a run and return its id."""
    talk = gate.ask("POST", "/v1/runs", key=key, body=START)
    assert talk.status == 202, talk.received[:300]
    upstream.forget()
    return str(json.loads(talk.first.body)["run_id"])


def _offer(
    gate: Gate, upstream: RecordingUpstream, run_id: str, choices: list[str], key: str = "runner"
) -> None:
    """Let the run ask for approval, as its event stream shows it."""
    event = {"event": "approval.request", "run_id": run_id, "command": "rm -rf ./x", "choices": choices}
    upstream.on(
        "GET", f"/v1/runs/{run_id}/events", sse_answer(b"data: " + json.dumps(event).encode() + b"\n\n")
    )
    talk = gate.ask("GET", f"/v1/runs/{run_id}/events", key=key)
    assert b"approval.request" in talk.first.body
    upstream.forget()


WAYS = [("GET", ""), ("GET", "/events"), ("POST", "/approval"), ("POST", "/stop")]


@pytest.mark.parametrize(("method", "suffix"), WAYS)
@pytest.mark.parametrize("prefix", ["", "/p/default"])
def test_a_run_belongs_to_the_key_that_started_it(
    gate: Gate, upstream: RecordingUpstream, method: str, suffix: str, prefix: str
) -> None:
    """Another key with every scope but `admin` can neither read, follow, answer nor stop it."""
    run_id = _start(gate, upstream)
    body = b'{"choice":"deny"}' if method == "POST" else b""
    talk = gate.ask(method, f"{prefix}/v1/runs/{run_id}{suffix}", key="other", body=body)
    assert_refused(upstream, talk, 403, 404)


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("POST", "/stop")])
@pytest.mark.parametrize("key", ["runner", "admin"])
def test_the_owner_and_the_admin_reach_the_run(
    gate: Gate, upstream: RecordingUpstream, method: str, suffix: str, key: str
) -> None:
    """The key that started a run, and a key with `admin`, may touch it."""
    run_id = _start(gate, upstream)
    assert (
        gate.ask(
            method, f"/v1/runs/{run_id}{suffix}", key=key, body=b"{}" if method == "POST" else b""
        ).status
        == 200
    )
    upstream.wait(1, path=f"/v1/runs/{run_id}{suffix}")


def test_an_encoded_run_id_is_the_same_run(gate: Gate, upstream: RecordingUpstream) -> None:
    """Another spelling of the id does not make it nobody's."""
    run_id = _start(gate, upstream)
    encoded = "".join(f"%{ord(character):02x}" for character in run_id)
    assert_refused(upstream, gate.ask("GET", f"/v1/runs/{encoded}", key="other"), 400, 403, 404)
    assert_refused(
        upstream, gate.ask("POST", f"/v1/runs/%72{run_id[1:]}/stop", key="other", body=b"{}"), 400, 403, 404
    )


def test_a_run_nobody_started_here_is_not_everybodys(gate: Gate, upstream: RecordingUpstream) -> None:
    """A run the gate has not seen start needs `admin`."""
    assert_refused(
        upstream, gate.ask("POST", "/v1/runs/run_unknown/stop", key="runner", body=b"{}"), 403, 404
    )
    assert_refused(
        upstream,
        gate.ask("POST", "/v1/runs/run_unknown/approval", key="runner", body=b'{"choice":"once"}'),
        403,
        404,
        409,
    )


def test_the_answer_to_the_wrong_key_does_not_tell_whether_the_run_exists(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """A stranger's run and no run at all look alike."""
    run_id = _start(gate, upstream)
    foreign = gate.ask("GET", f"/v1/runs/{run_id}", key="other").first
    nobody = gate.ask("GET", f"/v1/runs/run_{'f' * 32}", key="other").first
    assert foreign.status == nobody.status
    assert json.loads(foreign.body) == json.loads(nobody.body)


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate on which two keys share a group."""
    shared = Gate(
        tmp_path_factory.mktemp("grouped"), upstream.url, scopes=SCOPES | {"stranger": ["run", "read"]}
    )
    for record in shared.config["auth"]["keys"]:
        record["group"] = "team" if record["name"] in {"runner", "other"} else ""
    shared.write_config(shared.config)
    with shared:
        yield shared


def test_keys_of_one_group_share_their_runs(grouped: Gate, upstream: RecordingUpstream) -> None:
    """A configured group may touch each other's runs; a key outside it may not."""
    run_id = _start(grouped, upstream)
    assert_refused(upstream, grouped.ask("GET", f"/v1/runs/{run_id}", key="stranger"), 403, 404)
    assert grouped.ask("GET", f"/v1/runs/{run_id}", key="other").status == 200


@pytest.mark.parametrize("choice", ["always", "ALWAYS", " always ", "Always"])
@pytest.mark.parametrize("offered", [["once", "session", "always", "deny"]])
def test_always_needs_admin(gate: Gate, upstream: RecordingUpstream, choice: str, offered: list[str]) -> None:
    """The choice that rewrites everybody's allowlist is the administrator's alone, in every spelling the upstream takes."""
    run_id = _start(gate, upstream)
    _offer(gate, upstream, run_id, offered)
    body = json.dumps({"choice": choice}).encode()
    talk = gate.ask("POST", f"/v1/runs/{run_id}/approval", key="runner", body=body)
    assert_refused(upstream, talk, 400, 403)
    talk = gate.ask("POST", f"/v1/runs/{run_id}/approval", key="admin", body=b'{"choice":"always"}')
    assert talk.status == 200
    upstream.wait(1, path=f"/v1/runs/{run_id}/approval")


@pytest.mark.parametrize(
    "choice",
    ["session", "always", "maybe", "", None, 1, ["once"], {"choice": "once"}, "oncе", "SESSION", "permanent"],
)
@pytest.mark.parametrize("key", ["runner", "admin"])
def test_a_choice_that_was_not_offered_is_refused(
    gate: Gate, upstream: RecordingUpstream, choice: object, key: str
) -> None:
    """Only what the prompt offered can be answered, by anybody."""
    run_id = _start(gate, upstream)
    _offer(gate, upstream, run_id, ["once", "deny"])
    body = json.dumps({"choice": choice}).encode()
    talk = gate.ask("POST", f"/v1/runs/{run_id}/approval", key=key, body=body)
    assert_refused(upstream, talk, 400, 403, 409)


@pytest.mark.parametrize("choice", ["once", "deny", "approve", "approved", "allow", " ONCE "])
def test_an_offered_choice_arrives(gate: Gate, upstream: RecordingUpstream, choice: str) -> None:
    """An offered choice, or the upstream's other name for it, reaches the upstream byte for byte."""
    run_id = _start(gate, upstream)
    _offer(gate, upstream, run_id, ["once", "deny"])
    body = json.dumps({"choice": choice}).encode()
    assert gate.ask("POST", f"/v1/runs/{run_id}/approval", key="runner", body=body).status == 200
    assert upstream.wait(1, path=f"/v1/runs/{run_id}/approval")[0].body == body


def test_an_approval_without_a_prompt_is_refused(gate: Gate, upstream: RecordingUpstream) -> None:
    """Nobody can approve in advance."""
    run_id = _start(gate, upstream)
    talk = gate.ask("POST", f"/v1/runs/{run_id}/approval", key="runner", body=b'{"choice":"session"}')
    assert_refused(upstream, talk, 400, 403, 409)


@pytest.mark.parametrize(
    "body",
    [
        b'{"choice":"once","choice":"always"}',
        b'{"Choice":"always"}',
        b'["always"]',
        b'{"choice":"once","all":true}',
    ],
)
def test_a_second_meaning_of_an_approval_is_refused(
    gate: Gate, upstream: RecordingUpstream, body: bytes
) -> None:
    """A body that could answer more than the one prompt that was shown, or be read twice, is refused for a plain key."""
    run_id = _start(gate, upstream)
    _offer(gate, upstream, run_id, ["once", "deny"])
    talk = gate.ask("POST", f"/v1/runs/{run_id}/approval", key="runner", body=body)
    if b'"all"' in body and talk.status == 200:
        return
    assert_refused(upstream, talk, 400, 403, 409)


@pytest.mark.parametrize(
    ("key", "method", "target", "body"),
    [
        ("reader", "POST", "/v1/runs", START),
        ("reader", "POST", "/v1/chat/completions", b'{"messages":[]}'),
        ("reader", "POST", "/v1/responses", b'{"input":"x"}'),
        ("reader", "POST", "/api/sessions/abc/chat", b'{"message":"x"}'),
        ("reader", "POST", "/api/jobs", b'{"name":"x","schedule":"2h"}'),
        ("reader", "DELETE", "/api/sessions/abc", b""),
        ("scheduler", "POST", "/v1/runs", START),
        ("scheduler", "GET", "/api/sessions", b""),
        ("runner", "POST", "/api/jobs", b'{"name":"x","schedule":"2h"}'),
        ("runner", "POST", "/api/jobs/0123456789ab/run", b"{}"),
        ("watcher", "GET", "/v1/models", b""),
        ("watcher", "GET", "/api/sessions", b""),
        ("watcher", "POST", "/v1/runs", START),
        ("reader", "PUT", "/api/config", b"{}"),
        ("reader", "GET", "/api/secrets", b""),
    ],
)
def test_a_scope_is_a_limit(
    gate: Gate, upstream: RecordingUpstream, key: str, method: str, target: str, body: bytes
) -> None:
    """A key may do what its scopes say and nothing else."""
    assert_refused(upstream, gate.ask(method, target, key=key, body=body), 403)


@pytest.mark.parametrize("header", ["X-Hermes-Session-Id", "X-Hermes-Session-Key"])
def test_a_session_belongs_to_the_key_that_used_it_first(
    gate: Gate, upstream: RecordingUpstream, header: str
) -> None:
    """A session named by one key cannot be continued by another."""
    headers = [(header, f"session-of-runner-{header[-2:]}")]
    body = b'{"messages":[{"role":"user","content":"x"}]}'
    assert gate.ask("POST", "/v1/chat/completions", key="runner", headers=headers, body=body).status == 200
    upstream.forget()
    assert_refused(
        upstream,
        gate.ask("POST", "/v1/chat/completions", key="other", headers=headers, body=body),
        403,
        404,
        409,
    )
    assert gate.ask("POST", "/v1/chat/completions", key="runner", headers=headers, body=body).status == 200


def test_a_stored_answer_belongs_to_the_key_that_made_it(gate: Gate, upstream: RecordingUpstream) -> None:
    """One key's stored response is not read by another."""
    upstream.on(
        "POST", "/v1/responses", json_answer({"id": "resp_of_runner", "object": "response", "output": []})
    )
    assert gate.ask("POST", "/v1/responses", key="runner", body=b'{"input":"x"}').status == 200
    upstream.forget()
    assert_refused(upstream, gate.ask("GET", "/v1/responses/resp_of_runner", key="other"), 403, 404)


def test_strict_refuses_what_no_profile_knows(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """With `strict` an unknown route is refused even for the administrator, and a known one is not."""
    with Gate(tmp_path, upstream.url, {"strict": True}) as strict:
        for method, target in (
            ("GET", "/unknown"),
            ("POST", "/api/config"),
            ("GET", "/V1/models"),
            ("GET", "/v1/%252e%252e"),
        ):
            talk = raw(
                strict.port,
                strict.message(method, target, key="admin", body=b"{}" if method == "POST" else b""),
            )
            assert_refused(upstream, talk, 403, 404)
        assert strict.ask("GET", "/v1/models", key="reader").status == 200
