"""`herma status`."""

from pathlib import Path

import pytest

from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import answering, herma

ANSWER = b'{"ready": true, "upstream": {"url": "http://a", "problem": null}, "runs": [{"id": "\\u001b[31m"}], "none": [], "count": 3}'


def test_state_is_shown_line_by_line() -> None:
    """Nested values have dotted names; nothing a terminal obeys is written."""
    with answering(ANSWER) as port:
        said = herma(["status", "--admin", f"127.0.0.1:{port}"])
    assert said.code == 0
    assert said.out.splitlines() == [
        "ready: yes",
        "upstream.url: http://a",
        "upstream.problem: -",
        "runs[0].id: \\x1b[31m",
        "none: -",
        "count: 3",
    ]


def test_state_in_json() -> None:
    """As the admin listener gave it."""
    with answering(ANSWER) as port:
        said = herma(["status", "--json", "--admin", f"127.0.0.1:{port}"])
    assert said.json()["count"] == 3


def test_address_comes_from_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file as for the gate."""
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    config = tmp_path / "herma.yaml"
    with answering(b'{"ready": false}') as port:
        config.write_text(f"admin: {{address: '127.0.0.1:{port}'}}\n" + UPSTREAM + KEYS)
        assert herma(["status", "--config", config]).out == "ready: no\n"
    gone = herma(["status", "--config", config])
    assert gone.code == 1
    assert "is the gate running?" in gone.err


def test_wrong_configuration_is_78_and_wrong_address_2(tmp_path: Path) -> None:
    """Each tells what to mend."""
    broken = herma(["status", "--config", tmp_path / "missing.yaml"])
    assert broken.code == 78
    assert "--admin" in broken.err
    odd = herma(["status", "--admin", "127.1:80"])
    assert odd.code == 2
    assert "odd spelling" in odd.err
