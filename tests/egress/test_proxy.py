"""mitmproxy with the gate's hooks."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from herma.egress.proxy import quiet_log
from support.egress_process import Child, Neighbour, asked, child, neighbour, ready, through
from support.http2 import tunnel
from support.next_proxy import LOGIN, NextProxy, next_proxy
from support.redactor import GITHUB
from support.wire_tls import make_pair


def test_the_log_tells_no_texts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They may repeat what was sent."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    quiet_log()
    try:
        raise ValueError("the text")
    except ValueError:
        logging.getLogger("made.up").exception("a %s", "secret")
    logging.captureWarnings(capture=False)
    said = capsys.readouterr().err
    assert said.startswith("ERROR made.up:")
    assert said.rstrip().endswith("ValueError")
    assert "secret" not in said
    assert "text" not in said


def test_what_cannot_be_reached_is_said_in_the_gates_words(serving: Child, stranger: Neighbour) -> None:
    """Nothing of the error's text is repeated."""
    assert stranger.port
    status, said = through(serving, "http://no-such-name.invalid/", b"")
    assert status in {502, 503}
    assert said["code"].startswith("herma.egress.")


def test_it_listens_for_nothing_but_the_agent(serving: Child) -> None:
    """One socket, and none of UDP: HTTP/3 is not spoken, and QUIC finds nobody."""
    process = Path(f"/proc/{serving.process.pid}")
    sockets = {descriptor.readlink().name for descriptor in (process / "fd").iterdir()}

    def own(protocol: str, state: str) -> list[str]:
        rows = [line.split() for line in (process / "net" / protocol).read_text().splitlines()[1:]]
        return [row[1] for row in rows if f"socket:[{row[9]}]" in sockets and state in {"", row[3]}]

    assert own("udp", "") == own("udp6", "") == own("tcp6", "0A") == []
    assert own("tcp", "0A") == [f"0100007F:{serving.port:04X}"]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Child, NextProxy, Neighbour]]:
    """A gate that goes through the proxy of a network, and a destination that speaks TLS."""
    directory = tmp_path_factory.mktemp("behind")
    pair = make_pair(directory)
    with next_proxy() as proxy, neighbour(pair.serving()) as server:
        section = {
            "near": [f"127.0.0.1:{server.port}", f"[::1]:{server.port}"],
            "ca_file": pair.cert,
            "upstream_proxy": f"http://127.0.0.1:{proxy.port}",
            "upstream_proxy_login": LOGIN,
        }
        with child(directory, section) as started:
            yield ready(started), proxy, server


type Behind = tuple[Child, NextProxy, Neighbour]


def test_the_next_proxy_hears_of_a_tunnel_when_it_is_judged(behind: Behind) -> None:
    """What is sent inside is judged, too; only the next proxy is told who asks."""
    started, proxy, server = behind
    place = f"localhost:{server.port}"
    trusted = str(started.config.parent / "egress" / "ca.pem")
    for body, status in ((b"hello", b"200"), (GITHUB.encode(), b"403")):
        with tunnel(started.port, place, trusted) as sock:
            head = f"POST /tls HTTP/1.1\r\nHost: {place}\r\nContent-Length: {len(body)}\r\n\r\n"
            sock.sendall(head.encode() + body)
            assert sock.recv(4096).startswith(b"HTTP/1.1 " + status)
    assert proxy.asked == [f"CONNECT {place} HTTP/1.1"]
    assert server.seen == [("/tls", b"hello")]
    assert "proxy-authorization" not in server.fields[0]
    for other in ("169.254.169.254:80", "10.0.0.1:443", "127.0.0.1:9", f"127.0.0.1:{proxy.port}"):
        refused = asked(started, f"CONNECT {other} HTTP/1.1\r\nHost: {other}\r\n\r\n".encode())
        assert refused.startswith(b"HTTP/1.1 403 ")
    assert len(proxy.asked) == 1


def test_requests_in_clear_go_through_it_judged(tmp_path: Path, stranger: Neighbour) -> None:
    """And those in a tunnel, of which only the tunnel says who asks."""
    place = f"127.0.0.1:{stranger.port}"
    with next_proxy() as proxy:
        section = {
            "near": [place],
            "upstream_proxy": f"http://127.0.0.1:{proxy.port}",
            "upstream_proxy_login": LOGIN,
        }
        with child(tmp_path, section) as started:
            ready(started)
            assert through(started, f"http://{place}/clear", b"hello")[0] == 200
            assert through(started, f"http://{place}/clear", GITHUB.encode())[0] == 403
            assert through(started, "http://10.0.0.1/", b"hello")[0] == 403
            assert proxy.asked == [f"POST http://{place}/clear HTTP/1.1"]
            request = f"POST /tunnelled HTTP/1.1\r\nHost: {place}\r\nContent-Length: 5\r\n\r\nhello"
            connect = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n"
            assert b"HTTP/1.1 200 OK" in asked(started, connect.encode(), request.encode())
            assert proxy.asked[1:] == [f"CONNECT {place} HTTP/1.1"]
    assert stranger.seen[-1] == ("/tunnelled", b"hello")
    assert "proxy-authorization" not in stranger.fields[-1]


@pytest.mark.parametrize("login", ["agent:wrong", ""])
def test_a_next_proxy_that_does_not_let_in_is_told(tmp_path: Path, stranger: Neighbour, login: str) -> None:
    """As a destination that cannot be reached, in words of the gate; so is one that is not there."""
    place = f"127.0.0.1:{stranger.port}"
    connect = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
    request = f"POST /refused HTTP/1.1\r\nHost: {place}\r\nContent-Length: 5\r\n\r\nhello".encode()
    with next_proxy() as proxy:
        section = {"near": [place], "upstream_proxy": f"http://127.0.0.1:{proxy.port}"}
        with child(tmp_path, {**section, **({"upstream_proxy_login": login} if login else {})}) as started:
            ready(started)
            refused = asked(started, connect, request)
            assert b"HTTP/1.1 502 " in refused
            assert b"herma.egress.unreachable" in refused
    absent = tmp_path / "absent"
    absent.mkdir()
    with child(absent, section) as started:
        assert through(ready(started), f"http://{place}/refused", b"")[0] == 502
    assert "/refused" not in {path for path, _ in stranger.seen}
