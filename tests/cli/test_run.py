"""`herma run`."""

import argparse
import gc
import json
import os
import re
import signal
import socket
import stat
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import yaml

from herma.cli import main
from herma.cli.run import add_arguments, run
from support.gate import Gate, free_port
from support.raw import raw, request
from support.upstream import RecordingUpstream

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def _process() -> Iterator[None]:
    """Leave the test process as it was: serving narrows its umask and takes objects out of its garbage collection."""
    before = os.umask(0o022)
    yield
    os.umask(before)
    gc.unfreeze()


@pytest.fixture
def upstream() -> Iterator[RecordingUpstream]:
    with RecordingUpstream() as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: RecordingUpstream) -> Gate:
    return Gate(tmp_path / "gate", upstream.url)


def _demo(port: int, state: Path, *options: str) -> int:
    """Run the demo beside whatever else this machine runs."""
    own = ("--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{free_port()}", "--state", str(state))
    return _run("--demo", *own, *options)


def _run(*arguments: str) -> int:
    """Run the command in this process, which hears the signals."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


class Visitor:
    """Waits until a gate serves, looks around, and stops it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.answers: dict[str, Any] = {}
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._visit)
        self._thread.start()

    def _visit(self) -> None:
        try:
            self._wait()
            self.look()
        except BaseException as error:
            self.failure = error
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def _wait(self) -> None:
        deadline = monotonic() + PATIENCE_S
        while monotonic() < deadline:
            try:
                # An answer, not only a connection: from then on a signal is heard.
                if raw(self.port, request("GET", "/health", host=f"127.0.0.1:{self.port}")).responses:
                    return
            except OSError:
                os.sched_yield()
        raise AssertionError("the gate did not serve")

    def look(self) -> None:
        """Look around; the gate stops when this returns."""

    def left(self) -> None:
        """Wait until it is gone, and tell what it met with."""
        self._thread.join()
        if self.failure is not None:
            raise self.failure


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_serves_and_ends_well(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    """Stopped by a signal, the exit code is 0."""
    visitor = Visitor(gate.port)
    assert _run("--config", str(gate.config_path)) == 0
    visitor.left()
    assert f"herma: serving on 127.0.0.1:{gate.port}" in capfd.readouterr().err


def test_json_log_is_json(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    """Every line that a program reads is a document."""
    visitor = Visitor(gate.port)
    assert _run("--config", str(gate.config_path), "--json") == 0
    visitor.left()
    events = [json.loads(line)["event"] for line in capfd.readouterr().err.splitlines()]
    assert "serving" in events


def test_a_configuration_that_is_not_valid_is_78(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    """All problems are told, one a line, with how many there are."""
    gate.config["nonsense"] = 1
    gate.config["limits"]["max_json_depth"] = 1
    gate.write_config(gate.config)
    assert _run("--config", str(gate.config_path)) == 78
    err = capfd.readouterr().err
    assert "2 problems; nothing was opened" in err
    assert len(re.findall(r"herma\.yaml:\d+:\d+: config\.", err)) == 2


def test_a_file_that_is_missing_is_78(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The message tells how to get one."""
    assert _run("--config", str(tmp_path / "none.yaml")) == 78
    err = capfd.readouterr().err
    assert "1 problem; nothing was opened" in err
    assert "herma init" in err


def test_content_that_is_not_valid_is_78(
    gate: Gate, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Missing rules are a configuration that cannot be used."""
    (tmp_path / "rules").mkdir()
    gate.config["content"] = {"rules_dir": str(tmp_path / "rules")}
    gate.write_config(gate.config)
    assert _run("--config", str(gate.config_path)) == 78
    assert "nothing was opened" in capfd.readouterr().err


def test_an_address_that_is_taken_is_1(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    """The configuration is fine and the machine is not; the message names the address."""
    with socket.create_server(("127.0.0.1", gate.port)):
        assert _run("--config", str(gate.config_path)) == 1
    assert f"cannot listen on 127.0.0.1:{gate.port}" in capfd.readouterr().err


@pytest.mark.parametrize("how", ["option", "variable"])
def test_insecure_changes_nothing(
    gate: Gate, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The option and the variable are taken, and a public listener without a key is refused as ever."""
    gate.config["listen"] = [{"address": f"0.0.0.0:{gate.port}"}]
    gate.config["auth"] = {"keys": []}
    gate.write_config(gate.config)
    if how == "variable":
        monkeypatch.setenv("HERMA_INSECURE", "1")
    options = ["--insecure"] if how == "option" else []
    assert _run("--config", str(gate.config_path), *options) == 78
    assert "listen.unauthenticated" in capfd.readouterr().err


def test_an_unknown_option_is_2(capfd: pytest.CaptureFixture[str]) -> None:
    """A mistyped option does not start a gate that lacks it."""
    assert main(["run", "--confg", "x"]) == 2
    assert main(["run", "--help"]) == 0
    assert "--config" in capfd.readouterr().out


class Demo(Visitor):
    """Tries what the demo tells a newcomer to try."""

    def __init__(self, port: int, state: Path) -> None:
        self.state = state
        super().__init__(port)

    def look(self) -> None:
        key = (self.state / "herma.key").read_text().strip()
        host = f"127.0.0.1:{self.port}"
        self.answers["stranger"] = raw(self.port, request("GET", "/v1/models", host=host)).status
        body = b'{"stream": true, "messages": [{"role": "user", "content": "hello"}]}'
        message = request("POST", "/v1/chat/completions", host=host, key=key, body=body)
        self.answers["chat"] = raw(self.port, message).first
        self.answers["key"] = key


def test_demo_shows_the_gate_at_work(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without a configuration and without an agent, a newcomer sees a refusal and a stream."""
    port, state = free_port(), tmp_path / "state"
    visitor = Demo(port, state)
    assert _demo(port, state) == 0
    visitor.left()
    assert visitor.answers["stranger"] == 401
    chat = visitor.answers["chat"]
    assert (chat.status, chat.complete) == (200, True)
    assert b"[DONE]" in chat.body
    out, err = capfd.readouterr()
    assert "a small echo agent" in err
    assert err.count("curl ") >= 3
    for secret in (visitor.answers["key"], (state / "echo-agent.key").read_text().strip()):
        assert secret not in out + err


def test_what_the_demo_makes_is_its_owners_alone(tmp_path: Path) -> None:
    """Keys and configuration are private, also where they were not before; a key is made once."""
    port, state = free_port(), tmp_path / "state"
    old = os.umask(0)
    try:
        for _ in range(2):
            visitor = Demo(port, state)
            assert _demo(port, state) == 0
            visitor.left()
            assert _mode(state) == 0o700
            for name in ("herma.key", "herma.yaml", "echo-agent.key"):
                assert _mode(state / name) == 0o600, name
                (state / name).chmod(0o640)
            (state / "herma.key").chmod(0o600)
            first = visitor.answers["key"]
        assert (state / "herma.key").read_text().strip() == first
    finally:
        os.umask(old)


@pytest.mark.parametrize("name", ["herma.key", "herma.yaml", "echo-agent.key"])
def test_demo_writes_through_no_link(tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    """What somebody put in the way is not written to, and the message names it."""
    state, target = tmp_path / "state", tmp_path / "target"
    state.mkdir()
    target.write_text("precious")
    # Of the key, only a link to nothing would be written to: a key that is there is used.
    (state / name).symlink_to(tmp_path / "none" if name == "herma.key" else target)
    assert _demo(free_port(), state) == 78
    assert target.read_text() == "precious"
    assert not (tmp_path / "none").exists()
    assert f"{state / name}: demo.state: cannot be written" in capfd.readouterr().err


def test_demo_without_a_directory_of_its_own_does_not_start(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file in the place of the directory is left alone, and the message tells the option."""
    (tmp_path / "state").write_text("precious")
    assert _run("--demo", "--state", str(tmp_path / "state")) == 78
    assert "--state" in capfd.readouterr().err
    assert (tmp_path / "state").read_text() == "precious"


class WithUpstream(Visitor):
    """Asks for something that only the named agent can answer."""

    def __init__(self, port: int, state: Path) -> None:
        self.state = state
        super().__init__(port)

    def look(self) -> None:
        key = (self.state / "herma.key").read_text().strip()
        message = request("GET", "/v1/models", host=f"127.0.0.1:{self.port}", key=key)
        self.answers["models"] = raw(self.port, message).status
        self.answers["config"] = yaml.safe_load((self.state / "herma.yaml").read_text())


@pytest.mark.parametrize("how", ["file", "variable", "nothing"])
def test_demo_stands_in_front_of_a_named_agent(
    tmp_path: Path,
    upstream: RecordingUpstream,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    """The agent's key comes from a file or from its own variable, and is never written down or shown."""
    agent_key = "fakeK8hTr2Wd6Kp4Vn1Gz7Mb"
    monkeypatch.delenv("API_SERVER_KEY", raising=False)
    # A name that YAML would read as something else.
    key_file = tmp_path / "agent's: key"
    key_file.touch(mode=0o600)
    key_file.write_text(agent_key)
    options = ["--upstream-key-file", str(key_file)] if how == "file" else []
    if how == "variable":
        monkeypatch.setenv("API_SERVER_KEY", agent_key)
    port, state = free_port(), tmp_path / "state"
    visitor = WithUpstream(port, state)
    assert _demo(port, state, "--upstream", upstream.url, *options) == 0
    visitor.left()
    assert visitor.answers["models"] == 200
    assert visitor.answers["config"]["upstream"]["url"] == upstream.url
    (seen,) = [one for one in upstream.seen if one.path == "/v1/models"]
    assert seen.get("authorization") == (None if how == "nothing" else f"Bearer {agent_key}".encode())
    out, err = capfd.readouterr()
    assert upstream.url in err
    assert agent_key not in out + err + (state / "herma.yaml").read_text()
    assert not (state / "echo-agent.key").exists()


def test_demo_ends_its_echo_agent(tmp_path: Path) -> None:
    """After the gate nothing serves any more, and no thread is left."""
    port, state = free_port(), tmp_path / "state"
    visitor = WithUpstream(port, state)
    assert _demo(port, state) == 0
    visitor.left()
    assert "echo-agent" not in [thread.name for thread in threading.enumerate()]
    agent = visitor.answers["config"]["upstream"]["url"].rpartition(":")[2]
    connection = HTTPConnection("127.0.0.1", int(agent), timeout=5)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/health")
