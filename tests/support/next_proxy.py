"""The proxy of a network, which the gate is told to go through: it wants to know who comes, and remembers what it was asked."""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["LOGIN", "NextProxy", "next_proxy"]

LOGIN = "agent:fakeFAKEproxypassword"
PATIENCE_S = 30
_WANTED = b"proxy-authorization: basic " + b64encode(LOGIN.encode()).lower()


@dataclass
class NextProxy:
    """`asked` are the first lines of what it was asked; `heard` is all that came before it passed something on."""

    port: int
    asked: list[str] = field(default_factory=list)
    heard: bytes = b""


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _serve(proxy: NextProxy, sock: socket.socket) -> None:
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(65536)
        if not data:
            return
        head += data
    line = head.partition(b"\r\n")[0].decode()
    proxy.asked.append(line)
    proxy.heard += head
    if _WANTED not in head.lower():
        sock.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        return
    method, target, _ = line.split(" ")
    host, _, port = (target if method == "CONNECT" else target.split("/")[2]).rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as further:
        if method == "CONNECT":
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            further.sendall(head)
        back = threading.Thread(target=_pipe, args=(further, sock), daemon=True)
        back.start()
        _pipe(sock, further)
        back.join(PATIENCE_S)


@contextmanager
def next_proxy() -> Iterator[NextProxy]:
    """Serve on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = NextProxy(listening.getsockname()[1])

        def one(sock: socket.socket) -> None:
            with suppress(OSError), sock:
                _serve(proxy, sock)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    sock, _ = listening.accept()
                    threading.Thread(target=one, args=(sock,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield proxy
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)
