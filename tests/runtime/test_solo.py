"""One process that does everything."""

import asyncio
import os
import signal
from typing import Any

from support.gate import Gate
from support.inside import Inside, serving_inside, until
from support.raw import Connection, Ended
from support.upstream import Hold, RecordingUpstream, json_answer, sse_answer

CHAT = "/v1/chat/completions"
HELLO = b'{"messages":[{"role":"user","content":"hi"}],"stream":true}'


def _signal(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


async def _open_stream(inside: Inside, upstream: RecordingUpstream) -> tuple[Connection, Hold]:
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold, b"data: [DONE]\n\n"))
    stream = await asyncio.to_thread(Connection, inside.gate.port)
    stream.send(inside.gate.message("POST", CHAT, key="admin", body=HELLO))
    await asyncio.to_thread(stream.read_until, b"data: {}")
    return stream, hold


async def test_it_serves_and_shows_what_it_did(gate: Gate, upstream: RecordingUpstream) -> None:
    """Requests, readout, audit and log are of the same gate."""
    async with serving_inside(gate) as inside:
        assert (await inside.ask("GET", "/v1/models", key="admin")).status == 200
        assert (await inside.ask("GET", "/v1/models")).status == 401
        status = await inside.status()
        assert (status["stage"], status["workers"]) == ("serving", {"configured": 1, "connected": 1})
        metrics = await asyncio.to_thread(gate.metrics)
        assert metrics['herma_denials_total{code="herma.auth.required"}'] == 1
        assert [line["status"] for line in gate.audit()] == [200, 401]
        assert "serving" in inside.log.events()


async def test_sigterm_drains(gate: Gate, upstream: RecordingUpstream) -> None:
    """New turns are refused, readiness ends, the running stream comes to its own end, and so does the gate."""
    async with serving_inside(gate) as inside:
        stream, hold = await _open_stream(inside, upstream)
        with stream:
            _signal(signal.SIGTERM)

            async def unready() -> bool:
                return not await inside.ready()

            await until(unready)
            assert (await inside.admin("/readyz")).json()["reason"] == "draining"
            refused = await inside.ask("POST", CHAT, key="admin", body=HELLO)
            assert refused.status == 503
            assert int(refused.first.get("retry-after") or 0) > 0
            assert b"herma.draining" in refused.received
            assert not inside.task.done()
            hold.release()
            talk = await asyncio.to_thread(stream.talk)
        assert talk.first.complete
        assert b"[DONE]" in talk.first.body
        await inside.ended()


async def test_a_second_signal_ends_it_at_once(gate: Gate, upstream: RecordingUpstream) -> None:
    """A stream that would go on is broken off, not ended, and the slot's turn is cut at the upstream too."""
    async with serving_inside(gate) as inside:
        stream, _ = await _open_stream(inside, upstream)
        with stream:
            for number in (signal.SIGTERM, signal.SIGINT):
                _signal(number)
                await asyncio.sleep(0)
            await inside.ended()
            assert await asyncio.to_thread(stream.read_to_end) is not Ended.OPEN
            assert not stream.received.endswith(b"0\r\n\r\n")
        (turn,) = [seen for seen in upstream.seen if seen.path == CHAT]
        assert await asyncio.to_thread(turn.connection.gone.wait, 10)


async def test_drain_can_be_asked_for_over_the_admin_listener(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """It does what SIGTERM does."""
    async with serving_inside(gate) as inside:
        assert (await inside.admin("/drain", "POST")).status == 202
        await inside.ended()


async def test_a_stream_goes_on_across_a_reload(gate: Gate, upstream: RecordingUpstream) -> None:
    """New exchanges get the new keys and rules, and the one under way is not dropped."""
    async with serving_inside(gate) as inside:
        stream, hold = await _open_stream(inside, upstream)
        with stream:
            gate.config["auth"]["keys"] = [
                key for key in gate.config["auth"]["keys"] if key["name"] != "reader"
            ]
            assert (await inside.ask("GET", "/v1/models", key="reader")).status == 200
            gate.config["auth"]["failures"] = {"free_attempts": 0, "base_delay_s": 60, "max_delay_s": 60}
            gate.write_config(gate.config)
            _signal(signal.SIGHUP)
            await until(lambda: "config.reloaded" in inside.log.events())
            source = "127.9.8.7"
            assert (await inside.ask("GET", "/v1/models", key="reader", source=source)).status == 401
            throttled = await inside.ask("GET", "/v1/models", key="reader", source=source)
            assert throttled.status == 429
            assert (await inside.ask("GET", "/v1/models", key="admin")).status == 200
            hold.release()
            talk = await asyncio.to_thread(stream.talk)
        assert talk.first.complete
        assert b"[DONE]" in talk.first.body


async def test_an_invalid_file_is_told_and_the_gate_goes_on(gate: Gate, upstream: RecordingUpstream) -> None:
    """The old rules stay in force, and the status says why."""
    async with serving_inside(gate) as inside:
        gate.write_config("listen: nonsense\n")
        _signal(signal.SIGHUP)
        await until(lambda: "config.refused" in inside.log.events())
        assert (await inside.ask("GET", "/v1/models", key="admin")).status == 200
        assert "herma.yaml:" in (await inside.status())["config"]["last_reload_failed"]


async def test_the_slot_of_a_run_comes_back_when_nobody_looks(
    gate: Gate, upstream: RecordingUpstream
) -> None:
    """The gate asks the upstream about a run itself, until it has ended."""
    upstream.on("POST", "/v1/runs", json_answer({"run_id": "run_1", "status": "started"}, status=202))
    upstream.on("GET", "/v1/runs/run_1", json_answer({"run_id": "run_1", "status": "running"}))
    async with serving_inside(gate) as inside:
        assert (await inside.ask("POST", "/v1/runs", key="admin", body=b'{"input":"x"}')).status == 202

        async def busy() -> Any:
            return (await inside.status())["busy"]

        held = await busy()
        assert (held["slots_taken"], held["runs"][0]["run_id"]) == (1, "run_1")
        upstream.on("GET", "/v1/runs/run_1", json_answer({"run_id": "run_1", "status": "completed"}))

        async def free() -> bool:
            return bool((await busy())["slots_taken"] == 0)

        await until(free)


async def test_lost_audit_lines_are_counted(gate: Gate, upstream: RecordingUpstream) -> None:
    """An audit that takes no lines shows in the metrics; exchanges go on."""
    os.mkfifo(gate.audit_path)
    reader = os.open(gate.audit_path, os.O_RDONLY | os.O_NONBLOCK)
    async with serving_inside(gate) as inside:
        os.close(reader)
        assert (await inside.ask("GET", "/v1/models", key="admin")).status == 200
        metrics = await asyncio.to_thread(gate.metrics)
        assert metrics['herma_events_total{event="audit_lost",label=""}'] == 1
