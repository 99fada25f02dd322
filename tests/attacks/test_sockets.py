"""Bypass rows 56 to 58, and 69 and 71 as they are over WebSockets: what passes after a handshake is judged as before it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side

from support.gate import Gate
from support.raw import Connection, opened
from support.upstream import ECHO, Link, RecordingUpstream, json_answer
from support.verdict import assert_refused

CALLS, EVENTS, TERMINAL = "/api/ws", "/api/events", "/api/pty"
HANDSHAKE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("Sec-WebSocket-Extensions", "permessage-deflate"),
]
AGREED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
HARMLESS = json.dumps({"id": "0", "method": "session.list"}).encode()
# A reload reads all rules again, on a machine that runs the suite.
PATIENCE_S = 60.0
SECRET = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate in front of a dashboard."""
    below = {
        "upstream": {"profile": "hermes-dashboard"},
        "limits": {"max_body_bytes": 65_536},
        "surfaces": {"chat.terminal": {"scope": "run"}},
    }
    with Gate(tmp_path_factory.mktemp("sockets"), upstream.url, below) as running:
        yield running


def written(*frames: Frame, mask: bool = True) -> bytes:
    return b"".join(frame.serialize(mask=mask, extensions=[]) for frame in frames)


def text(data: bytes, *, fin: bool = True) -> Frame:
    return Frame(Opcode.TEXT, data, fin=fin)


@contextmanager
def talking(
    gate: Gate, upstream: RecordingUpstream, path: str = CALLS, *, key: str = "admin", says: bytes = b""
) -> Iterator[Connection]:
    """Open a WebSocket; the agent `says` something and then listens."""
    upstream.on("GET", path, [AGREED + says, ECHO])
    with opened(gate.port, gate.message("GET", path, key=key, headers=HANDSHAKE)) as connection:
        connection.read_until(b"\r\n\r\n")
        assert connection.received.startswith(b"HTTP/1.1 101 "), connection.received
        yield connection


def heard(connection: Connection) -> list[Frame]:
    """Read to the end; return the frames that the caller got."""
    connection.read_to_end(PATIENCE_S)
    peer = Protocol(Side.CLIENT, max_size=1 << 24)
    peer.receive_data(connection.received.partition(b"\r\n\r\n")[2])
    return [event for event in peer.events_received() if isinstance(event, Frame)]


def dialled(upstream: RecordingUpstream) -> Link:
    """Return the connection of the last WebSocket; what the gate asks on its own account has others."""
    return [seen.connection for seen in upstream.forwarded if seen.path in {CALLS, EVENTS, TERMINAL}][-1]


def reached(upstream: RecordingUpstream) -> list[bytes]:
    """Return the messages that the agent got, once it is left alone."""
    link = dialled(upstream)
    assert link.gone.wait(PATIENCE_S)
    peer = Protocol(Side.SERVER, max_size=1 << 24)
    peer.receive_data(link.received)
    frames = [event for event in peer.events_received() if isinstance(event, Frame)]
    return [bytes(frame.data) for frame in frames if frame.opcode in {Opcode.TEXT, Opcode.BINARY}]


def code_of(frames: list[Frame]) -> int:
    assert frames[-1].opcode is Opcode.CLOSE
    return int(Close.parse(bytes(frames[-1].data)).code)


@pytest.mark.bypass(56)
@pytest.mark.parametrize("path", [CALLS, EVENTS, TERMINAL, "/api/console", "/api/pub"])
@pytest.mark.parametrize(
    "origin", [None, "null", "file://", "https://evil.example", "http://127.0.0.1.evil.example"]
)
def test_a_handshake_needs_a_key_and_no_foreign_page(
    gate: Gate, upstream: RecordingUpstream, path: str, origin: str | None
) -> None:
    """The upstream itself believes `null`, `file:` and no origin at all."""
    named = [("Origin", origin)] if origin else []
    talk = gate.ask("GET", path, key="admin" if origin else None, headers=[*HANDSHAKE, *named])
    assert_refused(upstream, talk, 403 if origin else 401)


@pytest.mark.bypass(32, 56)
@pytest.mark.parametrize("name", ["token", "ticket", "TOKEN", "t%6Fken"])
def test_a_key_in_the_query_of_a_handshake_opens_nothing(
    gate: Gate, upstream: RecordingUpstream, name: str
) -> None:
    """Not the gate's own, and not the upstream's."""
    for key in (gate.keys["admin"], gate.upstream_key):
        talk = gate.ask("GET", f"{CALLS}?{name}={key}", key=None, headers=HANDSHAKE)
        assert_refused(upstream, talk, 400)


@pytest.mark.bypass(57)
def test_a_socket_does_not_outlive_its_key(gate: Gate, upstream: RecordingUpstream) -> None:
    """After a reload without the key it is closed, though nothing moves."""
    kept = gate.config["auth"]["keys"]
    try:
        with talking(gate, upstream, EVENTS, key="other") as connection:
            gate.config["auth"]["keys"] = [key for key in kept if key["name"] != "other"]
            gate.write_config(gate.config)
            assert code_of(heard(connection)) == 4401
        assert dialled(upstream).gone.wait(PATIENCE_S)
    finally:
        gate.config["auth"]["keys"] = kept
        gate.write_config(gate.config)


@pytest.mark.bypass(58)
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (written(text(HARMLESS), mask=False), 1002),
        (written(Frame(Opcode.CONT, HARMLESS)), 1002),
        (written(text(b"{", fin=False), text(b"}")), 1002),
        (written(text(b"{", fin=False), Frame(Opcode.CLOSE, b"\x03\xe8")), 1002),
        (b"\xc1\x82mask\x15\x16", 1002),  # compressed, though nobody agreed to it
        (b"\x83\x80mask", 1002),  # an opcode that is not there
        (b"\x89\xfe\x00\x7emask" + b"x" * 126, 1002),  # a ping that is too long
        (b"\x81\xff\x00\x00\x00\x00\x7f\xff\xff\xffmask", 1009),  # two gigabytes are announced
        (b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffmask", 1009),
        (written(text(b"x" * 65_537)), 1009),
        (written(text(b"x" * 60_000, fin=False), Frame(Opcode.CONT, b"x" * 60_000)), 1009),
        (written(text(b"\xff\xfe")), 1007),
        (written(text(b'{"id":"\xe2\x82', fin=False), Frame(Opcode.CONT, b'"}')), 1007),
    ],
)
def test_a_hostile_frame_ends_the_connection(
    gate: Gate, upstream: RecordingUpstream, sent: bytes, code: int
) -> None:
    """With the code of the protocol; nothing of it, and nothing behind it, reaches the agent."""
    with talking(gate, upstream) as connection:
        connection.send(sent + written(text(HARMLESS)))
        assert code_of(heard(connection)) == code
    assert reached(upstream) == []


@pytest.mark.bypass(58)
def test_pieces_are_put_together_before_they_are_judged(gate: Gate, upstream: RecordingUpstream) -> None:
    """A word that is cut by frames, with pings between them, is the word."""
    hostile = json.dumps({"id": "1", "method": "shell.exec", "params": {"command": "id"}}).encode()
    pieces = [text(hostile[:1], fin=False)]
    for at in range(1, len(hostile)):
        pieces += [Frame(Opcode.CONT, hostile[at : at + 1], fin=False), Frame(Opcode.PING, b"")]
    with talking(gate, upstream) as connection:
        connection.send(written(*pieces, Frame(Opcode.CONT, b"")))
        connection.read_until(b"herma.route.off")
    assert reached(upstream) == []


@pytest.mark.bypass(71)
@pytest.mark.parametrize(
    "message",
    [
        [
            {"id": "1", "method": "session.list"},
            {"id": "2", "method": "shell.exec", "params": {"command": "id"}},
        ],
        [[{"id": "1", "method": "shell.exec", "params": {"command": "id"}}]],
        {"id": "1", "method": "session.list", "calls": [], "params": [{"method": "shell.exec"}]},
        {"id": "1", "method": " shell.exec"},
        {"id": "1", "method": "shell.exec\u0000"},
        {"id": "1", "method": ["shell.exec"]},
        {"id": "1", "METHOD": "session.list", "method": "cli.exec", "params": {"argv": ["mcp", "add"]}},
    ],
)
def test_no_shape_of_a_call_hides_another(gate: Gate, upstream: RecordingUpstream, message: object) -> None:
    """A batch is refused, and what is no call is none."""
    with talking(gate, upstream) as connection:
        connection.send(written(text(json.dumps(message).encode())))
        connection.read_until(b"error")
    assert reached(upstream) == []


@pytest.mark.bypass(69)
@pytest.mark.parametrize("path", [CALLS, EVENTS, TERMINAL])
@pytest.mark.parametrize("cut", [6, 20, 39])
def test_a_secret_over_two_messages_is_masked(
    gate: Gate, upstream: RecordingUpstream, path: str, cut: int
) -> None:
    """Deltas of one text, and the output of a terminal, are one text."""

    def delta(piece: str) -> Frame:
        if path == TERMINAL:
            return Frame(Opcode.BINARY, piece.encode())
        params = {"type": "message.delta", "session_id": "s", "payload": {"text": piece}}
        return text(json.dumps({"jsonrpc": "2.0", "method": "event", "params": params}).encode())

    pieces = [delta(f"use {SECRET[:cut]}"), delta(f"{SECRET[cut:]} now"), Frame(Opcode.CLOSE, b"\x03\xe8")]
    with talking(gate, upstream, path, says=written(*pieces, mask=False)) as connection:
        frames = heard(connection)
    shown = b"".join(bytes(frame.data) for frame in frames)
    for at in range(len(SECRET) - 11):
        assert SECRET[at : at + 12].encode() not in shown
    assert b"now" in shown


@pytest.mark.bypass(57)
def test_a_caller_that_is_gone_frees_the_agent(gate: Gate, upstream: RecordingUpstream) -> None:
    """Whether it says so or not."""
    for goodbye in (written(Frame(Opcode.CLOSE, b"\x03\xe9")), b""):
        with talking(gate, upstream, TERMINAL) as connection:
            connection.send(goodbye)
        assert dialled(upstream).gone.wait(PATIENCE_S)


@pytest.mark.bypass(56)
def test_a_file_of_the_page_is_not_the_page(gate: Gate, upstream: RecordingUpstream) -> None:
    """The upstream answers a path that it does not know with its page, which carries its key."""
    page = f'<script>window.__HERMES_SESSION_TOKEN__="{gate.upstream_key}"</script>'.encode()
    for path in ("/fonts/nope.woff2", "/assets/x.js", "/favicon.ico"):
        upstream.on("GET", path, json_answer(page, headers=[("Content-Type", "text/html; charset=utf-8")]))
        talk = gate.ask("GET", path, key="reader")
        assert gate.upstream_key.encode() not in talk.received


@pytest.mark.bypass(62)
def test_a_caller_that_never_reads_is_not_answered_for_ever(gate: Gate, upstream: RecordingUpstream) -> None:
    """Pings are answered only as fast as the answers are read."""
    with talking(gate, upstream, EVENTS) as connection:
        ping = written(*[Frame(Opcode.PING, b"x" * 125)] * 500)
        sent = 0
        connection._socket.settimeout(5)
        with suppress(OSError):
            while sent < 1000:
                connection._socket.sendall(ping)
                sent += 1
        assert sent < 1000


@pytest.mark.bypass(70)
def test_the_key_of_the_upstream_is_in_no_message(gate: Gate, upstream: RecordingUpstream) -> None:
    """Whatever quotes it."""
    told = json.dumps({"id": "1", "error": {"message": f"said zz{gate.upstream_key}"}}).encode()
    says = written(text(told), Frame(Opcode.CLOSE, b"\x03\xe8"), mask=False)
    with talking(gate, upstream, says=says) as connection:
        heard(connection)
    assert gate.upstream_key.encode() not in connection.received
    assert b"held-by-the-gate" in connection.received
