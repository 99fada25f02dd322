"""Whom connections may lead to, through the running gate."""

import socket

import pytest

from support.egress_process import Child, Neighbour, through


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


def test_what_is_no_http_goes_through_no_tunnel(serving: Child, stranger: Neighbour) -> None:
    """The other side hears nothing of it."""
    before = len(stranger.seen)
    with socket.create_connection(("127.0.0.1", serving.port), 10) as sock:
        place = f"127.0.0.1:{stranger.port}".encode()
        sock.sendall(b"CONNECT " + place + b" HTTP/1.1\r\nHost: " + place + b"\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
        sock.sendall(b"SSH-2.0-hello\r\n\r\n")
        assert not sock.recv(4096).startswith(b"SSH")
    assert len(stranger.seen) == before
