"""Whom connections may lead to, through the running gate."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from herma.egress.line import Ready, Sent
from support.certificates import make_authority
from support.egress_process import PATIENCE_S, Child, Neighbour, child, neighbour, ready, through
from support.http2 import all_of, tunnel
from support.redactor import GITHUB
from support.wire_tls import Pair, make_pair


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://127.0.0.1:9/", "private"),
        ("http://0x7f.1:9/", "private"),
        ("http://[::1]:9/", "private"),
        ("http://10.0.0.1/", "private"),
    ],
)
def test_what_is_near_and_not_named_is_refused(serving: Child, url: str, code: str) -> None:
    """However it is written."""
    status, said = through(serving, url, b"")
    assert (status, said["code"]) == (403, f"herma.egress.{code}")


def test_a_tunnel_to_what_is_near_and_not_named_is_refused(serving: Child) -> None:
    """As a request is."""
    with socket.create_connection(("127.0.0.1", serving.port), 10) as sock:
        sock.sendall(b"CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 403 ")


def test_an_address_that_is_refused_is_written_down_once(tmp_path: Path, pair: Pair) -> None:
    """With what it was refused for; also where a tunnel is not read."""
    section = {"models": ["localhost:9"]}
    with child(tmp_path, section) as started:
        assert through(ready(started), "http://localhost:7/", b"")[1]["code"] == "herma.egress.private"
        with suppress(OSError), tunnel(started.port, "localhost:9", pair.cert):
            pass
        assert through(started, "http://localhost:8/", b"")[1]["code"] == "herma.egress.private"
        assert started.end() == 0
        started.hear(Ready)
    sent = [message for message in started.said if isinstance(message, Sent) and message.outcome == "denied"]
    assert [(one.method, one.port, one.code) for one in sent] == [
        ("POST", 7, "herma.egress.private"),
        ("CONNECT", 9, "herma.egress.private"),
        ("POST", 8, "herma.egress.private"),
    ]
    assert {one.findings[0].rule_id for one in sent} == {"egress-private"}


def test_what_is_no_http_goes_through_no_tunnel(tmp_path: Path) -> None:
    """The other side hears nothing of it, not even a connection."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(1)
        place = f"127.0.0.1:{listening.getsockname()[1]}"
        with child(tmp_path, {"near": [place]}) as started:
            ready(started)
            with socket.create_connection(("127.0.0.1", started.port), PATIENCE_S) as sock:
                sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
                assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
                sock.sendall(b"SSH-2.0-hello\r\n\r\n")
                while sock.recv(4096):
                    pass
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The certificate of a destination, which the gate trusts."""
    return make_pair(tmp_path_factory.mktemp("pair"))


@dataclass(frozen=True, slots=True)
class Read:
    """A gate that reads what is inside of TLS, the certificate that the agent trusts, and three destinations.

    One is what it says, one has the certificate of another, and one is a model.
    """

    gate: Child
    trusted: Path
    right: Neighbour
    other: Neighbour
    model: Neighbour


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory, pair: Pair) -> Iterator[Read]:
    """All of them."""
    directory = tmp_path_factory.mktemp("read")
    root = make_authority(directory, "root")
    (directory / "roots.pem").write_bytes(Path(root.path).read_bytes() + Path(pair.cert).read_bytes())
    misnamed = root.issue("other", "dns:other.example.com")
    with (
        neighbour(pair.serving()) as right,
        neighbour(misnamed.serving()) as other,
        neighbour(pair.serving()) as model,
    ):
        near = [f"{host}:{one.port}" for one in (right, other, model) for host in ("127.0.0.1", "[::1]")]
        section = {
            "near": near,
            "ca_file": str(directory / "roots.pem"),
            "models": [f"localhost:{model.port}"],
        }
        with child(directory, section) as started:
            yield Read(ready(started), directory / "egress" / "ca.pem", right, other, model)


@pytest.fixture
def reading(read: Read) -> Read:
    """The same, with destinations that have heard nothing yet."""
    for one in (read.right, read.other, read.model):
        one.seen.clear()
    return read


def tunnelled(started: Child, server: Neighbour, sni: str | None, trusted: Path, body: bytes) -> bytes:
    """Send a body through a tunnel to `localhost`, with a name in the handshake or none; give the answer's head."""
    context = ssl.create_default_context(cafile=str(trusted))
    context.check_hostname = sni is not None
    place = f"localhost:{server.port}"
    with socket.create_connection(("127.0.0.1", started.port), PATIENCE_S) as sock:
        sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
        with context.wrap_socket(sock, server_hostname=sni) as inside:
            head = f"POST /tls HTTP/1.1\r\nHost: {place}\r\nContent-Length: {len(body)}\r\n\r\n"
            inside.sendall(head.encode() + body)
            return all_of(inside)


def test_what_is_sent_inside_tls_is_judged(reading: Read) -> None:
    """With the authority of the gate trusted; what is innocent arrives byte for byte."""
    server = reading.right
    arrived = tunnelled(reading.gate, server, "localhost", reading.trusted, b'{"a":  1}')
    assert arrived.startswith(b"HTTP/1.1 200 ")
    assert server.seen == [("/tls", b'{"a":  1}')]
    refused = tunnelled(reading.gate, server, "localhost", reading.trusted, GITHUB.encode())
    assert refused.startswith(b"HTTP/1.1 403 ")
    assert len(server.seen) == 1


def test_another_name_in_the_handshake_reaches_nobody(reading: Read) -> None:
    """Domain fronting; without any name the destination is the tunnel's, and judged as ever."""
    server = reading.right
    try:
        answer = tunnelled(reading.gate, server, "127.0.0.1.example.com", reading.trusted, b"hello")
    except OSError:
        answer = b""
    assert not answer.startswith(b"HTTP/1.1 200")
    assert server.seen == []
    nameless = tunnelled(reading.gate, server, None, reading.trusted, GITHUB.encode())
    assert nameless.startswith(b"HTTP/1.1 403 ")
    assert server.seen == []


def test_a_certificate_that_is_not_right_is_an_error(tmp_path: Path, pair: Pair) -> None:
    """Nothing is sent to whoever shows it."""
    with neighbour(pair.serving()) as server:
        near = [f"127.0.0.1:{server.port}", f"[::1]:{server.port}"]
        with child(tmp_path, {"near": near}) as started:
            ready(started)
            answer = tunnelled(started, server, "localhost", tmp_path / "egress" / "ca.pem", b"hello")
            assert answer.startswith(b"HTTP/1.1 502 ")
        assert server.seen == []


def test_a_certificate_of_another_name_is_an_error(reading: Read) -> None:
    """Whoever signed it: it is not whom the agent asked for."""
    answer = tunnelled(reading.gate, reading.other, "localhost", reading.trusted, b"hello")
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"herma.egress.certificate" in answer
    assert reading.other.seen == []


def test_another_host_inside_the_handshake_is_refused(reading: Read) -> None:
    """The tunnel, the handshake and the certificate agree, and the field asks for somebody else."""
    place = f"localhost:{reading.right.port}"
    for line, host in (
        ("POST /tls HTTP/1.1", "other.example.com"),
        ("POST https://other.example.com/tls HTTP/1.1", place),
        ("POST /tls HTTP/1.1", f"{place}\r\nHost: other.example.com"),
        ("POST /tls HTTP/1.1", "localhost:1"),
    ):
        with tunnel(reading.gate.port, place, str(reading.trusted)) as inside:
            inside.sendall(f"{line}\r\nHost: {host}\r\nContent-Length: 2\r\n\r\nab".encode())
            assert b"herma.egress.fronting" in all_of(inside)
    assert reading.right.seen == []


def test_a_model_shows_its_own_certificate(reading: Read, pair: Pair) -> None:
    """Nobody reads what goes there."""
    answer = tunnelled(reading.gate, reading.model, "localhost", Path(pair.cert), GITHUB.encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert reading.model.seen == [("/tls", GITHUB.encode())]
