"""Two agent servers behind one gate: nothing of one reaches the other."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from support.gate import Gate, free_port
from support.raw import Talk, raw
from support.upstream import RecordingUpstream, json_answer
from support.verdict import assert_refused

BOARD = "board.example.com"
OTHER_KEY = secrets.token_hex(32)


@dataclass(slots=True)
class Two:
    """A gate with an API server, a second one behind the name `board.example.com`, and a listener of the second's own."""

    gate: Gate
    api: RecordingUpstream
    board: RecordingUpstream
    own_port: int

    def at_own(self, method: str, target: str, *, host: str = "", key: str = "admin") -> Talk:
        """Ask at the listener that leads to the second alone."""
        host = host or f"127.0.0.1:{self.own_port}"
        return raw(self.own_port, self.gate.message(method, target, key=key, host=host))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with RecordingUpstream() as api, RecordingUpstream() as board:
        gate = Gate(tmp_path_factory.mktemp("two"), api.url)
        own = free_port()
        gate.config["upstreams"] = {
            "board": {
                "url": board.url,
                "public_names": [BOARD],
                "key_file": gate.secret_file("board", OTHER_KEY),
            }
        }
        gate.config["listen"][0]["public_names"] = ["agent.example.com"]
        gate.config["listen"].append({"address": f"127.0.0.1:{own}", "upstream": "board"})
        gate.write_config(gate.config)
        with gate:
            yield Two(gate, api, board, own)


@pytest.fixture(autouse=True)
def _forget(two: Two) -> None:
    two.api.forget()
    two.board.forget()


def test_each_is_reached_by_its_name_or_its_listener_and_hears_its_own_key(two: Two) -> None:
    """And neither hears the key of the other, nor the caller's."""
    assert two.gate.ask("GET", "/v1/models", key="admin").status == 200
    assert two.gate.ask("GET", "/v1/models", key="admin", host="agent.example.com").status == 200
    assert two.gate.ask("GET", "/v1/models", key="admin", host=BOARD).status == 200
    assert two.at_own("GET", "/v1/models").status == 200
    assert two.at_own("GET", "/v1/models", host=BOARD).status == 200
    assert [seen.get("authorization") for seen in two.api.forwarded] == [
        f"Bearer {two.gate.upstream_key}".encode()
    ] * 2
    assert [seen.get("authorization") for seen in two.board.forwarded] == [f"Bearer {OTHER_KEY}".encode()] * 3
    assert {seen.get("host") for seen in two.board.forwarded} == {f"127.0.0.1:{two.board.port}".encode()}


@pytest.mark.bypass(41)
@pytest.mark.parametrize(
    "host", [f"{BOARD}.evil.example", f"x.{BOARD}", f"{BOARD}:1", f"{BOARD}.", "evil.example", ""]
)
def test_a_name_that_is_like_one_leads_nowhere(two: Two, host: str) -> None:
    """Names are exact, for every upstream."""
    answer = two.gate.ask("GET", "/v1/models", key="admin", host=host)
    assert answer.status in {400, 421}
    assert not two.api.forwarded
    assert not two.board.forwarded


@pytest.mark.bypass(41)
@pytest.mark.parametrize(
    "header", ["X-Forwarded-Host", "Forwarded", "X-Original-Host", "X-Host", ":authority"]
)
def test_no_other_header_chooses_the_upstream(two: Two, header: str) -> None:
    """The Host does, alone."""
    value = f"host={BOARD}" if header == "Forwarded" else BOARD
    two.gate.ask("GET", "/v1/models", key="admin", headers=[(header, value)])
    assert not two.board.forwarded


@pytest.mark.bypass(41)
@pytest.mark.parametrize("target", [f"http://{BOARD}/v1/models", f"https://{BOARD}:443/v1/models"])
def test_a_target_that_names_the_other_is_refused_or_heard(two: Two, target: str) -> None:
    """RFC 9112 section 3.2.2: whichever counts, it is the one that both name."""
    answer = two.gate.ask("GET", target, key="admin")
    assert answer.status in {400, 421}
    assert not two.api.forwarded
    assert not two.board.forwarded


@pytest.mark.parametrize("host", ["agent.example.com", "127.0.0.1:PORT", "localhost:PORT"])
def test_a_listener_of_one_leads_to_no_other(two: Two, host: str) -> None:
    """Whatever the Host says."""
    answer = two.at_own("GET", "/v1/models", host=host.replace("PORT", str(two.gate.port)))
    assert answer.status == 421
    assert not two.api.forwarded
    assert not two.board.forwarded


def test_the_page_of_one_is_a_stranger_at_the_other(two: Two) -> None:
    """What runs in a dashboard's page cannot drive the API in its reader's name."""
    for host, origin, upstream in (
        (BOARD, "http://agent.example.com", two.board),
        ("agent.example.com", f"http://{BOARD}", two.api),
    ):
        talk = two.gate.ask(
            "POST", "/v1/runs", key="admin", host=host, headers=[("Origin", origin)], body=b'{"input":"x"}'
        )
        assert_refused(upstream, talk, 403)


def test_a_session_of_one_is_not_one_of_the_other(two: Two) -> None:
    """Names that callers choose are owned at each for itself, and both still keep strangers out."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    named = [("X-Hermes-Session-Id", "shared-name")]
    for server in (two.api, two.board):
        server.on("POST", "/v1/chat/completions", json_answer({"choices": []}))
    path = "/v1/chat/completions"
    assert two.gate.ask("POST", path, key="runner", headers=named, body=body).status == 200
    assert two.gate.ask("POST", path, key="other", headers=named, body=body, host=BOARD).status == 200
    assert two.gate.ask("POST", path, key="other", headers=named, body=body).status == 403
    assert two.gate.ask("POST", path, key="runner", headers=named, body=body, host=BOARD).status == 403


def test_the_audit_says_which_it_was(two: Two) -> None:
    """For whoever reads it next week."""
    two.gate.ask("GET", "/v1/models", key="admin", host=BOARD)
    assert two.gate.audit()[-1]["upstream"] == "board"
    two.gate.ask("GET", "/v1/models", key="admin")
    assert two.gate.audit()[-1]["upstream"] == "default"


def test_the_state_of_both_is_shown(two: Two) -> None:
    """Each under its name."""
    shown = json.loads(two.gate.admin("/status").body)["upstreams"]
    assert [(one["name"], one["url"], one["up"]) for one in shown] == [
        ("default", two.api.url, True),
        ("board", two.board.url, True),
    ]
