"""The start of a job from outside: forged, used again, on another worker, another gate, after a restart; and a scheduler that is slow."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest

from support.fires import BODY, FIRE, JOB, RUN, Scheduler, fire_claims, scheduler
from support.gate import Gate
from support.raw import Talk, raw, request
from support.redis_server import RedisServer
from support.tokens import signer
from support.upstream import RecordingUpstream

ES, RS, NEXT = signer("ES256", "es"), signer("RS256", "rs"), signer("ES256", "next")
# A set of keys is read again no sooner than half a minute after it was read.
PATIENCE_S = 60.0


def configured(keys: Scheduler, **rest: Any) -> dict[str, Any]:
    return {"upstream": {"cron_fire": {"issuers": [scheduler(jwks_url=keys.url)]}}} | rest


def fire(gate: Gate, token: bytes, body: bytes = BODY) -> Talk:
    return raw(gate.port, request("POST", FIRE, host=gate.host, key=token.decode("latin-1"), body=body))


def ready(gate: Gate) -> None:
    """Wait until the scheduler's keys are known: a token that was used already is 409 then, or one that is not known 401."""
    until(lambda: fire(gate, ES.token(fire_claims()), b"{}").status == 400, gate)


def until(condition: Callable[[], bool], gate: Gate) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, gate.stderr()
        time.sleep(0.05)


def started(upstream: RecordingUpstream) -> int:
    """Count how often the agent was told to run the job."""
    return sum(seen.target == RUN for seen in upstream.forwarded)


def old_state(directory: Path) -> str:
    """Make a file of used tokens that is older than every token of the test."""
    import asyncio

    from herma.store.spent_file import SpentFile

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = str(directory / "used.db")
    asyncio.run(SpentFile(path, lambda: time.time() - 1000).close())
    return path


@pytest.mark.bypass(76)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_token_is_used_once_over_all_workers_and_restarts(
    tmp_path: Path, upstream: RecordingUpstream, workers: int
) -> None:
    """Sixteen connections at once start one job; so does a gate that was killed and started again."""
    with Scheduler(ES, RS) as keys:
        state = {"file": old_state(tmp_path / "state")}
        with Gate(tmp_path / "gate", upstream.url, configured(keys, workers=workers, state=state)) as gate:
            upstream.on("POST", RUN, [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
            ready(gate)
            token = RS.token(fire_claims())
            with ThreadPoolExecutor(16) as pool:
                statuses = sorted(
                    talk.status or 0 for talk in pool.map(lambda _: fire(gate, token), range(16))
                )
            assert statuses.count(202) == 1, statuses
            assert set(statuses) <= {202, 401, 409}
            gate.process.kill()
            gate.wait_ended()
            gate.start()
            ready(gate)
            assert fire(gate, token).status == 409
            until(lambda: started(upstream) == 1, gate)
            assert token.decode() not in gate.written()


@pytest.mark.bypass(76)
def test_without_a_file_nothing_from_before_a_restart_is_taken(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """The memory is gone with the process, so a token from before counts as used."""
    with Scheduler(ES, RS) as keys, Gate(tmp_path / "gate", upstream.url, configured(keys)) as gate:
        ready(gate)
        assert fire(gate, ES.token(fire_claims())).status == 409
        soon = int(time.time()) + 25
        assert fire(gate, ES.token(fire_claims(iat=soon, exp=soon + 60))).status == 409
        assert started(upstream) == 0


@pytest.mark.bypass(76)
def test_two_gates_with_one_redis_see_one_use(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """And neither starts anything while it cannot be asked, or after it lost what it knew."""
    with Scheduler(ES, RS) as keys, RedisServer(tmp_path) as server:
        from redis import Redis

        with Redis(port=server.port) as client:
            client.set("{herma}:spent-since", repr(time.time() - 1000))
        state = {"redis": {"address": f"127.0.0.1:{server.port}"}}
        over = configured(keys, state=state, workers=2)
        with Gate(tmp_path / "a", upstream.url, over) as one, Gate(tmp_path / "b", upstream.url, over) as two:
            for gate in (one, two):
                ready(gate)
            tokens = [ES.token(fire_claims()) for _ in range(4)]
            with ThreadPoolExecutor(8) as pool:
                for token in tokens:
                    talks = pool.map(lambda gate, token=token: fire(gate, token), [one, two] * 4)
                    statuses = sorted(talk.status or 0 for talk in talks)
                    assert statuses.count(202) == 1, statuses
                    assert set(statuses) <= {202, 401, 409}, statuses
            until(lambda: started(upstream) == 4, one)
            server.stop()
            fresh = ES.token(fire_claims())
            down = fire(one, fresh)
            assert (down.status, b"herma.store.unavailable" in down.first.body) == (503, True)
            assert one.ask("GET", "/v1/models", key="runner").status == 200
            server.start()
            for gate in (one, two):
                for token in (fresh, *tokens):
                    # The first that a gate asks may still find the old connection, and is 503.
                    until(lambda gate=gate, token=token: fire(gate, token).status == 409, gate)
            assert started(upstream) == 4


@pytest.mark.bypass(75)
def test_a_scheduler_that_is_slow_holds_up_nobody(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Made-up key ids cost it one request in a while, and the gate answers everybody meanwhile."""
    with Scheduler(ES, RS) as keys, Gate(tmp_path / "gate", upstream.url, configured(keys)) as gate:
        ready(gate)
        before, keys.slow = keys.asked, True
        begun = time.monotonic()
        for number in range(30):
            assert fire(gate, NEXT.token(fire_claims(), kid=f"made-up-{number}")).status == 401
            assert gate.ask("GET", "/v1/models", key="runner").status == 200
        assert time.monotonic() - begun < 10
        assert keys.asked <= before + 1


@pytest.mark.bypass(75)
def test_a_scheduler_whose_keys_do_not_come_starts_nothing(
    tmp_path: Path, upstream: RecordingUpstream
) -> None:
    """Everybody else is served, and the operator is told."""
    with Scheduler(ES, RS) as keys:
        keys.status = 500
        with Gate(tmp_path / "gate", upstream.url, configured(keys)) as gate:
            until(lambda: keys.asked > 0, gate)
            assert fire(gate, ES.token(fire_claims())).status == 401
            assert gate.ask("GET", "/v1/models", key="runner").status == 200
            until(lambda: "cannot be read" in gate.stderr(), gate)


def test_a_job_key_starts_its_job_at_the_running_gate(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """Without any scheduler; and the key is in no log."""
    key = "fakeQp5Zx8Lc3Vn6Mb1Kj4Hg7Rt2Ws9Y"
    directory = tmp_path / "gate"
    directory.mkdir()
    file = directory / "job.key"
    file.touch(mode=0o600)
    file.write_text(key)
    jobs = [{"name": "nightly", "job_id": JOB, "key_file": str(file)}]
    with Gate(directory, upstream.url, {"upstream": {"cron_fire": {"job_keys": jobs}}}) as gate:
        assert fire(gate, key.encode()).status == 202
        assert fire(gate, key.encode(), b'{"job_id":"0123456789ac"}').status == 401
        until(lambda: started(upstream) == 1, gate)
        until(lambda: len(gate.audit()) >= 3, gate)
        lines = [line for line in gate.audit() if line.get("job")]
        assert {line["operation"] for line in lines} == {"cron.fire", "cron.run"}
        assert key not in gate.written()


@pytest.mark.bypass(75)
def test_keys_that_change_at_a_running_gate(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """The scheduler's next key is taken soon after it signed with it, and the one that it took back opens nothing any more."""
    with Scheduler(ES, RS) as keys, Gate(tmp_path / "gate", upstream.url, configured(keys)) as gate:
        ready(gate)
        keys.keys = (RS, NEXT)
        # Known to the gate as the keys that it read last; the token without a job is 400 once its signature is good.
        assert fire(gate, ES.token(fire_claims()), b"{}").status == 400
        until(lambda: fire(gate, NEXT.token(fire_claims()), b"{}").status == 400, gate)
        assert fire(gate, ES.token(fire_claims()), b"{}").status == 401
        assert fire(gate, RS.token(fire_claims()), b"{}").status == 400
        keys.keys, keys.status = (), 500
        assert fire(gate, NEXT.token(fire_claims()), b"{}").status == 400


def test_a_gate_that_stops_tells_the_agent_first(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """What was answered with 202 is told though the agent is busy at first, and the next gate tells it to nobody again."""
    busy = [b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}"]
    taken = [1.0, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]
    upstream.on("POST", RUN, busy)
    with Scheduler(ES) as keys:
        state = {"file": old_state(tmp_path / "state")}
        with Gate(tmp_path / "gate", upstream.url, configured(keys, state=state)) as gate:
            ready(gate)
            token = ES.token(fire_claims())
            assert fire(gate, token).status == 202
            until(lambda: started(upstream) == 1, gate)
            upstream.on("POST", RUN, taken)
            gate.signal(SIGTERM)
            assert gate.wait_ended() == 0
            assert started(upstream) == 2
            told = [line for line in gate.audit() if line["operation"] == "cron.run"]
            assert [(line["job"], line["status"]) for line in told] == [(JOB, 200)]
            gate.start()
            ready(gate)
            assert fire(gate, token).status == 409
            assert started(upstream) == 2
