"""Small requests to this machine."""

import socket
import threading
from pathlib import Path

import pytest

from herma.cli.local_http import MAX_ANSWER_BYTES, NoAnswer, answers, get_json
from herma.config.values import Tcp, Unix, UpstreamUrl
from support.console import answering


def test_json_is_fetched() -> None:
    """From a TCP address."""
    with answering(b'{"a": 1}') as port:
        assert get_json(Tcp("127.0.0.1", port), "/status") == {"a": 1}


def test_json_is_fetched_from_a_socket(tmp_path: Path) -> None:
    """From a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")

        thread = threading.Thread(target=serve)
        thread.start()
        assert get_json(Unix(str(tmp_path / "s")), "/status") == []
        thread.join()


BAD = {
    "not JSON": (b"<html>", 200, "not JSON"),
    "too deep": (b"[" * 100_000, 200, "not JSON"),
    "too long": (b" " * (MAX_ANSWER_BYTES + 1), 200, "too long"),
    "error": (b"{}", 503, "status 503"),
}


@pytest.mark.parametrize(("body", "status", "told"), BAD.values(), ids=BAD)
def test_answer_of_another_server_is_refused(body: bytes, status: int, told: str) -> None:
    """Something else may listen there."""
    with answering(body, status) as port, pytest.raises(NoAnswer, match=told):
        get_json(Tcp("127.0.0.1", port), "/status")


def test_silence_is_told(tmp_path: Path) -> None:
    """Nobody listens: a sentence, not a traceback."""
    with pytest.raises(NoAnswer, match="does not answer"):
        get_json(Unix(str(tmp_path / "missing")), "/status")


def test_server_that_speaks_no_http_is_told() -> None:
    """A greeting of another protocol is no answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"SSH-2.0-fake\r\n")
                peer.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(NoAnswer, match="no HTTP answer"):
            get_json(Tcp("127.0.0.1", server.getsockname()[1]), "/status")
        thread.join()


def test_any_http_answer_is_an_agent_server() -> None:
    """Even one that wants a key; https that does not verify is none."""
    with answering(b"", 401) as port:
        assert answers(UpstreamUrl(Tcp("127.0.0.1", port)))
        assert not answers(UpstreamUrl(Tcp("127.0.0.1", port), tls=True))
