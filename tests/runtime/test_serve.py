"""Everything is checked before anything is opened."""

import gc
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from herma.egress import trust
from herma.errors import ConfigError, ContentError
from herma.runtime import StartError, serve
from support.gate import Gate
from support.inside import PATIENCE_S, Lines


@pytest.fixture(autouse=True)
def _process() -> Iterator[None]:
    """Leave the test process as it was: serving narrows its umask and takes objects out of its garbage collection."""
    before = os.umask(0o022)
    yield
    os.umask(before)
    gc.unfreeze()


def _nothing_open(gate: Gate) -> bool:
    for port in (gate.port, gate.admin_port):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    return True


def _stopper(gate: Gate) -> threading.Thread:
    """Ask the gate to stop once it is ready."""

    def stop() -> None:
        deadline = monotonic() + PATIENCE_S
        while monotonic() < deadline:
            try:
                if gate.admin("/readyz").status == 200:
                    break
            except OSError:
                os.sched_yield()
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=stop)
    thread.start()
    return thread


def test_it_serves_until_it_is_stopped(gate: Gate) -> None:
    """After a drain the exit code is 0, and what was made meanwhile was made for the owner alone."""
    log = Lines()
    thread = _stopper(gate)
    assert serve(gate.config_path, {}, log) == 0
    thread.join()
    assert "serving" in log.events()
    assert _nothing_open(gate)
    assert os.umask(0o022) == 0o077


def test_a_configuration_that_is_not_valid_opens_nothing(gate: Gate) -> None:
    """Every problem is in the error, and no port was touched."""
    gate.config["nonsense"] = 1
    gate.config["limits"]["max_json_depth"] = 1
    gate.write_config(gate.config)
    with pytest.raises(ConfigError) as caught:
        serve(gate.config_path, {}, Lines())
    assert len(caught.value.problems) == 2
    assert _nothing_open(gate)


def test_an_egress_gate_without_its_proxy_opens_nothing(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """A section that is accepted and does nothing would be trusted; the message says what to install."""
    monkeypatch.setattr(trust, "find_spec", lambda _name: None)
    gate.config["egress"] = {}
    gate.write_config(gate.config)
    with pytest.raises(ConfigError, match=r"pip install 'herma\[egress\]'"):
        serve(gate.config_path, {}, Lines())
    assert _nothing_open(gate)


def test_a_platform_that_is_none_opens_nothing(gate: Gate) -> None:
    """What the egress gate would not start with is told before."""
    gate.config["egress"] = {"platforms": {"nothing": {"hosts": ["a.example.com"]}}}
    gate.write_config(gate.config)
    with pytest.raises(ContentError, match="no such platform"):
        serve(gate.config_path, {}, Lines())
    assert _nothing_open(gate)


def test_content_that_is_not_valid_opens_nothing(gate: Gate, tmp_path: Path) -> None:
    """A gate without its rules does not start."""
    gate.config["content"] = {"rules_dir": str(tmp_path)}
    gate.write_config(gate.config)
    with pytest.raises(ContentError):
        serve(gate.config_path, {}, Lines())
    assert _nothing_open(gate)


@pytest.mark.parametrize("audit", ["no/such/directory/audit.jsonl", ".", "link"])
def test_an_audit_that_cannot_be_written_opens_nothing(gate: Gate, audit: str) -> None:
    """A gate whose decisions cannot be recorded does not start; the message names the option."""
    (gate.directory / "link").symlink_to(gate.directory / "elsewhere")
    gate.config["audit"]["file"] = audit
    gate.write_config(gate.config)
    with pytest.raises(ConfigError, match=r"audit\.file cannot be written"):
        serve(gate.config_path, {}, Lines())
    assert _nothing_open(gate)
    assert not (gate.directory / "elsewhere").exists()


def test_an_address_that_is_taken_leaves_nothing_open(gate: Gate) -> None:
    """The error names it, and the other address is free again."""
    taken = socket.create_server(("127.0.0.1", gate.admin_port))
    with taken, pytest.raises(StartError, match=str(gate.admin_port)):
        serve(gate.config_path, {}, Lines())
    assert _nothing_open(gate)


@pytest.mark.parametrize("how", ["option", "variable"])
def test_insecure_changes_nothing(gate: Gate, how: str) -> None:
    """A public listener without a key does not start, whatever is asked for."""
    gate.config["listen"] = [{"address": f"0.0.0.0:{gate.port}"}]
    gate.config["auth"] = {"keys": []}
    gate.write_config(gate.config)
    environ = {"HERMA_INSECURE": "1"} if how == "variable" else {}
    with pytest.raises(ConfigError, match=r"listen\.unauthenticated"):
        serve(gate.config_path, environ, Lines(), insecure=how == "option")
    assert _nothing_open(gate)


@pytest.mark.parametrize(
    ("insecure", "environ", "warned"),
    [(True, {}, True), (False, {"HERMA_INSECURE": "1"}, True), (False, {"HERMA_INSECURE": ""}, False)],
    ids=["option", "variable", "empty variable"],
)
def test_insecure_is_warned_about(gate: Gate, insecure: bool, environ: dict[str, str], warned: bool) -> None:
    """Whoever asks for less hears that nothing is less; a set but empty variable asks for nothing."""
    log = Lines()
    with socket.create_server(("127.0.0.1", gate.port)), pytest.raises(StartError):
        serve(gate.config_path, environ, log, insecure=insecure)
    assert ("insecure.ignored" in log.events()) is warned


def test_warnings_of_the_configuration_are_told(gate: Gate) -> None:
    """What is allowed and should not stay is in the log of the start, with its place."""
    del gate.config["upstream"]["key_file"]
    gate.write_config(gate.config)
    log = Lines()
    with socket.create_server(("127.0.0.1", gate.port)), pytest.raises(StartError):
        serve(gate.config_path, {}, log)
    assert "upstream.key.missing" in log.events()
    assert "herma.yaml:" in log.text()
