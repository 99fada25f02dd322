"""Other doors to what belongs to another key: another type or spelling of its name, another route to its text."""

import json

import pytest

from support.gate import Gate
from support.upstream import RecordingUpstream
from support.verdict import assert_refused


@pytest.mark.parametrize("spelled", [7, 7.0, "7 ", "\u20037", ["7"], {"id": "7"}])
@pytest.mark.parametrize(
    ("target", "member"),
    [("/v1/responses", "conversation"), ("/v1/runs", "session_id"), ("/api/sessions", "id")],
)
def test_another_spelling_of_a_name_is_not_a_free_name(
    gate: Gate, upstream: RecordingUpstream, target: str, member: str, spelled: object
) -> None:
    """The agent strips blanks, and its database takes the number 7 for the text `7`: such names never reach it."""
    assert gate.ask("POST", target, key="runner", body=_body(member, "7")).status in {200, 201, 202}
    upstream.forget()
    assert_refused(upstream, gate.ask("POST", target, key="other", body=_body(member, spelled)), 400)


@pytest.mark.parametrize("suffix", ["", "/messages"])
@pytest.mark.parametrize("prefix", ["", "/p/default"])
def test_a_run_is_not_read_through_its_session(
    gate: Gate, upstream: RecordingUpstream, prefix: str, suffix: str
) -> None:
    """The agent keeps the transcript of a run as a session named like it, and lists those names to every key."""
    run_id = json.loads(gate.ask("POST", "/v1/runs", key="runner", body=b'{"input":"x"}').first.body)[
        "run_id"
    ]
    upstream.forget()
    assert_refused(
        upstream, gate.ask("GET", f"{prefix}/api/sessions/{run_id}{suffix}", key="other"), 403, 404
    )


def _body(member: str, name: object) -> bytes:
    return json.dumps({"input": "x", member: name}).encode()
