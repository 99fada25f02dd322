"""Bypass rows 69 and 70: no byte of a secret leaves, however an answer is cut, coded or labelled."""

import base64
import gzip
import itertools
import json
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.gate import Gate
from support.leak import COMMAND, SECRETS, assert_no_secret, assert_same_shape, commands_in, sse_texts
from support.raw import Connection, Ended, Talk, opened
from support.upstream import ABORT, CLOSE, Hold, RecordingUpstream, answer, json_answer, sse_answer

CHAT = "/v1/chat/completions"


HELLO = b'{"messages":[{"role":"user","content":"hi"}]}'


GENERATED = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _leaky(place: str) -> dict[str, Any]:
    """An answer in which the command stands at one of the places the real server puts it."""
    arguments = json.dumps({"command": COMMAND})
    pending = json.dumps(
        {"output": "", "status": "pending_approval", "command": COMMAND, "description": COMMAND}
    )
    return {
        "arguments": {"output": [{"type": "function_call", "name": "terminal", "arguments": arguments}]},
        "output": {
            "output": [{"type": "function_call_output", "output": [{"type": "input_text", "text": pending}]}]
        },
        "transcript": {
            "data": [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "terminal", "arguments": arguments}}],
                }
            ]
        },
        "content": {"choices": [{"message": {"role": "assistant", "content": f"I would run:\n{COMMAND}\n"}}]},
        "error": {"error": {"message": f"failed: {COMMAND}", "type": "server_error", "code": "x"}},
        "key": {"data": {COMMAND: 1}},
        "args": {"args": {"command": COMMAND}, "preview": COMMAND},
        "deep": {"a": [{"b": json.dumps({"c": json.dumps({"d": COMMAND})})}]},
    }[place]


@pytest.mark.bypass(69)
@pytest.mark.parametrize(
    "place", ["arguments", "output", "transcript", "content", "error", "key", "args", "deep"]
)
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/responses/resp_1"),
        ("GET", "/api/sessions/abc/messages"),
        ("POST", "/v1/responses"),
        ("GET", "/api/jobs"),
        ("GET", "/unknown"),
    ],
)
def test_no_json_answer_shows_a_secret(
    gate: Gate, upstream: RecordingUpstream, place: str, ascii_only: bool, method: str, target: str
) -> None:
    """Wherever the command stands in a JSON answer, its secrets do not leave and its structure does."""
    body = json.dumps(_leaky(place), ensure_ascii=ascii_only).encode()
    upstream.on(method, target, json_answer(body))
    talk = gate.ask(method, target, key="admin", body=b'{"input":"x"}' if method == "POST" else b"")
    assert talk.status == 200
    assert_no_secret(talk.received)
    document = json.loads(talk.first.body)
    for command in commands_in(document):
        assert_same_shape(command)
    assert "rm -rf ./scratch" in json.dumps(document)


@pytest.mark.bypass(69)
@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_no_error_answer_shows_a_secret(gate: Gate, upstream: RecordingUpstream, status: int) -> None:
    """Error texts are redacted like any other, in JSON and in plain text."""
    for answer_steps in (
        json_answer(_leaky("error"), status),
        [answer(status, COMMAND.encode(), [("Content-Type", "text/plain")])],
        [answer(status, COMMAND.encode())],
        [answer(status, b"{broken " + COMMAND.encode(), [("Content-Type", "application/json")])],
    ):
        upstream.on("POST", CHAT, answer_steps)
        talk = gate.ask("POST", CHAT, key="admin", body=HELLO)
        assert_no_secret(talk.received)


@pytest.mark.bypass(69)
def test_a_secret_spelled_in_escapes_is_masked(gate: Gate, upstream: RecordingUpstream) -> None:
    """JSON's own escapes do not hide a secret."""
    spelled = "".join(f"\\u{ord(character):04x}" for character in SECRETS[1])
    upstream.on("GET", "/v1/responses/resp_1", json_answer(b'{"text":"key ' + spelled.encode() + b' end"}'))
    talk = gate.ask("GET", "/v1/responses/resp_1", key="admin")
    assert talk.status == 200
    assert_no_secret(talk.received)
    assert json.loads(talk.first.body)["text"].endswith(" end")


def _runs_event(**fields: Any) -> bytes:
    return b"data: " + json.dumps({"run_id": "run_1", "timestamp": 1.0} | fields).encode() + b"\n\n"


def _delta(dialect: str, text: str) -> bytes:
    """One piece of model text in the dialect of a stream."""
    match dialect:
        case "chat":
            return (
                b"data: "
                + json.dumps(
                    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
                ).encode()
                + b"\n\n"
            )
        case "responses":
            return (
                b"event: response.output_text.delta\ndata: "
                + json.dumps({"type": "response.output_text.delta", "item_id": "m", "delta": text}).encode()
                + b"\n\n"
            )
        case "session":
            return (
                b"event: assistant.delta\ndata: "
                + json.dumps({"message_id": "m", "delta": text, "run_id": "run_1"}).encode()
                + b"\n\n"
            )
        case _:
            return _runs_event(event="message.delta", delta=text)


END = {
    "chat": b"data: [DONE]\n\n",
    "responses": b'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r"}}\n\n',
    "session": b"event: done\ndata: {}\n\n",
    "runs": _runs_event(event="run.completed", output="x"),
}


ROUTES = {
    "chat": ("POST", CHAT, HELLO.replace(b"}]}", b'}],"stream":true}')),
    "responses": ("POST", "/v1/responses", b'{"input":"x","stream":true}'),
    "session": ("POST", "/api/sessions/abc/chat/stream", b'{"message":"x"}'),
}


DIALECTS = ["chat", "responses", "session"]


def _stream(gate: Gate, upstream: RecordingUpstream, dialect: str, *pieces: bytes | float) -> Talk:
    method, target, body = ROUTES[dialect]
    upstream.on(method, target, sse_answer(*pieces))
    return gate.ask(method, target, key="admin", body=body)


@pytest.mark.bypass(69)
@pytest.mark.parametrize("dialect", DIALECTS)
@GENERATED
@given(cuts=st.lists(st.integers(1, len(COMMAND) - 1), max_size=40, unique=True))
def test_a_secret_split_over_deltas_is_masked(
    gate: Gate, upstream: RecordingUpstream, dialect: str, cuts: list[int]
) -> None:
    """However the model's text is cut into events, what a client puts together shows no secret."""
    upstream.forget()
    edges = [0, *sorted(cuts), len(COMMAND)]
    pieces = [_delta(dialect, COMMAND[a:b]) for a, b in itertools.pairwise(edges)]
    talk = _stream(gate, upstream, dialect, *pieces, END[dialect])
    assert talk.first.complete
    assert_no_secret(talk.received)
    joined = "".join(sse_texts(talk.first.body)[1].values())
    assert_no_secret(joined)
    assert "rm -rf ./scratch" in joined


@pytest.mark.bypass(69)
@pytest.mark.parametrize("dialect", DIALECTS)
@GENERATED
@given(cuts=st.lists(st.integers(1, 900), max_size=30, unique=True))
def test_a_secret_split_over_packets_is_masked(
    gate: Gate, upstream: RecordingUpstream, dialect: str, cuts: list[int]
) -> None:
    """However the network cuts the bytes of an event, no byte of a secret leaves."""
    upstream.forget()
    whole = _delta(dialect, COMMAND) + END[dialect]
    edges = [0, *sorted(cut for cut in cuts if cut < len(whole)), len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    talk = _stream(gate, upstream, dialect, *pieces)
    assert_no_secret(talk.received)
    assert "rm -rf ./scratch" in talk.first.body.decode()


@pytest.mark.bypass(69)
@pytest.mark.parametrize(
    "event",
    [
        pytest.param(b"event: " + SECRETS[1].encode() + b"\ndata: {}\n\n", id="event name"),
        pytest.param(b"id: " + SECRETS[1].encode() + b"\ndata: {}\n\n", id="id"),
        pytest.param(b": " + SECRETS[1].encode() + b"\n\n", id="comment"),
        pytest.param(b"data: " + SECRETS[1].encode() + b"\n\n", id="not JSON"),
        pytest.param(
            b"data: " + SECRETS[1][:12].encode() + b"\ndata: " + SECRETS[1][12:].encode() + b"\n\n",
            id="two data lines",
        ),
        pytest.param(b"retry: " + SECRETS[1].encode() + b"\ndata: {}\n\n", id="retry"),
        pytest.param(b"x-field: " + SECRETS[1].encode() + b"\ndata: {}\n\n", id="unknown field"),
        pytest.param(b"data: {" + SECRETS[1].encode() + b"\n\n", id="broken JSON"),
        pytest.param(b'data: {"hidden":"' + SECRETS[1].encode() + b'"}\r\n\r\n', id="CR LF"),
        pytest.param(b'data: {"hidden":"' + SECRETS[1].encode() + b'"}\r\r', id="CR"),
        pytest.param(b'data:{"hidden":"' + SECRETS[1].encode() + b'"}\n\n', id="no blank"),
        pytest.param(
            b'\xef\xbb\xbfdata: {"hidden":"' + SECRETS[1].encode() + b'"}\n\n', id="byte order mark"
        ),
        pytest.param(b'data: {"' + SECRETS[1].encode() + b'":1}\n\n', id="key"),
        pytest.param(b'data: {"text":"' + SECRETS[1].encode() + b'"}', id="no blank line at the end"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_part_of_an_event_carries_a_secret(
    gate: Gate, upstream: RecordingUpstream, dialect: str, event: bytes
) -> None:
    """A secret in any field or form of an event is masked, or the stream is cut before it."""
    talk = _stream(gate, upstream, dialect, event, END[dialect])
    assert_no_secret(talk.received)


@pytest.mark.bypass(69)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("key " + "".join(character + "\u200b" for character in SECRETS[1]), id="zero width"),
        pytest.param("key " + SECRETS[1].replace("-", "%2D").replace("F", "%46"), id="percent"),
        pytest.param("echo " + base64.b64encode(SECRETS[1].encode()).decode() + " | base64 -d", id="base64"),
        pytest.param("echo " + SECRETS[1].encode().hex() + " | xxd -r -p", id="hexadecimal"),
    ],
)
def test_an_encoded_secret_is_masked(gate: Gate, upstream: RecordingUpstream, text: str) -> None:
    """The usual ways to write a secret differently do not carry it out."""
    talk = _stream(gate, upstream, "chat", _delta("chat", text), END["chat"])
    joined = (
        "".join(sse_texts(talk.first.body)[1].values())
        .replace("\u200b", "")
        .replace("%2D", "-")
        .replace("%46", "F")
    )
    assert_no_secret(joined)


def _started_run(gate: Gate) -> str:
    started = gate.ask("POST", "/v1/runs", key="admin", body=b'{"input":"x"}')
    assert started.status == 202, started.received[:300]
    return str(json.loads(started.first.body)["run_id"])


@pytest.mark.bypass(69)
def test_the_raw_preview_before_an_approval_is_masked(gate: Gate, upstream: RecordingUpstream) -> None:
    """The upstream sends the command raw before it asks; neither event shows a secret, both can be read."""
    run_id = _started_run(gate)
    events = [
        _runs_event(event="tool.started", tool="terminal", preview=COMMAND),
        _runs_event(
            event="approval.request",
            command=COMMAND,
            description=COMMAND,
            pattern_key=COMMAND,
            pattern_keys=[COMMAND],
            choices=["once", "deny"],
        ),
        _runs_event(event="tool.completed", tool="terminal", duration=0.1, error=False),
        *[_runs_event(event="message.delta", delta=character) for character in COMMAND],
        _runs_event(event="reasoning.available", text=COMMAND),
        _runs_event(event="run.completed", output=COMMAND),
        b": stream closed\n\n",
    ]
    upstream.on("GET", f"/v1/runs/{run_id}/events", sse_answer(*events))
    talk = gate.ask("GET", f"/v1/runs/{run_id}/events", key="admin")
    assert_no_secret(talk.received)
    documents, joined = sse_texts(talk.first.body)
    assert_no_secret("".join(joined.values()))
    approval = next(document for document in documents if document.get("event") == "approval.request")
    assert_same_shape(approval["command"])
    for readable in ("curl -sS -m 2", "127.0.0.1:18699", "| bash; rm -rf ./scratch", "X-Vault-Token"):
        assert readable in approval["command"]
    assert approval["choices"] == ["once", "deny"]
    started = next(document for document in documents if document.get("event") == "tool.started")
    assert started["preview"] == approval["command"]


@pytest.mark.bypass(69)
def test_the_tool_label_of_a_chat_stream_is_masked(gate: Gate, upstream: RecordingUpstream) -> None:
    """The progress event that is not OpenAI's own is redacted as well."""
    progress = (
        b"event: hermes.tool.progress\ndata: "
        + json.dumps({"tool": "terminal", "label": COMMAND, "toolCallId": "c", "status": "running"}).encode()
        + b"\n\n"
    )
    talk = _stream(gate, upstream, "chat", progress, END["chat"])
    assert_no_secret(talk.received)
    assert_same_shape(sse_texts(talk.first.body)[0][0]["label"])


@pytest.mark.bypass(69)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_undecided_piece_does_not_leave_in_clear(
    gate: Gate, upstream: RecordingUpstream, dialect: str
) -> None:
    """The beginning of a secret is held, and what leaves while the model pauses is not the secret's beginning."""
    method, target, body = ROUTES[dialect]
    hold = Hold()
    upstream.on(
        method,
        target,
        sse_answer(
            _delta(dialect, "use " + SECRETS[1][:24]),
            hold,
            _delta(dialect, SECRETS[1][24:] + " now"),
            END[dialect],
        ),
    )
    with opened(gate.port, gate.message(method, target, key="admin", body=body)) as connection:
        hold.wait_reached()
        connection.read_some(1.5)
        assert_no_secret(connection.received)
        hold.release()
        talk = connection.talk()
    assert_no_secret(talk.received)
    assert_no_secret("".join(sse_texts(talk.first.body)[1].values()))


@pytest.mark.bypass(69)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_plain_text_is_not_held(gate: Gate, upstream: RecordingUpstream, dialect: str) -> None:
    """Text that cannot become a secret arrives while the upstream is still busy."""
    method, target, body = ROUTES[dialect]
    hold = Hold()
    upstream.on(method, target, sse_answer(_delta(dialect, "Hello there, friend. "), hold, END[dialect]))
    with opened(gate.port, gate.message(method, target, key="admin", body=body)) as connection:
        connection.read_until(b"friend.", 3)
        assert not hold.event.is_set()
        hold.release()
        assert connection.talk().first.complete


@pytest.mark.bypass(69)
def test_a_clean_stream_passes_byte_for_byte(gate: Gate, upstream: RecordingUpstream) -> None:
    """Comments, line ends, ids and unknown fields of a stream without secrets are left as they are."""
    events = [
        b": keepalive\n\n",
        b'id: 7\nevent: x\ndata: {"a":  1}\n\n',
        b"data: one\ndata: two\n\n",
        b"retry: 5\n\n",
        _delta("chat", "ok"),
        b"data: [DONE]\n\n",
    ]
    talk = _stream(gate, upstream, "chat", *events)
    assert talk.first.body == b"".join(events)
    assert talk.first.get("x-accel-buffering") == "no"
    assert talk.first.get("cache-control") == "no-cache"


@pytest.mark.bypass(69)
def test_an_event_without_end_is_cut(gate: Gate, upstream: RecordingUpstream) -> None:
    """A stream whose event never ends is aborted at the bound, never passed unread."""
    upstream.on("POST", CHAT, sse_answer(b'data: {"x":"', *[b"a" * 65536] * 200, b'"}\n\n'))
    talk = gate.ask("POST", CHAT, key="admin", body=HELLO.replace(b"}]}", b'}],"stream":true}'))
    if talk.first.status == 200:
        assert not talk.first.complete
        assert talk.ended is Ended.RESET
    else:
        assert talk.first.status == 502


@pytest.mark.bypass(70)
@pytest.mark.parametrize(
    "accept", ["br", "gzip, deflate, br, zstd", "*", "identity;q=0", "gzip;q=1.0", "compress"]
)
def test_an_answer_is_asked_for_in_plain(gate: Gate, upstream: RecordingUpstream, accept: str) -> None:
    """The upstream is asked for an answer that can be read, and for all of it."""
    headers = [("Accept-Encoding", accept), ("Range", "bytes=0-3"), ("If-Range", "x"), ("TE", "gzip")]
    assert gate.ask("GET", "/v1/responses/resp_1", key="admin", headers=headers).status in {200, 404}
    seen = upstream.only()
    assert seen.get("accept-encoding") in {None, b"identity"}
    for name in ("range", "if-range", "te"):
        assert seen.all(name) == [], name


@pytest.mark.bypass(70)
@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        pytest.param("gzip", gzip.compress(json.dumps(_leaky("content")).encode()), id="gzip"),
        pytest.param("deflate", zlib.compress(json.dumps(_leaky("content")).encode()), id="deflate"),
        pytest.param("br", b"\x0b\x02\x80" + COMMAND.encode(), id="brotli"),
        pytest.param("identity", json.dumps(_leaky("content")).encode(), id="identity"),
        pytest.param("x", json.dumps(_leaky("content")).encode(), id="unknown"),
    ],
)
def test_a_packed_answer_is_unpacked_or_refused(
    gate: Gate, upstream: RecordingUpstream, coding: str, packed: bytes
) -> None:
    """An answer the gate cannot read does not pass unread."""
    upstream.on(
        "POST",
        CHAT,
        [answer(200, packed, [("Content-Type", "application/json"), ("Content-Encoding", coding)])],
    )
    talk = gate.ask("POST", CHAT, key="admin", body=HELLO)
    assert talk.status in {200, 502}
    assert_no_secret(talk.received)
    body = talk.first.body
    if talk.first.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    assert_no_secret(body)


@pytest.mark.bypass(70)
def test_a_partial_answer_is_refused_or_read(gate: Gate, upstream: RecordingUpstream) -> None:
    """A 206 that nobody asked for does not carry half a secret past the redactor."""
    half = json.dumps(_leaky("content")).encode()[:200]
    upstream.on(
        "GET",
        "/v1/responses/resp_1",
        [answer(206, half, [("Content-Type", "application/json"), ("Content-Range", "bytes 0-199/400")])],
    )
    assert_no_secret(gate.ask("GET", "/v1/responses/resp_1", key="admin").received)


@pytest.mark.bypass(70)
@pytest.mark.parametrize(
    "kind",
    [
        "text/event-stream",
        "application/json",
        "text/plain",
        "application/octet-stream",
        "",
        "text/event-stream; charset=utf-16",
    ],
)
def test_no_label_of_an_answer_hides_it(gate: Gate, upstream: RecordingUpstream, kind: str) -> None:
    """The answer's label decides how it is read, never whether."""
    headers = [("Content-Type", kind)] if kind else []
    upstream.on("GET", "/v1/responses/resp_1", [answer(200, json.dumps(_leaky("content")).encode(), headers)])
    assert_no_secret(gate.ask("GET", "/v1/responses/resp_1", key="admin").received)


@pytest.mark.bypass(69)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("end", ["abort", "close"])
def test_a_stream_that_breaks_is_never_complete(
    gate: Gate, upstream: RecordingUpstream, dialect: str, end: str
) -> None:
    """When the upstream goes in mid-stream the client gets an error event of its dialect and then a reset."""
    method, target, body = ROUTES[dialect]
    upstream.on(
        method, target, sse_answer(_delta(dialect, "Hello "), 0.1, end=ABORT if end == "abort" else CLOSE)
    )
    with Connection(gate.port) as connection:
        connection.send(gate.message(method, target, key="admin", body=body))
        connection.read_until(b"Hello ")
        ended = connection.read_to_end()
        talk = connection.talk()
    assert not talk.first.complete
    assert ended is Ended.RESET
    assert b"error" in talk.first.body
    assert talk.first.body.endswith(b"\n\n")
