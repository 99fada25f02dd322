"""Bodies with bounds, through the running gate."""

import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from support.egress_process import Child, Neighbour, asked, child, ready, through
from support.http2 import Http2Client, Http2Server, http2_server, tunnel
from support.redactor import GITHUB
from support.wire_tls import make_pair


def test_a_body_that_is_too_large_is_refused(serving: Child, stranger: Neighbour) -> None:
    """By what it says of its length."""
    status, said = through(serving, f"http://127.0.0.1:{stranger.port}/large", b"a" * 65537)
    assert (status, said["code"]) == (413, "herma.egress.too_large")
    assert "/large" not in [path for path, _ in stranger.seen]


def test_a_body_that_tells_no_length_is_counted(serving: Child, stranger: Neighbour) -> None:
    """And refused as soon as it is too large."""
    with socket.create_connection(("127.0.0.1", serving.port), 10) as sock:
        place = f"127.0.0.1:{stranger.port}"
        head = f"POST http://{place}/chunked HTTP/1.1\r\nHost: {place}\r\nTransfer-Encoding: chunked\r\n\r\n"
        sock.sendall(head.encode() + b"20000\r\n" + b"a" * 0x20000 + b"\r\n0\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 413 ")
    assert "/chunked" not in [path for path, _ in stranger.seen]


def _waiting(port: int, path: str, length: int) -> bytes:
    place = f"127.0.0.1:{port}"
    fields = ("Expect: 100-continue", f"Content-Length: {length}", f"X-Note: {path[1:]}")
    return "\r\n".join([f"POST http://{place}{path} HTTP/1.1", f"Host: {place}", *fields, "", ""]).encode()


@pytest.mark.parametrize("body", [b"", b"a" * 5])
def test_a_body_that_is_refused_is_not_asked_for(serving: Child, stranger: Neighbour, body: bytes) -> None:
    """Neither one of a length nor one that nobody would read; who sends it all the same hears the refusal."""
    for port, length, status in ((9, 5, b"403"), (stranger.port, 1 << 40, b"413")):
        said = asked(serving, _waiting(port, "/much", length) + body)
        assert said.startswith(b"HTTP/1.1 " + status)
        assert b"herma.egress." in said
        assert b"connection: close" in said.lower()
    assert "/much" not in [path for path, _ in stranger.seen]


def test_a_body_that_may_come_is_asked_for(serving: Child, stranger: Neighbour) -> None:
    """And arrives."""
    with socket.create_connection(("127.0.0.1", serving.port), 10) as sock:
        sock.sendall(_waiting(stranger.port, "/asked-for", 5))
        assert sock.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(b"hello")
        assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
    assert stranger.seen[-1] == ("/asked-for", b"hello")


@pytest.fixture(scope="module")
def http2(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Http2Server, Callable[[], Http2Client]]]:
    """A destination that speaks HTTP/2 only, behind the gate, and connections of the agent to it."""
    directory = tmp_path_factory.mktemp("http2")
    pair = make_pair(directory)
    with http2_server(pair.serving()) as server:
        section = {
            "near": [f"127.0.0.1:{server.port}", f"[::1]:{server.port}"],
            "ca_file": pair.cert,
            "max_body_bytes": 65536,
        }
        with child(directory, section) as started:
            trusted = str(directory / "egress" / "ca.pem")
            yield server, partial(Http2Client, ready(started).port, f"localhost:{server.port}", trusted)


type Http2 = tuple[Http2Server, Callable[[], Http2Client]]


def test_a_refused_stream_ends_no_other(http2: Http2) -> None:
    """Many requests on one connection are judged each; HTTP/2 is spoken on both sides."""
    server, connect = http2
    agent = connect()
    before = [agent.send(f"/many/{number}", b"%d" % number) for number in range(40)]
    refused = [
        agent.send("/many/secret", GITHUB.encode()),
        agent.send("/many/query?a=" + GITHUB),
        agent.send("/many/fronted", authority="other.example.com"),
        agent.send("/many/blank HTTP/1.1"),
    ]
    after = agent.send("/many/after", b"a")
    assert {seen.fields[":status"] for seen in agent.answers(*before, after)} == {"200"}
    assert [seen.fields[":status"] for seen in agent.answers(*refused)] == ["403", "403", "403", "400"]
    agent.close()
    bodies = {path: body for path, body in server.bodies().items() if path.startswith("/many/")}
    assert bodies == {f"/many/{number}": b"%d" % number for number in range(40)} | {"/many/after": b"a"}


@pytest.mark.parametrize(
    "given",
    [
        {"path": "/ended\r\nx-note: a"},
        {"path": "/ended", "fields": [("x-note", "a\r\nx-more: b")]},
        {"path": "/ended", "fields": [("host", "other.example.com")]},
        {"path": "/ended", "fields": [("transfer-encoding", "chunked")]},
        {"path": "/ended", "fields": [("connection", "upgrade"), ("upgrade", "h2c")]},
        {"path": "/ended", "method": "CONNECT"},
        {"path": "/ended", "method": "CONNECT", "fields": [(":protocol", "websocket")]},
    ],
)
def test_what_http2_forbids_reaches_nobody(http2: Http2, given: dict[str, Any]) -> None:
    """It would be two lines for who speaks HTTP/1, or another place."""
    server, connect = http2
    agent = connect()
    (seen,) = agent.answers(agent.send(**given))
    agent.close()
    assert not seen.fields.get(":status", "").startswith("2")
    assert not [path for path in server.bodies() if path.startswith("/ended")]


def test_trailers_of_http2_are_left_out(http2: Http2) -> None:
    """Nobody judges them."""
    server, connect = http2
    agent = connect()
    (seen,) = agent.answers(agent.send("/trailers", b"a", trailers=[("x-note", GITHUB)]))
    agent.close()
    assert seen.fields[":status"] == "200"
    (got,) = [seen for seen in server.seen if seen.fields[":path"] == "/trailers"]
    assert (got.body, got.trailers) == (b"a", {})


def test_a_stream_that_the_destination_resets_ends_no_other(http2: Http2) -> None:
    """The agent is told of a gateway that failed."""
    server, connect = http2
    agent = connect()
    reset, kept = agent.send("/reset", b"a"), agent.send("/kept", b"a")
    answers = agent.answers(reset, kept)
    agent.close()
    assert [seen.fields.get(":status") for seen in answers] == ["502", "200"]
    assert server.bodies()["/kept"] == b"a"


def test_who_speaks_http1_only_is_not_led_to_http2(http2: Http2) -> None:
    """The gate offers a destination what the agent offers, and tells when they have nothing in common."""
    server, connect = http2
    agent = connect()
    place, proxy = agent.place, agent.proxy
    agent.close()
    before = server.connections
    with tunnel(proxy, place, agent.trusted, ["http/1.1"]) as sock:
        assert sock.selected_alpn_protocol() == "http/1.1"
        sock.sendall(f"POST /one HTTP/1.1\r\nHost: {place}\r\nContent-Length: 1\r\n\r\na".encode())
        assert sock.recv(4096).startswith(b"HTTP/1.1 502 ")
    assert server.connections == before + 1
    assert "/one" not in server.bodies()
