"""Bodies with bounds, through the running gate."""

import socket

from support.egress_process import Child, Neighbour, through


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
