"""Which protocols are spoken through the gate."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import NextLayer
from mitmproxy.proxy.layers import ClientTLSLayer, ServerTLSLayer, modes
from mitmproxy.test import taddons, tflow

from herma.egress.deadlines import Deadlines
from herma.egress.layers import next_layer
from support.egress_process import PATIENCE_S, Child, Neighbour, asked, child, ready
from support.redactor import GITHUB


def _untold(_hook: str, _error: Exception) -> None:
    raise AssertionError


def opening(data: bytes) -> NextLayer:
    """Ask what is spoken, by the first bytes of the agent."""
    with taddons.context() as made:
        context = Context(tflow.tclient_conn(), made.options)
    context.layers = [modes.HttpProxy(context)]
    assert next_layer(NextLayer(context), Deadlines(), _untold) is not None
    found = NextLayer(context)
    found.data_client = lambda: data  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize("data", [b"", b"\x16", b"\x16\x03"])
def test_a_few_bytes_tell_nothing_yet(data: bytes) -> None:
    """More are waited for."""
    assert next_layer(opening(data), Deadlines(), _untold) is None


def test_tls_is_told_from_http() -> None:
    """Everything else is read as HTTP, which it is not, and ends there."""
    found = next_layer(opening(b"\x16\x03\x01\x00\x00"), Deadlines(), _untold)
    assert isinstance(found, ServerTLSLayer)
    assert isinstance(found.child_layer, ClientTLSLayer)
    for data in (b"GET / HTTP/1.1\r\n", b"SSH-2.0-x\r\n"):
        assert type(next_layer(opening(data), Deadlines(), _untold)).__name__ in {"_Http", "Http"}


def _head(stranger: Neighbour, *fields: str, path: str = "/framed") -> bytes:
    place = f"127.0.0.1:{stranger.port}"
    return "\r\n".join([f"POST http://{place}{path} HTTP/1.1", f"Host: {place}", *fields, "", ""]).encode()


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (("Content-Length: 5", "Transfer-Encoding: chunked"), b"0\r\n\r\nPOST /inner HTTP/1.1\r\n\r\n"),
        (("Content-Length: 5", "Content-Length: 6"), b"hello!"),
        (("Content-Length: +5",), b"hello"),
        (("Transfer-Encoding: xchunked",), b"0\r\n\r\n"),
        (("Transfer-Encoding: chunked", "Transfer-Encoding: identity"), b"0\r\n\r\n"),
        (("Transfer-Encoding : chunked",), b"0\r\n\r\n"),
        (("X-Folded: a\r\n Transfer-Encoding: chunked", "Content-Length: 5"), b"0\r\n\r\n"),
        (("X-Bare: a\rTransfer-Encoding: chunked", "Content-Length: 5"), b"0\r\n\r\n"),
        (("X-Nul: a\0", "Content-Length: 5"), b"0\r\n\r\n"),
    ],
)
def test_a_request_with_two_ends_goes_nowhere(
    serving: Child, stranger: Neighbour, fields: tuple[str, ...], body: bytes
) -> None:
    """The destination might read another request than the one that was judged (request smuggling)."""
    assert asked(serving, _head(stranger, *fields) + body).startswith(b"HTTP/1.1 400 ")
    assert not {"/framed", "/inner"} & {path for path, _ in stranger.seen}


def test_two_requests_in_one_packet_are_judged_each(serving: Child, stranger: Neighbour) -> None:
    """The first is answered; the second, which holds a secret, is not sent."""
    first = _head(stranger, "Content-Length: 2", path="/first") + b"ab"
    fields = (f"Content-Length: {len(GITHUB)}", "Connection: close")
    second = _head(stranger, *fields, path="/second") + GITHUB.encode()
    said = asked(serving, first + second, b"")
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 403 " in said
    assert stranger.seen[-1] == ("/first", b"ab")


def test_trailers_are_left_out(tmp_path: Path) -> None:
    """The request goes on without them, and the connection does, too; an answer loses its own."""
    chunks = b"1\r\na\r\n0\r\nX-Note: " + GITHUB.encode() + b"\r\n\r\n"
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Told: b\r\n\r\n"
    with (
        _raw(answer, b"0\r\n\r\n") as (port, seen),
        child(tmp_path, {"near": [f"127.0.0.1:{port}"]}) as started,
    ):
        ready(started)
        head = _head(Neighbour(port), "Transfer-Encoding: chunked", "Connection: close")
        said = asked(started, head + chunks, b"")
        assert said.endswith(b"\r\n\r\n2\r\nok\r\n0\r\n\r\n")
    assert b"".join(seen).endswith(b"\r\n\r\n1\r\na\r\n0\r\n\r\n")


def test_heads_have_a_bound(serving: Child, stranger: Neighbour) -> None:
    """In one field or in many: the connection ends."""
    for fields in (["X-A: " + "a" * 400_000], [f"X-{number}: a" for number in range(40_000)]):
        assert asked(serving, _head(stranger, *fields, path="/huge")) == b""
    assert "/huge" not in {path for path, _ in stranger.seen}


def test_who_waits_for_leave_gets_it_and_is_judged(serving: Child, stranger: Neighbour) -> None:
    """`Expect: 100-continue`: the gate gives leave, for it reads the body first."""
    for body, status in ((b"abc", b"200"), (GITHUB.encode(), b"403")):
        head = _head(stranger, "Expect: 100-continue", f"Content-Length: {len(body)}", path="/waited")
        said = asked(serving, head, body)
        assert said.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 " + status)
    assert [body for path, body in stranger.seen if path == "/waited"] == [b"abc"]


@pytest.mark.parametrize(
    "said",
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET ftp://127.0.0.1/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
)
def test_other_protocols_are_refused(serving: Child, said: bytes) -> None:
    """HTTP/2 without TLS, and what is not the web."""
    assert asked(serving, said).startswith(b"HTTP/1.1 400 ")


@contextmanager
def _raw(answer: bytes, end: bytes = b"\r\n\r\n") -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers alike whatever ends so, and remembers the bytes."""
    seen: list[bytes] = []

    def one(sock: socket.socket) -> None:
        with sock, suppress(OSError):
            while data := sock.recv(65536):
                seen.append(data)
                if data.endswith(end):
                    sock.sendall(answer)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listening.getsockname()[1], seen
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)


@pytest.mark.parametrize("protocol", ["h2c", "tls", "anything"])
def test_an_upgrade_to_what_nobody_reads_ends(tmp_path: Path, protocol: str) -> None:
    """The destination may agree: nothing that follows reaches it."""
    answer = f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n"
    with _raw(answer.encode()) as (port, seen), child(tmp_path, {"near": [f"127.0.0.1:{port}"]}) as started:
        place = f"127.0.0.1:{port}"
        head = f"GET http://{place}/ HTTP/1.1\r\nHost: {place}\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n"
        assert asked(ready(started), head.encode(), GITHUB.encode()).startswith(b"HTTP/1.1 101 ")
        assert len(seen) == 1
        assert GITHUB.encode() not in seen[0]


@pytest.mark.parametrize(
    "bytes_", [b"EHLO " + GITHUB.encode() + b"\r\n\r\n", b"\0\1\2\3\r\n\r\n", b"QUIT\r\n\r\n"]
)
def test_a_tunnel_carries_nothing_but_http(serving: Child, stranger: Neighbour, bytes_: bytes) -> None:
    """Whatever port it leads to."""
    place = f"127.0.0.1:{stranger.port}"
    said = asked(serving, f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode(), bytes_)
    assert b"HTTP/1.1 400 " in said


def test_inside_a_tunnel_no_other_place_is_named(serving: Child, stranger: Neighbour) -> None:
    """Neither by the target nor by a second tunnel."""
    place = f"127.0.0.1:{stranger.port}"
    connect = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
    absolute = f"POST http://127.0.0.1:9/ HTTP/1.1\r\nHost: {place}\r\nContent-Length: 0\r\n\r\n"
    said = asked(serving, connect, absolute.encode())
    assert b"HTTP/1.1 403 " in said
    assert b"herma.egress.fronting" in said
    second = asked(serving, connect, b"CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n")
    assert b"HTTP/1.1 400 " in second


def test_idle_connections_are_counted_and_ended(tmp_path: Path) -> None:
    """Further ones than there is room for are closed at once; one that is left free is somebody else's."""
    with child(tmp_path, {"max_connections": 50}) as started:
        ready(started)
        open_ = [socket.create_connection(("127.0.0.1", started.port), PATIENCE_S) for _ in range(50)]
        for sock in open_:
            sock.sendall(b"G")
        with socket.create_connection(("127.0.0.1", started.port), PATIENCE_S) as further:
            assert further.recv(1) == b""
        for sock in open_:
            sock.close()
        for _ in range(100):
            if asked(started, b"GET http://10.0.0.1/ HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n"):
                break
        else:
            raise AssertionError("no room was given back")
