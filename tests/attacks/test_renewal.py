"""Certificates that are renewed while the gate runs: the listener's own, and the authorities of its callers."""

import hashlib
import shutil
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from support.certificates import Authority, make_authority
from support.gate import Gate, free_port
from support.raw import Connection, Talk, request
from support.upstream import Hold, RecordingUpstream, sse_answer
from support.wire_tls import Pair, make_pair

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}],"stream":true}'
BOT = [{"name": "bot", "san": ["dns:bot.example.com"], "scopes": ["read"]}]
PATIENCE_S = 30.0


def until(condition: Callable[[], bool]) -> None:
    """Ask until it holds; each question is itself a request, so this never spins."""
    deadline = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < deadline


def shown(gate: Gate) -> str:
    """Return the hash of the certificate that a new connection is shown."""
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    with Connection(gate.port, tls=blind) as connection:
        assert isinstance(connection._socket, ssl.SSLSocket)
        return hashlib.sha256(connection._socket.getpeercert(binary_form=True) or b"").hexdigest()


def hash_of(pair: Pair) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(Path(pair.cert).read_text())).hexdigest()


def put(fresh: Pair, live: Pair) -> None:
    """Lay new files over the old, one after the other as a client of an authority does."""
    shutil.copyfile(fresh.cert, live.cert)
    shutil.copyfile(fresh.key, live.key)


def made(directory: Path) -> Pair:
    directory.mkdir()
    return make_pair(directory)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_renewed_certificate_is_shown_and_nobody_is_thrown_out(
    tmp_path: Path, upstream: RecordingUpstream, workers: int
) -> None:
    """New handshakes get the new one; a stream and a connection of before go on; half a renewal changes nothing and is told."""
    live, fresh = made(tmp_path / "live"), made(tmp_path / "fresh")
    before, after = hash_of(live), hash_of(fresh)
    gate = Gate(tmp_path / "gate", upstream.url, {"workers": workers})
    gate.config["listen"][0]["tls"] = {"cert_file": live.cert, "key_file": live.key}
    gate.write_config(gate.config)
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    with gate:
        assert shown(gate) == before
        with (
            Connection(gate.port, tls=live.trusting()) as stream,
            Connection(gate.port, tls=live.trusting()) as kept,
        ):
            stream.send(gate.message("POST", CHAT, key="runner", body=HELLO))
            stream.read_until(b"data: {}")
            kept.send(gate.message("GET", "/v1/models", key="admin"))
            kept.read_until(b"hermes-agent")

            # The certificate came, its key did not.
            shutil.copyfile(fresh.cert, live.cert)
            gate.signal(signal.SIGHUP)
            until(lambda: bool(gate.admin("/status").json()["config"]["last_reload_failed"]))
            assert "certificate and key cannot be loaded" in gate.stderr()
            assert {shown(gate) for _ in range(6)} == {before}

            put(fresh, live)
            gate.signal(signal.SIGHUP)
            until(lambda: not gate.admin("/status").json()["config"]["last_reload_failed"])
            until(lambda: {shown(gate) for _ in range(6)} == {after})

            kept.received = b""
            kept.send(gate.message("GET", "/v1/models", key="admin"))
            assert kept.talk().status == 200
            hold.release()
            done = stream.talk().first
    assert done.complete
    assert b"[DONE]" in done.body


@pytest.mark.bypass(57)
def test_an_authority_that_is_trusted_no_more_lets_nobody_in(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """Neither by a new connection nor by one that it opened before."""
    old, new = make_authority(tmp_path, "old"), make_authority(tmp_path, "new")
    server = old.issue("server", "dns:localhost", "ip:127.0.0.1")
    trusted = tmp_path / "clients.pem"
    shutil.copyfile(old.path, trusted)
    gate = Gate(tmp_path / "gate", upstream.url, {"auth": {"certificates": BOT}})
    port = free_port()
    tls = {"cert_file": server.cert, "key_file": server.key, "client_ca_file": str(trusted)}
    gate.config["listen"].append({"address": f"127.0.0.1:{port}", "tls": tls})
    gate.write_config(gate.config)
    message = request("GET", "/v1/models", host=f"127.0.0.1:{port}")

    def context(by: Authority) -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=old.path)
        made.verify_flags &= ~ssl.VERIFY_X509_STRICT
        pair = by.issue("bot", "dns:bot.example.com")
        made.load_cert_chain(pair.cert, pair.key)
        return made

    def ask(connection: Connection) -> Talk:
        connection.received = b""
        connection.send(message)
        return connection.talk()

    def comes_in(by: Authority) -> bool:
        try:
            with Connection(port, tls=context(by)) as connection:
                return ask(connection).status == 200
        except (ssl.SSLError, OSError):
            return False

    with gate, Connection(port, tls=context(old)) as kept:
        assert ask(kept).status == 200
        assert not comes_in(new)
        shutil.copyfile(new.path, trusted)
        gate.signal(signal.SIGHUP)
        until(lambda: comes_in(new))
        assert not comes_in(old)
        upstream.forget()
        assert ask(kept).status in {None, 401}
        upstream.assert_untouched()
