"""The data plane of one process."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from herma.identity import FileKeys
from herma.ingress import Record
from herma.policy.limits.lifecycle import Lifecycle, Stage
from herma.policy.routing.route import Turn
from herma.runtime.dataplane import DataPlane
from herma.runtime.generation import build
from herma.runtime.tally import Tally
from herma.store import Ask, Lease, MemoryStore
from support.gate import Gate, free_port
from support.inside import PATIENCE_S, Lines, content_of, settings_of, start_of, until
from support.raw import Connection, Ended, Talk, raw, request
from support.shared_state import Clock
from support.tokens import AUDIENCE, ISSUER, claims, key_set, signer
from support.upstream import Hold, RecordingUpstream, sse_answer
from support.wire_tls import make_pair

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}],"stream":true}'


class Audited:
    """Keeps the records of finished exchanges."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def write(self, record: Record, _finished: float) -> None:
        self.records.append(record)


class Running:
    """A data plane that serves in this process, without anything around it."""

    def __init__(
        self,
        gate: Gate,
        data: DataPlane,
        lifecycle: Lifecycle,
        log: Lines,
        audit: Audited,
        ending: asyncio.Task[None],
    ) -> None:
        self.gate = gate
        self.data = data
        self.lifecycle = lifecycle
        self.log = log
        self.audit = audit
        self.ending = ending

    async def ask(self, method: str, target: str, **parts: Any) -> Talk:
        return await asyncio.to_thread(self.gate.ask, method, target, **parts)

    async def reload(self) -> None:
        """Take the configuration as it is now."""
        self.gate.write_config(self.gate.config)
        settings = settings_of(self.gate)
        await self.data.swap(build(settings, content_of(settings)))

    async def open_stream(self, upstream: RecordingUpstream) -> tuple[Connection, Hold]:
        """Start a streamed turn that stays open until its hold is released."""
        hold = Hold()
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
        stream = await asyncio.to_thread(Connection, self.gate.port)
        stream.send(self.gate.message("POST", CHAT, key="admin", body=HELLO))
        await asyncio.to_thread(stream.read_until, b"data: {}")
        return stream, hold


@asynccontextmanager
async def _running(gate: Gate, drain_timeout_s: float = 60.0) -> AsyncIterator[Running]:
    log, audit, lifecycle = Lines(), Audited(), Lifecycle(drain_timeout_s)
    start = start_of(gate, log)
    start.admin.sock.close()
    generation = build(start.settings, start.content)
    data = DataPlane(generation, MemoryStore(Clock()), audit, Tally(), lifecycle, log)
    await data.open(start.listeners)
    async with asyncio.TaskGroup() as group:
        ending = group.create_task(data.until_stopped())
        yield Running(gate, data, lifecycle, log, audit, ending)
        data.fail()
        async with asyncio.timeout(PATIENCE_S):
            await ending


@pytest.fixture
async def running(gate: Gate) -> AsyncIterator[Running]:
    async with _running(gate) as running:
        yield running


async def test_it_serves_every_listener_by_its_own_rules(gate: Gate) -> None:
    """A request is judged by the names of the listener it came in by."""
    second = free_port()
    gate.config["listen"].append(
        {"address": f"0.0.0.0:{second}", "public_names": [f"agent.example.com:{second}"]}
    )
    gate.write_config(gate.config)
    async with _running(gate) as running:
        assert (await running.ask("GET", "/v1/models", key="admin")).status == 200
        assert (await running.ask("GET", "/v1/models", key="admin", host="agent.example.com")).status == 421
        gate.port = second
        public = f"agent.example.com:{second}"
        assert (await running.ask("GET", "/v1/models", key="admin", host=public)).status == 200
        assert (await running.ask("GET", "/v1/models", key="admin", host="localhost")).status == 421


async def test_connections_are_counted(running: Running) -> None:
    """The count is of what is open now."""
    assert running.data.connections == 0
    with await asyncio.to_thread(Connection, running.gate.port):
        await until(lambda: running.data.connections == 1)
    await until(lambda: running.data.connections == 0)


async def test_turns_that_are_over_give_their_slots_back(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as somebody watches."""
    monkeypatch.setattr("herma.runtime.dataplane.SWEEP_S", 0.001)
    plane = running.data.plane
    lease = await plane.store.admit(Ask("runner", Turn.OPEN, cap=1))
    assert isinstance(lease, Lease)
    plane.turns.take("s1", lease.id, "x", 0.0)
    plane.turns.over("s1", 0.0)
    watching = asyncio.get_running_loop().create_task(running.data.watch())
    await until(lambda: not plane.turns)
    assert isinstance(await plane.store.admit(Ask("runner", Turn.OPEN, cap=1)), Lease)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


async def test_configured_limits_reach_the_wire(gate: Gate) -> None:
    """A cap of the file is a cap of the listener."""
    gate.config["limits"]["max_target_bytes"] = 256
    gate.write_config(gate.config)
    async with _running(gate) as running:
        assert (await running.ask("GET", "/v1/models?" + "x" * 300, key="admin")).status == 414


async def test_caps_hold_over_all_listeners(gate: Gate) -> None:
    """A second door is no second allowance."""
    second = free_port()
    gate.config["listen"].append({"address": f"127.0.0.1:{second}"})
    gate.config["limits"]["max_connections_per_address"] = 1
    gate.write_config(gate.config)
    async with _running(gate) as running:
        with await asyncio.to_thread(Connection, gate.port, source="127.0.0.1"):
            await until(lambda: running.data.connections == 1)
            gate.port = second
            assert (await running.ask("GET", "/v1/models", key="admin", source="127.0.0.1")).status == 503
            assert (await running.ask("GET", "/v1/models", key="admin", source="127.0.0.2")).status == 200
        await until(lambda: running.data.connections == 0)
        assert (await running.ask("GET", "/v1/models", key="admin", source="127.0.0.1")).status == 200


async def test_a_reload_changes_the_limits_of_the_wire(running: Running) -> None:
    """The file that is said to apply does apply, to the caps as well."""
    long = "/v1/models?" + "x" * 300
    assert (await running.ask("GET", long, key="admin")).status == 200
    running.gate.config["limits"] |= {"max_target_bytes": 256, "max_connections": 1}
    await running.reload()
    assert (await running.ask("GET", long, key="admin")).status == 414
    await until(lambda: running.data.connections == 0)
    with await asyncio.to_thread(Connection, running.gate.port):
        await until(lambda: running.data.connections == 1)
        assert (await running.ask("GET", "/v1/models", key="admin")).status == 503


async def test_a_renewed_certificate_is_shown_after_a_reload(gate: Gate) -> None:
    """The files keep their names; a connection that is open goes on."""
    pair = make_pair(gate.directory)
    gate.config["listen"][0]["tls"] = {"cert_file": pair.cert, "key_file": pair.key}
    gate.write_config(gate.config)
    before = pair.trusting()

    async def ask(trusted: ssl.SSLContext) -> int | None:
        with await asyncio.to_thread(Connection, gate.port, tls=trusted) as connection:
            return await speak(connection)

    async def speak(connection: Connection) -> int | None:
        connection.send(gate.message("GET", "/v1/models", key="admin"))
        return (await asyncio.to_thread(connection.talk)).status

    async with _running(gate) as running:
        with await asyncio.to_thread(Connection, gate.port, tls=before) as kept:
            for _ in range(2):
                make_pair(gate.directory)
                assert await ask(before) == 200
                await running.reload()
                with pytest.raises(ssl.SSLCertVerificationError):
                    await ask(before)
                before = pair.trusting()
                assert await ask(before) == 200
            assert await speak(kept) == 200


async def test_an_upstream_that_refuses_a_large_body_unread_is_heard(gate: Gate) -> None:
    """It answers after the head and closes; the caller gets that answer, not the gate's own 502."""
    refusal = b'{"error":{"message":"too large"}}'

    def refuse(listening: socket.socket) -> None:
        sock, _ = listening.accept()
        with sock:
            sock.settimeout(PATIENCE_S)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += sock.recv(1)
            sock.recv(1, socket.MSG_PEEK)
            sock.sendall(
                b"HTTP/1.1 413 Payload Too Large\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(refusal) + refusal
            )

    body = b'{"messages":[{"role":"user","content":"' + b"hello " * (1 << 20) + b'"}]}'
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_S)
        gate.config["upstream"]["url"] = f"http://127.0.0.1:{listening.getsockname()[1]}"
        gate.write_config(gate.config)
        async with _running(gate) as running:
            talk, _ = await asyncio.gather(
                running.ask("POST", CHAT, key="admin", body=body), asyncio.to_thread(refuse, listening)
            )
    assert talk.status == 413
    assert talk.first.body == refusal


async def test_without_anything_to_wait_for_it_stops_at_once(running: Running) -> None:
    """Asked to stop while idle, it closes its listeners."""
    running.data.stop_asked()
    async with asyncio.timeout(PATIENCE_S):
        await running.ending
    assert running.lifecycle.stage is Stage.STOPPED
    with pytest.raises(ConnectionRefusedError):
        await running.ask("GET", "/v1/models", key="admin")


async def test_draining_lets_a_stream_end_and_starts_no_turn(
    running: Running, upstream: RecordingUpstream
) -> None:
    """New turns hear when to come back, what starts none is served, and the stream comes to its own end."""
    stream, hold = await running.open_stream(upstream)
    with stream:
        running.data.stop_asked()
        refused = await running.ask("POST", CHAT, key="admin", body=HELLO)
        assert refused.status == 503
        assert int(refused.first.get("retry-after") or 0) > 0
        assert (await running.ask("GET", "/v1/models", key="admin")).status == 200
        assert running.lifecycle.stage is Stage.DRAINING
        hold.release()
        talk = await asyncio.to_thread(stream.talk)
        assert talk.first.complete
        assert b"[DONE]" in talk.first.body
    await until(lambda: running.lifecycle.stage is Stage.STOPPED)
    assert "drain.timeout" not in running.log.events()


async def test_a_second_request_to_stop_cuts_what_is_left(
    running: Running, upstream: RecordingUpstream
) -> None:
    """A stream that is cut is broken, never ended, and the audit says who cut it."""
    stream, _ = await running.open_stream(upstream)
    with stream:
        running.data.stop_asked()
        running.data.stop_asked()
        assert await asyncio.to_thread(stream.read_to_end) is not Ended.OPEN
        assert not stream.received.endswith(b"0\r\n\r\n")
    await until(lambda: bool(running.audit.records))
    assert [record.outcome for record in running.audit.records] == ["aborted"]


async def test_a_drain_that_takes_too_long_is_cut(gate: Gate, upstream: RecordingUpstream) -> None:
    """After the configured time the rest is broken off, and the log says how much it was."""
    async with _running(gate, drain_timeout_s=0.2) as running:
        stream, _ = await running.open_stream(upstream)
        with stream:
            running.data.stop_asked()
            assert await asyncio.to_thread(stream.read_to_end) is not Ended.OPEN
            assert not stream.received.endswith(b"0\r\n\r\n")
        await until(lambda: running.lifecycle.stage is Stage.STOPPED)
        assert ("drain.timeout", "1 exchanges did not end in time and are cut") in running.log.lines


async def test_an_exchange_keeps_the_generation_it_began_with(
    running: Running, upstream: RecordingUpstream
) -> None:
    """A stream goes on over the old upstream connection while new exchanges go by the new rules."""
    stream, hold = await running.open_stream(upstream)
    running.gate.config["strict"] = True
    running.gate.config["drain_timeout_s"] = 7
    running.gate.write_config(running.gate.config)
    settings = settings_of(running.gate)
    with stream:
        assert (await running.ask("GET", "/v1/unheard-of", key="admin")).status == 404
        await running.data.swap(build(settings, content_of(settings)))
        assert running.lifecycle.drain_timeout_s == 7
        before = len(upstream.forwarded)
        assert (await running.ask("GET", "/v1/unheard-of", key="admin")).status == 404
        assert len(upstream.forwarded) == before
        assert (await running.ask("GET", "/v1/models", key="admin")).status == 200
        hold.release()
        talk = await asyncio.to_thread(stream.talk)
        assert talk.first.complete
        assert b"[DONE]" in talk.first.body


async def test_keys_of_issuers_are_read_while_they_are_configured(running: Running) -> None:
    """From a reload that names an issuer to the one that does not; whether they can be read is told once."""
    gate, keys = running.gate, running.data.plane.key_sets
    file = gate.directory / "jwks.json"
    file.touch(mode=0o600)
    entry = {
        "name": "idp",
        "issuer": ISSUER,
        "audience": AUDIENCE,
        "jwks_file": str(file),
        "scopes": ["read"],
    }
    source = FileKeys(str(file))
    gate.config["auth"]["tokens"] = [entry]
    await running.reload()
    kept = keys.get(source)
    assert kept is not None
    await until(lambda: "cannot be read: the key set is no JSON" in str(running.log.lines))
    file.write_bytes(key_set(signer()))
    await kept.refresh()
    assert "were read" in running.log.lines[-1][1]
    now = int(time.time())
    token = signer().token(claims(iat=now, exp=now + 60)).decode()
    message = request("GET", "/v1/models", host=gate.host, key=token)
    assert (await asyncio.to_thread(raw, gate.port, message)).status == 200
    await running.reload()
    assert keys.get(source) is kept
    del gate.config["auth"]["tokens"]
    await running.reload()
    assert keys.get(source) is None
    assert (await asyncio.to_thread(raw, gate.port, message)).status == 401
