"""`herma console`."""

import json
from pathlib import Path

import pytest

from herma.console.token_file import TokenDirectory, new_token
from support.console import answering, herma


def offer(path: str, seconds: object = 300) -> bytes:
    return json.dumps({"file": path, "expires_in_s": seconds}).encode()


def test_the_token_is_all_that_a_script_reads(tmp_path: Path) -> None:
    """The address and the rest are told to the person."""
    token = new_token()
    path = TokenDirectory({"RUNTIME_DIRECTORY": str(tmp_path)}).write(token)
    text = token.reveal().decode()
    with answering(offer(path)) as port:
        said = herma(["console", "--admin", f"127.0.0.1:{port}"])
        assert (said.code, said.out) == (0, f"{text}\n")
        assert f"http://127.0.0.1:{port}/console" in said.err
        assert text not in said.err
        answer = herma(["console", "--json", "--admin", f"127.0.0.1:{port}"]).json()
    assert answer == {"url": f"http://127.0.0.1:{port}/console", "token": text, "expires_in_s": 300}


def test_what_a_stranger_names_is_never_printed(tmp_path: Path) -> None:
    """Whoever listens there instead of the gate cannot have another secret shown, such as a key."""
    key = tmp_path / "herma.key"
    key.touch(mode=0o600)
    key.write_text(new_token().reveal().decode() + "\n")
    for body in (
        offer(str(key)),
        offer(""),
        offer(str(tmp_path)),
        offer(str(key), "x"),
        b"[]",
        b"null",
        b"{}",
    ):
        with answering(body) as port:
            said = herma(["console", "--json", "--admin", f"127.0.0.1:{port}"])
        assert (said.code, said.out) == (1, "")
        assert key.read_text().strip() not in said.err


def test_without_a_gate_there_is_none(tmp_path: Path) -> None:
    """As the other commands say it."""
    with answering(b"") as port:
        pass
    gone = herma(["console", "--admin", f"127.0.0.1:{port}"])
    assert gone.code == 1
    assert "is the gate running?" in gone.err
    assert herma(["console", "--config", tmp_path / "missing.yaml"]).code == 78
    assert herma(["console", "--admin", "127.1:80"]).code == 2


def test_a_socket_needs_a_port_that_leads_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser cannot open it, and is told how it can."""
    path = TokenDirectory({"RUNTIME_DIRECTORY": str(tmp_path)}).write(new_token())
    monkeypatch.setattr("herma.cli.console.get_json", lambda *_: json.loads(offer(path)))
    said = herma(["console", "--admin", f"unix:{tmp_path}/admin.sock"])
    assert said.code == 0
    assert "http://localhost:8644/console" in said.err
    assert "ssh -L" in said.err
