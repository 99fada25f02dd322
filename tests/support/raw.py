"""A client that sends exactly the bytes it is given and reports exactly what came back.

It never repairs, pools or retries. Every wait is bounded: a gate that does not answer is a result, not a hang.
"""

import itertools
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic
from typing import Self

__all__ = ["Connection", "Ended", "Response", "Talk", "opened", "parse", "raw", "request", "source_address"]

# A gate on a busy machine answers in milliseconds; ten seconds without a byte is a gate that does not answer.
ANSWER_TIMEOUT_S = 10.0
# After the last awaited answer the peer is watched this long for bytes or a close that should not, or should, follow.
QUIET_S = 0.03
READ_BYTES = 65536
# No test reads more than a large upload's echo.
MAX_RECEIVED_BYTES = 64 * 1024 * 1024

_sources = itertools.count(2)


class Ended(StrEnum):
    """How the connection stood when the client stopped looking."""

    OPEN = "open"
    FIN = "fin"
    RESET = "reset"


@dataclass(slots=True)
class Response:
    """One response as it stood on the wire; `complete` tells whether its framing came to its end."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    complete: bool = True

    def get(self, name: str) -> str | None:
        """Return the only value of a header; a header that came twice is an error of the gate."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def all(self, name: str) -> list[str]:
        """Return every value of a header, in order."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass(slots=True)
class Talk:
    """What one connection brought: the bytes, the final responses in them, the interim ones, and how it ended."""

    received: bytes = b""
    responses: list[Response] = field(default_factory=list)
    interim: list[Response] = field(default_factory=list)
    ended: Ended = Ended.OPEN

    @property
    def status(self) -> int | None:
        """The status of the first final response; None when there was none."""
        return self.responses[0].status if self.responses else None

    @property
    def statuses(self) -> list[int]:
        """The statuses of all final responses."""
        return [response.status for response in self.responses]

    @property
    def first(self) -> Response:
        """The first final response; fails the test when there is none."""
        assert self.responses, f"no answer; connection {self.ended}, received {self.received[:200]!r}"
        return self.responses[0]


def source_address() -> str:
    """Return a loopback address nobody used before, so that limits of one test do not touch another."""
    number = next(_sources)
    return f"127.{1 + number // 62500}.{1 + number // 250 % 250}.{1 + number % 250}"


def request(
    method: str,
    target: str | bytes,
    *,
    host: str | None = "127.0.0.1",
    key: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes = b"",
    version: str = "1.1",
) -> bytes:
    """Write one request; `Content-Length` is added for a body unless the headers frame it themselves."""
    line = method.encode() + b" " + (target.encode() if isinstance(target, str) else target)
    lines = [line + f" HTTP/{version}".encode()]
    if host is not None:
        lines.append(f"Host: {host}".encode())
    if key is not None:
        lines.append(f"Authorization: Bearer {key}".encode())
    lines += [name.encode("latin-1") + b": " + value.encode("latin-1") for name, value in headers]
    names = {name.lower() for name, _ in headers}
    if body and not names & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}".encode())
    if body and "content-type" not in names:
        lines.append(b"Content-Type: application/json")
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class Connection:
    """One open connection to the gate; close it or use it as a context."""

    def __init__(
        self,
        port: int,
        *,
        host: str = "127.0.0.1",
        source: str | None = None,
        tls: ssl.SSLContext | None = None,
        receive_buffer: int | None = None,
    ) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM)
        try:
            plain.settimeout(ANSWER_TIMEOUT_S)
            if receive_buffer is not None:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            if family == socket.AF_INET and host.startswith("127."):
                plain.bind((source or source_address(), 0))
            plain.connect((host, port))
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = tls.wrap_socket(plain, server_hostname=host) if tls else plain
        except BaseException:
            plain.close()
            raise
        self.received = b""
        self.ended = Ended.OPEN

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def local_address(self) -> str:
        """The address this connection comes from."""
        return str(self._socket.getsockname()[0])

    def send(self, data: bytes) -> None:
        """Send all of it; a peer that closed meanwhile is noted, and its answer can still be read."""
        try:
            self._socket.settimeout(ANSWER_TIMEOUT_S)
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            pass

    def half_close(self) -> None:
        """Send FIN and keep reading."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Close with RST, as a client that crashed."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self._socket.close()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def read_some(self, timeout_s: float = ANSWER_TIMEOUT_S) -> bytes:
        """Return the next bytes, empty at the end of the connection or when `timeout_s` ran out."""
        if self.ended is not Ended.OPEN:
            return b""
        self._socket.settimeout(max(timeout_s, 0.001))
        try:
            data = self._socket.recv(READ_BYTES)
        except (TimeoutError, ssl.SSLWantReadError):
            return b""
        except ConnectionResetError:
            self.ended = Ended.RESET
            return b""
        except OSError:
            self.ended = Ended.RESET
            return b""
        if not data:
            self.ended = Ended.FIN
        self.received += data
        return data

    def read_until(self, marker: bytes, timeout_s: float = ANSWER_TIMEOUT_S) -> bytes:
        """Read until `marker` has come; fail when it does not."""
        deadline = monotonic() + timeout_s
        while marker not in self.received:
            left = deadline - monotonic()
            assert left > 0, f"{marker!r} did not come in {timeout_s} s; got {self.received[-400:]!r}"
            assert self.read_some(left) or self.ended is Ended.OPEN, (
                f"connection {self.ended} before {marker!r}; got {self.received[-400:]!r}"
            )
        return self.received

    def read_to_end(self, timeout_s: float = ANSWER_TIMEOUT_S) -> Ended:
        """Read until the peer ends the connection or the time is over."""
        deadline = monotonic() + timeout_s
        while self.ended is Ended.OPEN and (left := deadline - monotonic()) > 0:
            self.read_some(left)
            assert len(self.received) <= MAX_RECEIVED_BYTES
        return self.ended

    def talk(
        self,
        *,
        answers: int = 1,
        timeout_s: float = ANSWER_TIMEOUT_S,
        until_close: bool = False,
        methods: Sequence[str] = (),
    ) -> Talk:
        """Read until that many complete responses have come, then watch a moment for what follows."""
        deadline = monotonic() + timeout_s
        talk = Talk()
        while True:
            talk = parse(self.received, self.ended, methods)
            done = sum(response.complete for response in talk.responses) >= answers
            if self.ended is not Ended.OPEN or (done and not until_close):
                break
            left = deadline - monotonic()
            if left <= 0:
                break
            self.read_some(left)
        if self.ended is Ended.OPEN and not until_close:
            self.read_some(QUIET_S)
        return parse(self.received, self.ended, methods)


def raw(
    port: int,
    data: bytes | Sequence[bytes],
    *,
    answers: int = 1,
    timeout_s: float = ANSWER_TIMEOUT_S,
    until_close: bool = False,
    half_close: bool = False,
    host: str = "127.0.0.1",
    source: str | None = None,
) -> Talk:
    """Open a connection, send the bytes (in the given pieces), and report what came back."""
    pieces = [data] if isinstance(data, bytes) else list(data)
    methods = [pieces[0].split(b" ", 1)[0].decode("latin-1")] if pieces else []
    with Connection(port, host=host, source=source) as connection:
        for piece in pieces:
            connection.send(piece)
        if half_close:
            connection.half_close()
        return connection.talk(answers=answers, timeout_s=timeout_s, until_close=until_close, methods=methods)


@contextmanager
def opened(port: int, data: bytes, *, source: str | None = None) -> Iterator[Connection]:
    """Open a connection, send the bytes and hand the connection over."""
    with Connection(port, source=source) as connection:
        connection.send(data)
        yield connection


def parse(received: bytes, ended: Ended, methods: Sequence[str] = ()) -> Talk:
    """Split the bytes of a connection into responses; bytes that are none fail the test."""
    talk = Talk(received, ended=ended)
    rest = received
    while rest:
        head, found, after = rest.partition(b"\r\n\r\n")
        if not found:
            break
        response = _head(head)
        if 100 <= response.status < 200 and response.status != 101:
            talk.interim.append(response)
            rest = after
            continue
        index = len(talk.responses)
        method = methods[index] if index < len(methods) else ""
        rest = _body(response, after, ended, method)
        talk.responses.append(response)
        if not response.complete or response.status == 101:
            break
    return talk


def _head(head: bytes) -> Response:
    lines = head.decode("latin-1").split("\r\n")
    version, _, rest = lines[0].partition(" ")
    assert version in {"HTTP/1.1", "HTTP/1.0"}, f"not a status line: {lines[0][:80]!r}"
    status, _, reason = rest.partition(" ")
    headers = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        assert colon, f"not a header line: {line[:80]!r}"
        assert name == name.strip(), f"blank in a header name: {name!r}"
        headers.append((name, value.strip(" \t")))
    return Response(int(status), reason, headers)


def _body(response: Response, data: bytes, ended: Ended, method: str) -> bytes:
    if method == "HEAD" or response.status in {101, 204, 304}:
        return data
    coding, length = response.get("transfer-encoding"), response.get("content-length")
    assert not (coding and length), "a response with two framings"
    if coding is not None:
        assert coding.lower() == "chunked"
        return _chunked(response, data)
    if length is not None:
        response.body = data[: int(length)]
        response.complete = len(response.body) == int(length)
        return data[int(length) :]
    response.body = data
    response.complete = ended is Ended.FIN
    return b""


def _chunked(response: Response, data: bytes) -> bytes:
    rest = data
    while True:
        line, found, after = rest.partition(b"\r\n")
        if not found:
            break
        size = int(line.split(b";")[0], 16)
        if size == 0:
            trailer, found, left = after.partition(b"\r\n")
            if not found:
                break
            assert not trailer, "the gate sent a trailer"
            return left
        response.body += after[:size]
        if len(after) < size + 2:
            break
        rest = after[size + 2 :]
    response.complete = False
    return b""
