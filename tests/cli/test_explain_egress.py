"""`herma explain egress`."""

import json
from pathlib import Path
from typing import Any

import pytest

from egress.test_flow_file import http, written
from herma.cli.explain_egress import MAX_REQUESTS
from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import Said, herma
from support.redactor import GITHUB

TELEGRAM = {
    "method": "POST",
    "url": "https://api.telegram.org/bot123456789:AAF4keK3yF0rT3stF4keK3yF0rT3stF4ke0/sendMessage",
    "body": {"chat_id": 1, "text": f"use {GITHUB}"},
}
STRANGER = {"method": "POST", "url": "https://a.example.com/in", "body": f"k: {GITHUB}"}
WATCHED_LINE = "horse7battery-Staple"


def explained(value: Any, *arguments: object) -> Said:
    said = herma(["explain", "egress", *arguments], json.dumps(value))
    assert GITHUB not in said.out + said.err
    return said


def test_a_message_to_people_is_masked() -> None:
    """Who gets it, what is sent in its place, and why."""
    said = explained(TELEGRAM)
    assert said.code == 0
    assert said.out.startswith("verdict: mask\nto: the platform telegram\n")
    assert "\nsent, here without what is in use:\n    POST api.telegram.org/*/sendMessage\n" in said.out
    assert '"text": "use [github_pat:' in said.out
    assert "github-pat  high  T1552  at /text\n" in said.out
    assert "rules/redaction/github-pat.yaml" in said.out


def test_a_secret_for_a_stranger_is_refused() -> None:
    """1, with the code of the audit and what would change that."""
    said = explained(STRANGER)
    assert said.code == 1
    assert said.out.startswith("verdict: block (herma.egress.secret)\n    The request holds a secret")
    assert "`egress.platforms`" in said.out
    assert "\nheld: github-pat; `herma rules show ID`" in said.out
    assert "\nwithout its secrets:\n    POST a.example.com/in\n    k: [github_pat:" in said.out


def test_several_are_explained_one_after_the_other() -> None:
    """1 when one of them would be refused."""
    said = explained([TELEGRAM, {"url": "https://slack.com/api/x?token=" + GITHUB}, STRANGER])
    assert said.code == 1
    assert [line for line in said.out.splitlines() if line.startswith(("request", "verdict"))] == [
        "request 1 of 3",
        "verdict: mask",
        "request 2 of 3",
        "verdict: allow",
        "request 3 of 3",
        "verdict: block (herma.egress.secret)",
    ]
    assert "in use, and sent as they are: 1\n" in said.out


def test_the_answer_in_json_says_the_same() -> None:
    """For a script."""
    masked, refused = explained([TELEGRAM, STRANGER], "--json").json()["requests"]
    assert (masked["verdict"], masked["kind"], masked["platform"]) == ("mask", "platform", "telegram")
    assert [found["where"] for found in masked["findings"]] == ["/text"]
    assert [rule["id"] for rule in masked["rules"]] == ["github-pat"]
    assert (refused["verdict"], refused["code"], refused["held"]) == ("block", "herma.egress.secret", ["github-pat"])  # fmt: skip
    assert refused["findings"] == [
        {"rule": "egress-secret", "level": "high", "attack": "T1041", "where": "body"}
    ]


def test_a_file_of_flows_is_read(tmp_path: Path) -> None:
    """As mitmproxy wrote it; the address that was connected to is judged."""
    file = tmp_path / "flows"
    file.write_bytes(written(http("a.example.com", "169.254.169.254")))
    said = herma(["explain", "egress", file])
    assert (said.code, said.out.splitlines()[0]) == (1, "verdict: block (herma.egress.metadata)")
    file.write_bytes(file.read_bytes()[:-9])
    said = herma(["explain", "egress", file])
    assert (said.code, said.err) == (2, f"herma: {file}: flow 1 cannot be read: the file is cut, or none of mitmproxy's\n")  # fmt: skip


def test_flows_need_mitmproxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All else is explained without."""
    monkeypatch.setitem(__import__("sys").modules, "herma.egress.flow_file", None)
    said = herma(["explain", "egress"], "3:abc,")
    assert (said.code, "pip install 'herma[egress]'" in said.err) == (2, True)
    assert explained(TELEGRAM).code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "-: expected"),
        ("GET / HTTP/1.1", "-: expected"),
        ('{"url": x}', "-:1:9: "),
        ('[{"url": "/a"}]', "-: /0/url: expected a URL"),
        ("[]", "-: no requests in it"),
        (json.dumps([{"url": "https://a.example.com"}] * (MAX_REQUESTS + 1)), "-: more than 1000 requests"),
    ],
)
def test_what_cannot_be_read_is_2(text: str, said: str) -> None:
    """With its place."""
    answer = herma(["explain", "egress"], text)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"herma: {said}")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with a host of its own and a watched file."""
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    watched = tmp_path / "env"
    watched.write_text(f"NAME={WATCHED_LINE}\n")
    file = tmp_path / "herma.yaml"
    egress = "egress: {platforms: {matrix: {hosts: [matrix.example.org]}}, watch: [env]}\n"
    file.write_text(UPSTREAM + KEYS + egress)
    return file


def test_a_configuration_is_judged_by(config: Path) -> None:
    """Its platforms are known, and its watched lines shown to nobody."""
    there = {"url": "https://matrix.example.org/_matrix/client/v3/sync"}
    assert explained(there, "--config", config, "--json").json()["requests"][0]["platform"] == "matrix"
    assert explained(there, "--json").json()["requests"][0]["kind"] == "other"
    for url in ("https://a.example.com/", f"https://{WATCHED_LINE}.example.com/"):
        said = explained({"url": url, "body": WATCHED_LINE, "method": "POST"}, "--config", config)
        assert said.out.startswith("verdict: block (herma.egress.watched)\n")
        assert WATCHED_LINE not in said.out


def test_a_service_is_shown_the_key_and_nobody_else_is(config: Path) -> None:
    """What becomes of it is told, the key is not."""
    asked = {
        "url": f"https://youtube.googleapis.com/v3/videos?part=id&key={WATCHED_LINE}",
        "headers": {"x-goog-api-key": WATCHED_LINE},
    }
    said = explained(asked, "--config", config)
    assert said.out.startswith("verdict: allow\n")
    assert "a service that asks for a key" in said.out
    assert WATCHED_LINE not in said.out
    said = explained({**asked, "method": "POST", "body": WATCHED_LINE}, "--config", config)
    assert said.out.startswith("verdict: block (herma.egress.watched)\n")
    assert WATCHED_LINE not in said.out


def test_a_watched_file_that_cannot_be_read_is_78(config: Path) -> None:
    """Without it an answer would be a guess."""
    (config.parent / "env").write_text("a\n" * 30_000)
    said = explained(STRANGER, "--config", config)
    assert (said.code, said.out) == (78, "")
    assert "egress.watch" in said.err
    config.unlink()
    assert explained(STRANGER, "--config", config).code == 78
