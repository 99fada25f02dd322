"""Limits that hold across workers and restarts, and a life that ends without losing a stream."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from support.gate import Gate
from support.leak import COMMAND, assert_no_secret
from support.raw import Connection, Ended, Talk, opened, raw, source_address
from support.upstream import (
    ABORT,
    Answer,
    Hold,
    RecordingUpstream,
    Seen,
    detailed_health,
    json_answer,
    sse_answer,
)
from support.verdict import assert_refused, error_of

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}]}'
TURNS: list[tuple[str, str, bytes]] = [
    ("POST", CHAT, HELLO),
    ("POST", "/v1/responses", b'{"input":"x"}'),
    ("POST", "/v1/runs", b'{"input":"x"}'),
    ("POST", "/api/sessions/abc/chat", b'{"message":"x"}'),
    ("POST", "/api/sessions/abc/chat/stream", b'{"message":"x"}'),
    ("POST", "/api/jobs/0123456789ab/run", b"{}"),
    ("POST", "/p/default/v1/chat/completions", HELLO),
]
# Returning a slot takes a message to the coordinator; a second is the promise, the rest is a busy machine.
RETURN_S = 5.0
# What has no promise of its own has as long as a busy machine needs.
PATIENCE_S = 30.0


def _until(condition: Any, timeout_s: float = RETURN_S) -> bool:
    """Ask until it holds or the time is over; each question is itself a request, so this never spins."""
    deadline = monotonic() + timeout_s
    while not condition():
        if monotonic() > deadline:
            return False
    return True


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """Two workers that share two slots."""
    overrides = {"workers": 2, "limits": {"max_concurrent_runs": 2}}
    with Gate(tmp_path_factory.mktemp("narrow"), upstream.url, overrides) as running:
        yield running


@pytest.mark.bypass(63)
def test_two_workers_share_one_limit(narrow: Gate, upstream: RecordingUpstream) -> None:
    """However many turns come at once over many connections, the upstream never has more than two of them."""
    holds: list[Hold] = []

    def slow(_: Seen) -> Answer:
        hold = Hold()
        holds.append(hold)
        return [hold, *json_answer({"ok": True})]

    upstream.on("POST", CHAT, slow)
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(narrow.ask, "POST", CHAT, key="admin", body=HELLO) for _ in range(40)]
        upstream.wait(2)
        refused = [future for future in asked if _settled(future, 38, asked)]
        for hold in list(holds):
            hold.release()
        statuses = sorted(future.result().status or 0 for future in asked)
    assert len(upstream.forwarded) == 2
    assert statuses == [200, 200] + [429] * 38
    assert len(refused) >= 38


def _settled(future: Any, wanted: int, all_of_them: list[Any]) -> bool:
    """Tell whether this request was answered, once as many as wanted were."""
    assert _until(lambda: sum(one.done() for one in all_of_them) >= wanted or _nap(), 20)
    return bool(future.done())


def _nap() -> bool:
    """Give the other threads the interpreter."""
    os.sched_yield()
    return False


@pytest.mark.bypass(63)
@pytest.mark.parametrize(("method", "target", "body"), TURNS, ids=[target for _, target, _ in TURNS])
def test_every_way_to_start_a_turn_is_counted(
    narrow: Gate, upstream: RecordingUpstream, method: str, target: str, body: bytes
) -> None:
    """With both slots taken, no route starts another turn; the refusal is the upstream's kind, with a time to wait."""
    with ExitStack() as open_turns:
        for _ in range(2):
            hold = Hold()
            upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
            turn = open_turns.enter_context(
                opened(narrow.port, narrow.message("POST", CHAT, key="admin", body=HELLO))
            )
            turn.read_until(b"data: {}")
        before = len(upstream.forwarded)
        talk = narrow.ask(method, target, key="admin", body=body)
        assert talk.status == 429, talk.received[:300]
        assert int(talk.first.get("retry-after") or 0) >= 1
        if target.startswith("/v1"):
            assert error_of(talk.first)["type"] == "rate_limit_error"
        assert len(upstream.forwarded) == before
        assert narrow.ask("GET", "/v1/models", key="admin").status == 200
    upstream.on("POST", CHAT, json_answer({"ok": True}))
    assert _until(lambda: narrow.ask("POST", CHAT, key="admin", body=HELLO).status != 429)


def test_a_worker_that_dies_gives_its_slots_back(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Killing a worker in mid-stream frees what it held, and the gate goes on."""
    with Gate(tmp_path, upstream.url, {"workers": 2, "limits": {"max_concurrent_runs": 2}}) as gate:
        with ExitStack() as streams:
            for _ in range(2):
                hold = Hold()
                upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
                stream = streams.enter_context(
                    opened(gate.port, gate.message("POST", CHAT, key="admin", body=HELLO))
                )
                stream.read_until(b"data: {}")
            assert gate.ask("POST", CHAT, key="admin", body=HELLO).status == 429
            workers = gate.workers()
            assert workers
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
        upstream.on("POST", CHAT, json_answer({"ok": True}))
        assert _until(lambda: _status_or_none(gate) == 200, 20)


def _status_or_none(gate: Gate) -> int | None:
    try:
        return gate.ask("POST", CHAT, key="admin", body=HELLO).status
    except OSError:
        return None


def test_a_background_run_holds_its_slot_until_its_end_is_seen(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """A run counts from its start to its end, however nobody looks at it, and a poll that shows the end frees it."""
    with Gate(tmp_path, upstream.url, {"limits": {"max_concurrent_runs": 1}}) as gate:
        started = gate.ask("POST", "/v1/runs", key="runner", body=b'{"input":"x"}')
        run_id = json.loads(started.first.body)["run_id"]
        assert gate.ask("POST", CHAT, key="admin", body=HELLO).status == 429
        assert gate.ask("GET", f"/v1/runs/{run_id}", key="runner").status == 200
        assert gate.ask("POST", CHAT, key="admin", body=HELLO).status == 429
        upstream.on(
            "GET", f"/v1/runs/{run_id}", json_answer({"run_id": run_id, "status": "completed", "output": "x"})
        )
        assert gate.ask("GET", f"/v1/runs/{run_id}", key="runner").status == 200
        assert _until(lambda: gate.ask("POST", CHAT, key="admin", body=HELLO).status == 200)


def test_the_count_is_seeded_after_a_restart(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Turns that run from before the start of the gate are counted."""
    upstream.on("GET", "/health/detailed", json_answer(detailed_health(2)))
    with Gate(tmp_path, upstream.url, {"limits": {"max_concurrent_runs": 2}}) as gate:
        assert gate.ask("POST", CHAT, key="admin", body=HELLO).status == 429


def test_zero_switches_the_limit_off(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """`max_concurrent_runs: 0` admits any number of turns; a key's own cap still holds."""
    gate = Gate(tmp_path, upstream.url, {"limits": {"max_concurrent_runs": 0}})
    next(record for record in gate.config["auth"]["keys"] if record["name"] == "runner")[
        "max_concurrent_runs"
    ] = 1
    gate.write_config(gate.config)
    with gate, ExitStack() as streams:
        for key in ("admin",) * 12 + ("runner",):
            hold = Hold()
            upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
            stream = streams.enter_context(opened(gate.port, gate.message("POST", CHAT, key=key, body=HELLO)))
            stream.read_until(b"data: {}")
        assert gate.ask("POST", CHAT, key="runner", body=HELLO).status == 429
        assert gate.ask("POST", CHAT, key="other", body=b"{").status == 400


@pytest.mark.bypass(33)
@pytest.mark.parametrize("workers", [1, 2])
def test_failed_keys_are_slowed_down(tmp_path: Path, upstream: RecordingUpstream, workers: int) -> None:
    """After a few wrong keys an address has to wait, right key or not; another address does not."""
    failures = {
        "auth": {"failures": {"free_attempts": 5, "base_delay_s": 30, "max_delay_s": 60}},
        "workers": workers,
    }
    with Gate(tmp_path, upstream.url, failures) as gate:
        source = source_address()
        wrong = [("Authorization", "Bearer wrong-wrong-wrong-wrong")]
        statuses = [gate.ask("GET", "/v1/models", headers=wrong, source=source).status for _ in range(12)]
        assert statuses[:5] == [401] * 5
        assert statuses[-1] == 429
        blocked = gate.ask("GET", "/v1/models", key="admin", source=source)
        response = assert_refused(upstream, blocked, 429)
        assert int(response.get("retry-after") or 0) >= 1
        assert gate.ask("GET", "/v1/models", key="admin").status == 200
        for _ in range(8):
            spoofed = [*wrong, ("X-Forwarded-For", source_address())]
            assert gate.ask("GET", "/v1/models", headers=spoofed, source=source).status == 429


def test_strangers_have_a_rate(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Requests without a key are counted per address from the first one on."""
    limits = {"limits": {"rates": {"unauthenticated": {"per_s": 0.1, "burst": 5}}}}
    with Gate(tmp_path, upstream.url, limits) as gate:
        source = source_address()
        statuses = [gate.ask("GET", "/v1/models", source=source).status for _ in range(8)]
        assert statuses == [401] * 5 + [429] * 3
        assert gate.ask("GET", "/v1/models", key="admin", source=source).status in {200, 429}
        assert gate.ask("GET", "/v1/models").status == 401


def test_a_key_can_have_a_rate(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A rate per key holds over all its connections and leaves other keys alone."""
    limits = {"limits": {"rates": {"per_key": {"per_s": 0.1, "burst": 3}}}, "workers": 2}
    with Gate(tmp_path, upstream.url, limits) as gate:
        statuses = [gate.ask("GET", "/v1/models", key="reader").status for _ in range(5)]
        assert statuses == [200] * 3 + [429] * 2
        assert gate.ask("GET", "/v1/models", key="admin").status == 200


# Reload


def test_a_valid_file_takes_effect_without_dropping_a_stream(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """After SIGHUP new exchanges follow the new file, and a stream that was open goes on to its end."""
    with Gate(tmp_path, upstream.url) as gate:
        hold = Hold()
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
        with opened(gate.port, gate.message("POST", CHAT, key="runner", body=HELLO)) as stream:
            stream.read_until(b"data: {}")
            keys = [record for record in gate.config["auth"]["keys"] if record["name"] != "reader"]
            gate.write_config(gate.config | {"auth": gate.config["auth"] | {"keys": keys}})
            gate.signal(signal.SIGHUP)
            assert _until(lambda: gate.ask("GET", "/v1/models", key="reader").status == 401, 10)
            assert gate.ask("GET", "/v1/models", key="admin").status == 200
            hold.release()
            talk = stream.talk()
        assert talk.first.complete
        assert b"[DONE]" in talk.first.body


@pytest.mark.parametrize(
    "broken", ["listen: [", "unknown_key: 1\n", "", "auth: {keys: []}\nlisten: [{address: '0.0.0.0:1'}]\n"]
)
def test_a_broken_file_changes_nothing(tmp_path: Path, upstream: RecordingUpstream, broken: str) -> None:
    """An invalid file leaves the old configuration in force, and both the log and `/status` say so."""
    with Gate(tmp_path, upstream.url) as gate:
        before = len(gate.stderr())
        gate.write_config(broken)
        gate.signal(signal.SIGHUP)
        assert _until(
            lambda: gate.admin("/status").status == 200 and "herma.yaml" in gate.stderr()[before:], 10
        )
        assert gate.ask("GET", "/v1/models", key="reader").status == 200
        assert gate.admin("/status").json()["config"]["last_reload_failed"]


def test_a_change_of_the_file_is_noticed(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Nobody needs to send a signal: a replaced file is read."""
    with Gate(tmp_path, upstream.url) as gate:
        keys = [record for record in gate.config["auth"]["keys"] if record["name"] != "reader"]
        gate.write_config(gate.config | {"auth": gate.config["auth"] | {"keys": keys}})
        assert _until(lambda: gate.ask("GET", "/v1/models", key="reader").status == 401, 15)


# The end


@pytest.mark.parametrize("workers", [1, 2])
def test_a_draining_gate_ends_its_streams_and_starts_nothing(
    tmp_path: Path, upstream: RecordingUpstream, workers: int
) -> None:
    """On SIGTERM new turns get 503 with a time to wait, the open stream ends by itself, then the process ends with 0."""
    with (
        Gate(tmp_path, upstream.url, {"drain_timeout_s": 20, "workers": workers}) as gate,
        ExitStack() as idle,
    ):
        hold = Hold()
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
        # Connections made before: a draining gate may have closed its listener.
        late = [idle.enter_context(Connection(gate.port)) for _ in range(2)]
        for connection in late:
            connection.send(gate.message("GET", "/v1/models", key="admin"))
            connection.read_until(b"hermes-agent")
            connection.received = b""
        with opened(gate.port, gate.message("POST", CHAT, key="runner", body=HELLO)) as stream:
            stream.read_until(b"data: {}")
            gate.signal(signal.SIGTERM)
            assert _until(lambda: _readiness(gate) != 200, PATIENCE_S)
            talks = [
                _on(connection, gate.message("POST", CHAT, key="runner", body=HELLO)) for connection in late
            ]
            for talk in talks:
                assert talk.status in {503, None}
                if talk.status == 503:
                    assert int(talk.first.get("retry-after") or 0) >= 1
            assert len([seen for seen in upstream.forwarded if seen.path == CHAT]) == 1
            assert gate.process.poll() is None
            hold.release()
            done = stream.talk()
        assert done.first.complete
        assert b"[DONE]" in done.first.body
        assert gate.wait_ended() == 0


def _readiness(gate: Gate) -> int | None:
    try:
        return gate.admin("/readyz").status
    except OSError:
        return None


def _on(connection: Connection, message: bytes) -> Talk:
    connection.send(message)
    return connection.talk()


def test_a_drain_has_an_end(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A stream that does not end in time is aborted, never ended cleanly."""
    with Gate(tmp_path, upstream.url, {"drain_timeout_s": 1}) as gate:
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", Hold()))
        with opened(gate.port, gate.message("POST", CHAT, key="runner", body=HELLO)) as stream:
            stream.read_until(b"data: {}")
            gate.signal(signal.SIGTERM)
            assert stream.read_to_end() is Ended.RESET
            assert not stream.talk().first.complete
        gate.wait_ended()


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(
    tmp_path: Path, upstream: RecordingUpstream, second: signal.Signals
) -> None:
    """Whoever asks twice does not wait for the drain."""
    with Gate(tmp_path, upstream.url, {"drain_timeout_s": 300}) as gate:
        upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", Hold()))
        with opened(gate.port, gate.message("POST", CHAT, key="runner", body=HELLO)) as stream:
            stream.read_until(b"data: {}")
            gate.signal(signal.SIGTERM)
            assert _until(lambda: _readiness(gate) != 200, PATIENCE_S)
            gate.signal(second)
            gate.wait_ended(PATIENCE_S)


# The upstream's failures


@pytest.mark.parametrize(
    ("target", "body", "key"),
    [
        (CHAT, HELLO, "runner"),
        ("/v1/runs", b'{"input":"x"}', "runner"),
        ("/api/jobs", b'{"name":"x","schedule":"2h"}', "scheduler"),
    ],
)
def test_an_absent_upstream_is_a_502_in_the_routes_envelope(
    tmp_path: Path, target: str, body: bytes, key: str
) -> None:
    """When the agent is down the client is told so in the form it can read, and not to repeat a turn."""
    with RecordingUpstream() as away, Gate(tmp_path, away.url) as gate:
        away.refuse_connections()
        talk = gate.ask("POST", target, key=key, body=body)
        assert talk.status in {502, 503}
        document = json.loads(talk.first.body)
        assert isinstance(document["error"], str if target.startswith("/api/jobs") else dict)
        assert _until(lambda: gate.admin("/readyz").status == 503, 20)
        assert gate.admin("/healthz").status == 200
        away.listen_again()
        assert _until(lambda: gate.admin("/readyz").status == 200, 20)


def test_a_turn_is_never_sent_twice(gate: Gate, upstream: RecordingUpstream) -> None:
    """An upstream that breaks the connection after a POST has seen it once."""
    upstream.on("POST", CHAT, [ABORT])
    talk = gate.ask("POST", CHAT, key="admin", body=HELLO)
    assert talk.status == 502
    assert talk.first.get("x-should-retry") == "false"
    assert len(upstream.forwarded) == 1


def test_an_early_413_of_the_upstream_arrives(gate: Gate, upstream: RecordingUpstream) -> None:
    """What the upstream says before it read the body is passed on as it is."""
    upstream.on(
        "POST",
        CHAT,
        json_answer({"error": {"message": "Request body too large.", "code": "body_too_large"}}, 413),
    )
    body = json.dumps({"messages": [{"role": "user", "content": "x" * 8_000_000}]}).encode()
    talk = gate.ask("POST", CHAT, key="admin", body=body)
    assert talk.status == 413
    assert b"body_too_large" in talk.first.body


def test_a_slow_upstream_is_a_504(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """An upstream that does not answer in time is given up with 504."""
    with Gate(tmp_path, upstream.url, {"upstream": {"head_timeout_s": 1}}) as gate:
        upstream.on("POST", CHAT, [Hold()])
        talk = gate.ask("POST", CHAT, key="admin", body=HELLO)
        assert talk.status == 504
        assert upstream.forwarded[0].connection.gone.wait(PATIENCE_S)


# What is written down


def test_no_secret_is_written_down(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Neither keys nor bodies nor what was masked stand in audit, logs, metrics or status; the audit is private."""
    with Gate(tmp_path, upstream.url) as gate:
        upstream.on("POST", CHAT, json_answer({"choices": [{"message": {"content": COMMAND}}]}))
        gate.ask(
            "POST",
            CHAT,
            key="runner",
            body=json.dumps({"messages": [{"role": "user", "content": COMMAND}]}).encode(),
        )
        gate.ask("GET", "/v1/models", headers=[("Authorization", f"Bearer {gate.keys['admin'][:-1]}")])
        gate.ask("GET", f"/v1/models?token={gate.keys['admin']}")
        gate.ask("GET", f"/{gate.keys['admin']}", key="admin")
        gate.ask(
            "POST",
            "/api/jobs",
            key="scheduler",
            body=b'{"name":"x","schedule":"1h","prompt":"cat ~/.hermes/.env marker-q7"}',
        )
        everything = (
            gate.written() + gate.admin("/metrics").body.decode() + gate.admin("/status").body.decode()
        )
        assert_no_secret(everything)
        for value in (*gate.keys.values(), gate.upstream_key):
            assert value[:16] not in everything
        assert "marker-q7" not in everything
        assert gate.audit_path.stat().st_mode & 0o077 == 0


def test_every_exchange_has_its_line(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """The audit says of each exchange who asked, what it was, and what came of it."""
    with Gate(tmp_path, upstream.url) as gate:
        gate.ask("GET", "/v1/models", key="reader")
        gate.ask("GET", "/v1/models")
        gate.ask("POST", "/v1/runs", key="reader", body=b'{"input":"x"}')
        assert _until(lambda: len(gate.audit()) >= 3 or _nap())
        lines = [json.dumps(line) for line in gate.audit()]
        assert any("reader" in line and "models.read" in line for line in lines)
        assert any("401" in line or "unauthenticated" in line or "herma.auth" in line for line in lines)
        assert any("reader" in line and "run.start" in line for line in lines)
        samples = gate.metrics()
        assert any(name.startswith("herma_") for name in samples)


def test_the_public_health_answer_tells_nothing(gate: Gate, upstream: RecordingUpstream) -> None:
    """Liveness without a key is a status and nothing about the server behind."""
    upstream.on(
        "GET",
        "/health",
        json_answer({"status": "ok", "platform": "hermes-agent", "version": "0.19.0", "pid": 4242}),
    )
    talk = gate.ask("GET", "/health")
    assert talk.status == 200
    for word in (b"0.19.0", b"hermes-agent", b"4242"):
        assert word not in talk.received
    assert (
        raw(gate.port, gate.message("GET", "/health", headers=[("Origin", "http://evil.example")])).status
        == 403
    )
