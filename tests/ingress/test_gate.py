"""The entrance: whatever happens to a request, it is answered or aborted, and written down."""

import json

import pytest

from herma.errors import StoreError
from herma.ingress import wire_error
from herma.policy.limits.lifecycle import Event
from herma.wire import ServerLimits
from support.inprocess import SECRET, Call, code, event, gated, held, json_of, received, until
from support.raw import Ended
from support.upstream import answer, sse_head

MODELS = {"object": "list", "data": []}


async def test_an_exchange_is_written_down_once() -> None:
    """The audit names who asked for what and how it ended, under the id that the answer carries."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        response = await gate.ask("GET", "/v1/models")
        record = await gate.last()
        assert len(gate.audit.records) == 1
        assert gate.meter.exchanges == gate.audit.records
        assert response.get("x-herma-exchange") == record.exchange
        assert (record.address, record.principal, record.method) == ("127.0.0.1", "runner", "GET")
        assert (record.route, record.operation) == ("/v1/models", "models.read")
        assert (record.status, record.code, record.outcome) == (200, "", "answered")
        assert record.bytes_out == len(response.body)


async def test_durations_stand_in_their_order() -> None:
    """First the start, then the judgement, then the upstream's head."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/chat/completions", {"id": "c"})
        await gate.ask("POST", "/v1/chat/completions", body={"messages": []})
        record = await gate.last()
        assert record.judged is not None
        assert record.upstream_head is not None
        assert record.started <= record.judged <= record.upstream_head
        assert record.bytes_in == len(json.dumps({"messages": []}))


async def test_the_start_of_a_run_has_its_durations_too() -> None:
    """A background run is measured like any other exchange."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/runs", {"run_id": "run_1"})
        await gate.ask("POST", "/v1/runs", body={"input": "x"})
        record = await gate.last()
        assert record.judged is not None
        assert record.upstream_head is not None
        assert record.judged <= record.upstream_head


async def test_exchange_ids_are_not_repeated() -> None:
    """Two requests, two ids."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        ids = {(await gate.ask("GET", "/v1/models")).get("x-herma-exchange") for _ in range(3)}
        assert len(ids) == 3


async def test_a_refusal_is_written_down() -> None:
    """The line of a refusal has its code."""
    async with gated() as gate:
        response = await gate.ask("GET", "/v1/models", key=None)
        record = await gate.last()
        assert (record.status, record.code, record.outcome) == (401, code(response), "denied")
        assert record.principal == ""


async def test_an_error_in_the_gate_refuses_without_a_detail() -> None:
    """An unexpected exception is a 500 that tells nothing of it, the line names its type only."""
    async with gated() as gate:
        gate.store.broken["take"] = gate.store.broken["blocked"] = RuntimeError(f"broke at {SECRET}")
        talk = await gate.talk("GET", "/v1/models")
        assert (talk.status, code(talk.first)) == (500, "herma.internal")
        assert b"broke" not in talk.received
        assert b"RuntimeError" not in talk.received
        record = await gate.last()
        assert (record.outcome, record.code, record.status) == ("failed", "herma.internal.RuntimeError", 500)
        assert gate.meter.counts["internal_errors", ""] == 1
        assert gate.agent.calls == []


@pytest.mark.parametrize("error", [RuntimeError("broke"), StoreError("gone")], ids=["unexpected", "store"])
async def test_an_error_after_the_head_breaks_the_stream(error: Exception) -> None:
    """Once an answer has begun, a failing gate aborts the connection: no client takes that for the end."""
    async with gated() as gate:

        async def play(call: Call) -> None:
            await call.send(sse_head())
            await call.chunk(event({"event": "message.delta", "run_id": "run_1", "delta": "hello"}))
            await until(lambda: broken)
            await call.chunk(event({"event": "run.completed", "run_id": "run_1"}))
            await call.end()

        broken: list[bool] = []
        gate.agent.on("GET", "/v1/runs/run_1/events", play)
        client = await gate.open("GET", "/v1/runs/run_1/events", key="admin")
        await client.until(b"\r\n\r\n")
        gate.store.broken["run_ended"] = error
        broken.append(True)
        with pytest.raises(ConnectionResetError):
            await client.rest()
        record = await gate.last()
        assert (record.outcome, record.status) == ("failed", 200)
        assert record.code == f"herma.internal.{type(error).__name__}"


async def test_a_caller_who_leaves_is_written_down() -> None:
    """The request is given up upstream, and its line says that the client is gone."""
    async with gated() as gate:
        waiting = held(MODELS)
        gate.agent.on("GET", "/v1/models", waiting)
        client = await gate.open("GET", "/v1/models")
        await waiting.reached()
        client.close()
        await waiting.calls[0].gone()
        record = await gate.last()
        assert (record.outcome, record.status) == ("client_gone", 0)


async def test_a_caller_who_does_not_read_is_gone_too() -> None:
    """A slow reader is cut off, and counts as gone."""

    async def flood(call: Call) -> None:
        await call.send(answer(200, headers=[("Content-Type", "application/zip")], framed=False))
        while True:
            await call.send(bytes(1 << 20))

    async with gated(wire=ServerLimits(send_timeout_s=0.1)) as gate:
        gate.agent.on("GET", "/v1/models", flood)
        client = await gate.open("GET", "/v1/models")
        client.writer.transport.pause_reading()
        await until(lambda: bool(gate.audit.records))
        assert (await gate.last()).outcome == "client_gone"


async def test_what_a_stop_cuts_is_called_aborted() -> None:
    """When the gate stops for good, the exchanges it cuts are not the callers' doing."""
    async with gated() as gate:
        waiting = held(MODELS)
        gate.agent.on("GET", "/v1/models", waiting)
        await gate.open("GET", "/v1/models")
        await waiting.reached()
        gate.plane.lifecycle.handle(Event.FAILED, 0.0)
        await gate.server.drain(0)
        assert (await gate.last()).outcome == "aborted"


async def test_two_requests_share_a_connection() -> None:
    """An answer ends without the connection, and the next request is judged anew."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        client = await gate.connect(
            gate.message("GET", "/v1/models") + gate.message("GET", "/v1/models", key=None)
        )
        talk = await received(client, answers=2)
        assert talk.statuses == [200, 401]
        assert talk.ended is Ended.OPEN
        assert gate.agent.asked == ["GET /v1/models"]


async def test_what_the_wire_refuses_has_an_envelope() -> None:
    """Bytes that are no request are refused in the shape that clients parse, and are no exchange."""
    async with gated() as gate:
        client = await gate.connect(
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"
        )
        response = (await received(client)).first
        assert response.status == 400
        assert json_of(response)["error"]["type"] == "invalid_request_error"
        assert code(response).startswith("herma.request.")
        assert gate.audit.records == []


def test_the_words_of_the_wire_are_rendered() -> None:
    """Status, code and message go into the envelope, and SDKs are told not to repeat it."""
    headers, body = wire_error(431, "herma.request.headers", "too many headers")
    assert json.loads(body)["error"]["code"] == "herma.request.headers"
    assert json.loads(body)["error"]["message"] == "too many headers"
    assert (b"x-should-retry", b"false") in headers
