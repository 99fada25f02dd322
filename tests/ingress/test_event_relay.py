"""Event streams: judged event by event, never delayed without need, and seen to be broken when they break."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from herma.identity import Keyring
from herma.ingress import event_relay as module
from support.event_stream import events
from support.inprocess import SECRET, Call, Gated, Play, code, event, gated, gzipped, received, sse, until
from support.raw import Ended, Talk
from support.upstream import sse_head

CHAT = "/v1/chat/completions"
RUN = "run_00000000000000000000000000000001"
EVENTS = f"/v1/runs/{RUN}/events"
DONE = event(b"[DONE]")


def _delta(text: str) -> bytes:
    return event(
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
    )


def _joined(body: bytes) -> str:
    """Put together what a client would show."""
    return "".join(
        choice["delta"].get("content", "")
        for _, data in events(body.decode())
        if isinstance(data, dict) and "choices" in data
        for choice in data["choices"]
    )


async def _stream(gate: Gated, play: Play, *, target: str = CHAT, key: str = "admin") -> Talk:
    """Ask for a stream that the agent plays; return all that came of it."""
    method = "POST" if target == CHAT or target.startswith("/api") or target == "/v1/responses" else "GET"
    gate.agent.on(method, target, play)
    return await gate.talk(method, target, key=key, body={"stream": True} if method == "POST" else b"")


def _then(parts: list[bytes], last: Callable[[Call], Awaitable[Any]]) -> Play:
    """Send the head and some events, then do something else."""

    async def play(call: Call) -> None:
        await call.send(sse_head())
        await call.chunk(*parts)
        await last(call)

    return play


async def _reset(call: Call) -> None:
    call.reset()


async def _close(call: Call) -> None:
    call.close()


# --- passing


async def test_a_stream_passes_byte_for_byte() -> None:
    """Without a secret in it nothing changes: comments, blanks, unknown fields and endings stay."""
    parts = [
        b": heartbeat\n\n",
        b'id: 7\r\nretry: 10\r\ndata: {"x" :  1}\r\n\r\n',
        _delta("hello "),
        b"event: odd\nunknown: field\ndata: not json\n\n",
        DONE,
    ]
    async with gated() as gate:
        talk = await _stream(gate, sse(*parts))
        assert talk.first.body == b"".join(parts)
        assert talk.first.complete
        assert talk.ended is Ended.OPEN
        record = await gate.last()
        assert (record.outcome, record.code, record.redactions) == ("answered", "", 0)
        assert record.bytes_out == len(talk.first.body)


async def test_a_stream_is_marked_as_one() -> None:
    """No proxy in front may keep, pack or gather it."""
    async with gated() as gate:
        response = (await _stream(gate, sse(DONE, headers=[("Cache-Control", "public")]))).first
        assert response.get("content-type") == "text/event-stream"
        assert response.get("x-accel-buffering") == "no"
        assert response.get("cache-control") == "no-cache"
        assert response.get("transfer-encoding") == "chunked"


async def test_an_event_leaves_before_the_next_one_comes() -> None:
    """The first event is there while the upstream still thinks about the second; a heartbeat as well."""
    async with gated() as gate:
        go = asyncio.Event()

        async def play(call: Call) -> None:
            await call.send(sse_head())
            for part in (_delta("first "), b": heartbeat\n\n", _delta("second "), DONE):
                await call.chunk(part)
                await go.wait()
                go.clear()
            await call.end()

        gate.agent.on("POST", CHAT, play)
        client = await gate.open("POST", CHAT, body={"stream": True})
        for sign in (b"first ", b"heartbeat", b"second ", b"[DONE]"):
            await client.until(sign)
            go.set()
        assert (await client.until(b"0\r\n\r\n")).endswith(b"0\r\n\r\n")


async def test_a_stream_without_length_ends_when_the_upstream_closes() -> None:
    """A close that is clean is an end."""

    async def play(call: Call) -> None:
        await call.send(sse_head(chunked=False), _delta("hello "), DONE)
        call.close()

    async with gated() as gate:
        talk = await _stream(gate, play)
        assert talk.first.complete
        assert talk.first.body == _delta("hello ") + DONE


async def test_a_failed_answer_may_be_a_stream() -> None:
    """The status is the upstream's."""

    async def play(call: Call) -> None:
        head = sse_head().replace(b"200 OK", b"500 Oops")
        await call.send(head)
        await call.chunk(event({"error": {"message": f"token {SECRET}"}}))
        await call.end()

    async with gated() as gate:
        talk = await _stream(gate, play)
        assert talk.status == 500
        assert SECRET.encode() not in talk.received


# --- redaction


@pytest.mark.parametrize("step", [1, 7, 40, 400])
async def test_a_secret_does_not_leave_however_it_is_cut(step: int) -> None:
    """Over events or over the network's pieces: what the client puts together shows a placeholder."""
    text = f"export TOKEN={SECRET} && run it now"
    body = b"".join(_delta(text[at : at + 5]) for at in range(0, len(text), 5)) + DONE

    async def play(call: Call) -> None:
        await call.send(sse_head())
        for at in range(0, len(body), step):
            await call.chunk(body[at : at + step])
        await call.end()

    async with gated() as gate:
        talk = await _stream(gate, play)
        shown = _joined(talk.first.body)
        assert shown.startswith("export TOKEN=[github_pat:")
        assert shown.endswith("] && run it now")
        assert not any(SECRET[at : at + 10] in talk.received.decode() for at in range(len(SECRET) - 9))
        record = await gate.last()
        assert record.redactions == 1
        assert record.findings


async def test_a_whole_string_is_redacted_at_once() -> None:
    """A command in an event is complete: it waits for nothing."""
    preview = {
        "event": "tool.started",
        "run_id": RUN,
        "preview": f"curl -H 'Authorization: Bearer {SECRET}' x",
    }
    async with gated() as gate:
        gate.agent.on("GET", EVENTS, _then([event(preview)], lambda call: call.gone()))
        client = await gate.open("GET", EVENTS, key="admin")
        got = await client.until(b"\n\n\r\n")
        assert b"tool.started" in got
        assert SECRET.encode() not in got


async def test_text_that_could_become_a_secret_leaves_at_the_deadline() -> None:
    """Nothing more comes, and the caller still sees what is no secret, and not what could be one."""
    async with gated() as gate:
        gate.agent.on("POST", CHAT, _then([_delta(f"token={SECRET}")], lambda call: call.gone()))
        client = await gate.open("POST", CHAT, body={"stream": True})
        got = await client.until(b"\n\n\r\n")
        assert b"token=" in got
        assert SECRET[:12].encode() not in got


async def test_what_is_held_leaves_at_the_end() -> None:
    """The last words of a stream that just ends are judged and sent, its unfinished last event too."""
    async with gated() as gate:
        talk = await _stream(gate, sse(_delta("the word is ghp"), _delta(f"token={SECRET}")[:-1]))
        shown = _joined(talk.first.body + b"\n")
        assert shown.startswith("the word is ghp")
        assert "token=[" in shown
        assert SECRET not in shown


async def test_monitoring_passes_the_original_bytes() -> None:
    """The stream is the upstream's, and the audit names what it showed."""
    parts = [_delta("export TOKEN="), _delta(SECRET), _delta(" && run"), DONE]
    async with gated(redaction={"mode": "monitor"}) as gate:
        talk = await _stream(gate, sse(*parts))
        assert talk.first.body == b"".join(parts)
        record = await gate.last()
        assert record.redactions == 1
        assert record.findings


async def test_monitoring_delays_nothing() -> None:
    """What could become a secret leaves at once, and only once, although the redactor thinks about it longer."""
    first = _delta(f"token={SECRET[:14]}")
    async with gated(redaction={"mode": "monitor"}) as gate:
        gate.agent.on("POST", CHAT, _then([first], lambda call: call.gone()))
        client = await gate.open("POST", CHAT, body={"stream": True})
        assert SECRET[:14].encode() in await client.until(b"\n\n\r\n")


# --- packed streams


def _packed(data: bytes, encoding: str) -> Play:
    return sse(data, headers=[("Content-Encoding", encoding)])


async def test_a_packed_stream_is_judged_unpacked() -> None:
    """Asked not to, the upstream packs: what leaves is plain and judged."""
    async with gated() as gate:
        talk = await _stream(gate, _packed(gzipped(_delta(f"token={SECRET} ") + DONE), "gzip"))
        assert talk.first.complete
        assert talk.first.get("content-encoding") is None
        assert _joined(talk.first.body).startswith("token=[")


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("br", b"whatever"), ("gzip", b"no gzip at all"), ("gzip", gzipped(_delta("hello ") + DONE)[:-8])],
    ids=["unknown", "broken", "cut off"],
)
async def test_a_stream_that_cannot_be_unpacked_is_cut(encoding: str, data: bytes) -> None:
    """What cannot be read does not pass, and the stream does not look complete."""
    async with gated() as gate:
        talk = await _stream(gate, _packed(data, encoding))
        assert talk.ended is Ended.RESET
        assert b"herma.upstream.unjudged" in talk.received
        record = await gate.last()
        assert (record.outcome, record.code) == ("failed", "herma.upstream.unjudged")


# --- streams that break


def _error_of(dialect: str, body: bytes) -> dict[str, Any]:
    name, data = events(body.decode())[-1]
    match dialect:
        case "run":
            assert (name, data["event"]) == ("", "run.failed")
            return dict(data)
        case "session":
            assert name == "error"
            return dict(data["error"])
        case _:
            assert name == ""
            return dict(data["error"])


DIALECTS = {
    "chat": CHAT,
    "responses": "/v1/responses",
    "run": EVENTS,
    "session": "/api/sessions/s1/chat/stream",
}


@pytest.mark.parametrize("last", [_reset, _close], ids=["reset", "close"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_stream_that_breaks_off_says_so_and_breaks(
    dialect: str, last: Callable[[Call], Awaitable[None]]
) -> None:
    """An error event in the dialect of the stream, then a reset: no client takes that for the end."""
    async with gated() as gate:
        talk = await _stream(gate, _then([event({"delta": "hello "})], last), target=DIALECTS[dialect])
        assert talk.ended is Ended.RESET
        assert not talk.first.complete
        assert talk.first.body.startswith(event({"delta": "hello "}))
        assert _error_of(dialect, talk.first.body)["code"].startswith("herma.upstream.")
        record = await gate.last()
        assert (record.outcome, record.status) == ("upstream_gone", 200)
        assert record.code.startswith("herma.upstream.")
        assert gate.slots == 0


async def test_an_error_comes_at_the_end_of_an_event() -> None:
    """Half an event of the upstream is dropped, not joined with the gate's own."""
    async with gated() as gate:
        talk = await _stream(gate, _then([_delta("hello "), b'data: {"half": '], _reset))
        assert b"half" not in talk.first.body
        assert _error_of("chat", talk.first.body)["code"].startswith("herma.upstream.")


async def test_a_silent_upstream_breaks_the_stream() -> None:
    """After the configured silence the caller hears that it was a timeout."""
    async with gated(upstream_extra={"idle_timeout_s": 1}) as gate:
        talk = await _stream(gate, _then([_delta("hello ")], lambda call: call.gone()))
        assert talk.ended is Ended.RESET
        assert _error_of("chat", talk.first.body)["code"] == "herma.upstream.timeout"


async def test_an_event_without_end_breaks_the_stream() -> None:
    """What grows beyond the bound cannot be judged, so it is cut and not passed."""

    async def flood(call: Call) -> None:
        await call.chunk(b"data: ")
        while True:
            await call.chunk(b"x" * (1 << 20))

    async with gated() as gate:
        talk = await _stream(gate, _then([], flood))
        assert talk.ended is Ended.RESET
        assert len(talk.received) < 4096
        record = await gate.last()
        assert (record.outcome, record.code) == ("failed", "herma.stream.event_too_large")
        assert _error_of("chat", talk.first.body)["code"] == record.code


async def test_a_caller_who_leaves_ends_the_upstream_s_work() -> None:
    """In mid-stream, without a word of what has come."""
    async with gated() as gate:
        gone = asyncio.Event()

        async def last(call: Call) -> None:
            await call.gone()
            gone.set()

        gate.agent.on("POST", CHAT, _then([_delta("hello ")], last))
        client = await gate.open("POST", CHAT, body={"stream": True})
        await client.until(b"hello ")
        client.close()
        await gone.wait()
        record = await gate.last()
        assert (record.outcome, record.status) == ("client_gone", 200)
        assert record.bytes_out > 0


@pytest.mark.parametrize("target", [CHAT, EVENTS])
async def test_a_caller_who_leaves_after_the_last_event_has_it_all(target: str) -> None:
    """The SDKs hang up at `[DONE]`, before the last chunk: that is no abort."""
    last = DONE if target == CHAT else event({"event": "run.completed", "run_id": RUN})
    async with gated() as gate:
        method = "POST" if target == CHAT else "GET"
        gate.agent.on(method, target, _then([last], lambda call: call.gone()))
        client = await gate.open(method, target, key="admin", body={} if method == "POST" else b"")
        await client.until(b"\n\n\r\n")
        client.close()
        assert (await gate.last()).outcome == "answered"


# --- what a stream tells the gate


async def test_the_offer_of_a_prompt_is_known_before_the_caller_sees_it() -> None:
    """Whoever answers at once is judged by what was offered."""
    prompt = {"event": "approval.request", "run_id": RUN, "command": "rm x", "choices": ["once", "deny"]}
    async with gated() as gate:
        gate.agent.on("GET", EVENTS, _then([event(prompt)], lambda call: call.gone()))
        gate.agent.on("POST", "/v1/runs", {"run_id": RUN})
        gate.agent.on("POST", f"/v1/runs/{RUN}/approval", {"resolved": 1})
        await gate.ask("POST", "/v1/runs", body={"input": "x"})
        client = await gate.open("GET", EVENTS)
        await client.until(b"approval.request")
        assert await gate.store.offered(RUN) == ("once", "deny")
        approval = {"choice": "session"}
        refused = await gate.ask("POST", f"/v1/runs/{RUN}/approval", body=approval)
        assert (refused.status, code(refused)) == (409, "herma.approval.not_offered")
        assert (await gate.ask("POST", f"/v1/runs/{RUN}/approval", body={"choice": "once"})).status == 200
        assert await gate.store.offered(RUN) is None


async def test_the_end_of_a_run_is_known_before_the_caller_sees_it() -> None:
    """Whoever starts the next run at once finds the slot free, while the stream is still open."""
    async with gated(limits={"max_concurrent_runs": 1}) as gate:
        gate.agent.on("POST", "/v1/runs", {"run_id": RUN})
        await gate.ask("POST", "/v1/runs", body={"input": "x"})
        assert gate.slots == 1
        last = event({"event": "run.failed", "run_id": RUN, "error": "x"})
        gate.agent.on("GET", EVENTS, _then([last], lambda call: call.gone()))
        client = await gate.open("GET", EVENTS)
        await client.until(b"run.failed")
        assert gate.slots == 0


async def test_two_streams_are_judged_apart() -> None:
    """What one holds back is not released by the other."""
    half = len(SECRET) // 2
    async with gated() as gate:
        started = asyncio.Event()

        async def first(call: Call) -> None:
            await call.send(sse_head())
            await call.chunk(_delta(f"token={SECRET[:half]}"))
            await started.wait()
            await call.chunk(_delta(f"{SECRET[half:]} end"), DONE)
            await call.end()

        gate.agent.on("POST", CHAT, first)
        client = await gate.open("POST", CHAT, body={"stream": True})
        await until(lambda: len(gate.agent.calls) == 1)
        gate.agent.on("POST", CHAT, sse(_delta("plain words "), DONE))
        other = await gate.ask("POST", CHAT, body={"stream": True})
        assert _joined(other.body) == "plain words "
        started.set()
        talk = await received(client, "POST")
        shown = _joined(talk.first.body)
        assert shown.startswith("token=[")
        assert SECRET[half:] not in shown
        assert json.dumps(SECRET[:half]).strip('"') not in shown


@pytest.mark.parametrize(
    "target", ["/v1/artifacts/download/a1", "/v9/new", "/v1/runs/run_mine/events", "/v1/runs/run_mine/new"]
)
async def test_a_stream_speaks_of_its_own_run_only(target: str) -> None:
    """A file that a caller uploaded as an event stream neither ends another run nor says what its prompts offer."""
    forged = sse(
        event({"event": "approval.request", "run_id": RUN, "choices": ["once", "session", "always"]}),
        event({"event": "run.completed", "run_id": RUN}),
    )
    async with gated() as gate:
        gate.agent.on("POST", "/v1/runs", {"run_id": RUN})
        await gate.ask("POST", "/v1/runs", body={"input": "x"})
        assert gate.slots == 1
        talk = await _stream(gate, forged, target=target)
        assert b"run.completed" in talk.first.body
        assert gate.slots == 1
        assert await gate.store.offered(RUN) is None


async def test_a_stream_ends_when_its_key_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the agent says nothing: the client hears why, and that it is not the end of the answer."""
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.01)

    async def play(call: Call) -> None:
        await call.send(sse_head())
        await call.chunk(_delta("hello "))
        await call.gone()

    async with gated() as gate:
        gate.agent.on("POST", CHAT, play)
        client = await gate.open("POST", CHAT, body={"stream": True})
        await client.until(b"hello")
        kept = gate.plane.generation
        gate.plane.generation = replace(kept, keyring=Keyring([]))
        talk = await received(client, "POST")
        gate.plane.generation = kept
        rest = talk.received
        assert b'event: auth_expired\ndata: {"code":"herma.auth.expired"}\n\n' in rest
        assert b'"herma.auth.expired"' in rest.partition(b"auth_expired")[2]
        assert talk.ended is Ended.RESET
        record = await gate.last()
        assert (record.outcome, record.code) == ("denied", "herma.auth.expired")


async def test_silence_is_counted_over_the_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking after the key does not make an agent that hangs wait for ever."""
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.01)

    async def play(call: Call) -> None:
        await call.send(sse_head())
        await call.gone()

    async with gated(upstream_extra={"idle_timeout_s": 1}) as gate:
        talk = await _stream(gate, play)
        assert b"herma.upstream.timeout" in talk.received


# --- what is promised for later

LATER = {"tool_name": "terminal", "args": {"command": "make", "background": True}}
SESSION = "/api/sessions/s1/chat/stream"
UNKEPT = b": herma async-delivery unsupported\n\n"


@pytest.mark.parametrize("mode", ["enforce", "monitor"])
async def test_a_promise_that_cannot_be_kept_is_told_between_events(mode: str) -> None:
    """Once a stream, right behind the call that promises; all else stays as it is."""
    call, last = event(LATER, "tool.started"), event({}, "done")
    async with gated(redaction={"mode": mode}) as gate:
        talk = await _stream(gate, sse(call, call, last), target=SESSION)
        assert talk.first.complete
        assert talk.first.body.count(UNKEPT) == 1
        assert talk.first.body.replace(UNKEPT, b"") == call + call + last
        assert talk.first.body.index(UNKEPT) in {len(call), len(call + call), len(call + call + last)}


async def test_what_was_watched_only_is_told_at_the_end_of_an_event() -> None:
    """A piece of the network that ends within an event is not followed by a comment."""
    call, last = event(LATER, "tool.started"), event({"text": "x"}, "tool.completed")
    async with gated(redaction={"mode": "monitor"}) as gate:

        async def play(one: Call) -> None:
            await one.send(sse_head())
            await one.chunk(call + last[:9])
            await one.chunk(last[9:])
            await one.end()

        talk = await _stream(gate, play, target=SESSION)
        assert talk.first.body == call + last + UNKEPT


async def test_another_upstream_promises_what_it_likes() -> None:
    """The gate knows of its own upstream's turns only."""
    async with gated(profile="openai") as gate:
        talk = await _stream(gate, sse(event(LATER, "tool.started"), DONE))
        assert UNKEPT not in talk.first.body
