"""The real process of the egress gate alone, and a server of the neighbourhood that remembers what came."""

import json
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import yaml

from herma.egress.line import Message, Note, Ready, decode, key_line
from support.gate import ROOT, free_port
from support.redactor import KEY

__all__ = ["PATIENCE_S", "Child", "Neighbour", "asked", "child", "neighbour", "ready", "through"]

PATIENCE_S = 30


@dataclass
class Neighbour:
    """A server on loopback: what it was sent, as (path, body), and the fields of each."""

    port: int
    seen: list[tuple[str, bytes]] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)


@contextmanager
def neighbour(
    tls: ssl.SSLContext | None = None, address: tuple[str, int] = ("127.0.0.1", 0)
) -> Iterator[Neighbour]:
    """Serve, inside TLS or in clear, and answer everything with 200."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        known: ClassVar[list[tuple[str, bytes]]] = []
        fields: ClassVar[list[str]] = []

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.fields.append(str(self.headers).lower())
            self.known.append((self.path, body))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(address, Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Neighbour(server.server_address[1], Handler.known, Handler.fields)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)


class Child:
    """The process; `said` is what it said so far."""

    def __init__(self, process: subprocess.Popen[bytes], config: Path, port: int) -> None:
        self.process = process
        self.config = config
        self.port = port
        self.said: list[Message] = []

    def order(self, line: bytes) -> None:
        """Write a line to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def hear(self, kind: type[Message], code: str = "") -> Any:
        """Read until it says such a thing; None when it ends before."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = decode(line)
            self.said.append(message)
            if isinstance(message, kind) and (not isinstance(message, Note) or code in {"", message.code}):
                return message
        return None

    def end(self) -> int:
        """Close its standard input; give its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


@contextmanager
def child(
    directory: Path,
    egress: Mapping[str, Any],
    key: bytes | None = None,
    *,
    launcher: Sequence[str] = (),
    program: Sequence[str] = ("-m", "herma.egress"),
) -> Iterator[Child]:
    """Start it with a section; the caller waits for what it says. `launcher` is before the command, `program` is what Python runs."""
    port = egress.get("port", free_port())
    section = {
        "address": f"127.0.0.1:{port}",
        "state_dir": str(directory / "egress"),
        **{name: value for name, value in egress.items() if name != "port"},
    }
    config = directory / "herma.yaml"
    config.write_text(yaml.safe_dump({"upstream": {"url": "http://127.0.0.1:9"}, "egress": section}))
    config.chmod(0o600)
    with subprocess.Popen(
        [*launcher, sys.executable, "-P", *program, "--config", str(config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "proxy")},
    ) as process:
        started = Child(process, config, port)
        try:
            started.order(key_line(KEY) if key is None else key)
            yield started
        finally:
            process.kill()


def ready(started: Child) -> Child:
    """Wait until it serves."""
    assert started.hear(Ready) == Ready(f"127.0.0.1:{started.port}"), started.said
    return started


def through(started: Child, url: str, body: bytes, **fields: str) -> tuple[int, dict[str, Any]]:
    """Send a body through the gate; give the status, and the code and detail of a refusal."""
    connection = HTTPConnection("127.0.0.1", started.port, timeout=PATIENCE_S)
    try:
        connection.request(
            "POST", url, body, {name.replace("_", "-"): value for name, value in fields.items()}
        )
        answer = connection.getresponse()
        said = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(said) if answer.getheader("x-herma-egress") else {}


def _is_whole(said: bytes) -> bool:
    """Tell whether the last answer has come."""
    if said.endswith(b"\r\n0\r\n\r\n"):
        return True
    head, mark, body = said.rpartition(b"\r\n\r\n")
    head = head.rpartition(b"HTTP/1.1 ")[2].lower()
    length = re.search(rb"content-length: (\d+)", head)
    return bool(mark) and b"chunked" not in head and len(body) >= int(length[1] if length else 0)


def asked(started: Child, *parts: bytes) -> bytes:
    """Write bytes to the gate, each part after an answer to the one before; give all that came until it was silent or closed."""
    said = b""
    with socket.create_connection(("127.0.0.1", started.port), PATIENCE_S) as sock:
        for part in parts:
            try:
                sock.sendall(part)
                while piece := sock.recv(65536):
                    said += piece
                    if _is_whole(said):
                        break
            except ConnectionError:
                break
    return said
