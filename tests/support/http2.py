"""HTTP/2 as others speak it: a server that remembers its streams, and a client of one connection."""

import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)

__all__ = ["Http2Client", "Http2Server", "Seen", "all_of", "http2_server", "tunnel"]

PATIENCE_S = 30
Fields = dict[str, str]


@dataclass
class Seen:
    """One stream, as the server or the client saw it."""

    fields: Fields = field(default_factory=dict)
    body: bytes = b""
    trailers: Fields = field(default_factory=dict)
    ended: bool = False
    reset: bool = False


@dataclass
class Http2Server:
    """What came, whole requests only; connections are counted. A path that begins with `/reset` is answered by a reset."""

    port: int
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0

    def bodies(self) -> dict[str, bytes]:
        """Return what was sent to each path."""
        return {seen.fields[":path"]: seen.body for seen in self.seen}


def _text(fields: Sequence[tuple[bytes, bytes]]) -> Fields:
    return {name.decode(): value.decode() for name, value in fields}


def _note(streams: dict[int, Seen], event: Event, session: H2Connection) -> Seen | None:
    """Note an event; give the stream that is over with it."""
    match event:
        case RequestReceived() | ResponseReceived():
            streams[event.stream_id] = Seen(_text(event.headers))
        case TrailersReceived():
            streams[event.stream_id].trailers = _text(event.headers)
        case DataReceived():
            streams[event.stream_id].body += event.data
            session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        case StreamEnded():
            streams[event.stream_id].ended = True
            return streams[event.stream_id]
        case StreamReset():
            seen = streams.setdefault(event.stream_id, Seen())
            seen.reset = True
            return seen
        case _:
            pass
    return None


def _serve(server: Http2Server, sock: socket.socket) -> None:
    session = H2Connection(H2Configuration(client_side=False, header_encoding=None))
    session.initiate_connection()
    streams: dict[int, Seen] = {}
    with sock:
        sock.sendall(session.data_to_send())
        while data := sock.recv(65536):
            for event in session.receive_data(data):
                over = _note(streams, event, session)
                if over is None or over.reset or not isinstance(event, StreamEnded):
                    continue
                server.seen.append(over)
                if over.fields[":path"].startswith("/reset"):
                    session.reset_stream(event.stream_id, ErrorCodes.REFUSED_STREAM)
                else:
                    session.send_headers(event.stream_id, [(":status", "200"), ("content-length", "2")])
                    session.send_data(event.stream_id, b"ok", end_stream=True)
            sock.sendall(session.data_to_send())


@contextmanager
def http2_server(tls: ssl.SSLContext) -> Iterator[Http2Server]:
    """Serve HTTP/2 on loopback, and nothing else."""
    tls.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Http2Server(listening.getsockname()[1])

        def one(sock: socket.socket) -> None:
            try:
                inside = tls.wrap_socket(sock, server_side=True)
                if inside.selected_alpn_protocol() == "h2":
                    _serve(server, inside)
                inside.close()
            except OSError:
                sock.close()

        def accept() -> None:
            while True:
                try:
                    sock, _ = listening.accept()
                except OSError:
                    return
                server.connections += 1
                threading.Thread(target=one, args=(sock,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)


def tunnel(
    proxy: int, place: str, trusted: str, alpn: Sequence[str] = (), *, sni: str | None = None
) -> ssl.SSLSocket:
    """Open a tunnel through a proxy on loopback, and TLS in it by the name of the place or another one."""
    sock = socket.create_connection(("127.0.0.1", proxy), PATIENCE_S)
    try:
        sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        answer = sock.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        context = ssl.create_default_context(cafile=trusted)
        context.set_alpn_protocols(list(alpn))
        return context.wrap_socket(sock, server_hostname=sni or place.rpartition(":")[0])
    except BaseException:
        sock.close()
        raise


def all_of(sock: ssl.SSLSocket) -> bytes:
    """Read an answer of the gate: its head comes first, then the JSON that says why."""
    said = b""
    while not said.endswith((b"}", b"ok")) and (data := sock.recv(65536)):
        said += data
    return said


class Http2Client:
    """One connection to a place, through a proxy."""

    def __init__(self, proxy: int, place: str, trusted: str) -> None:
        self.proxy, self.place, self.trusted = proxy, place, trusted
        self.sock = tunnel(proxy, place, trusted, ["h2"])
        assert self.sock.selected_alpn_protocol() == "h2"
        self.session = H2Connection(
            H2Configuration(
                header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
            )
        )
        self.session.initiate_connection()
        self.streams: dict[int, Seen] = {}
        self._over: set[int] = set()

    def send(
        self,
        path: str,
        body: bytes = b"",
        *,
        authority: str = "",
        trailers: Sequence[tuple[str, str]] = (),
        fields: Sequence[tuple[str, str]] = (),
        method: str = "POST",
    ) -> int:
        """Send a request; give its stream."""
        stream = self.session.get_next_available_stream_id()
        head = [
            (":method", method),
            (":scheme", "https"),
            (":authority", authority or self.place),
            (":path", path),
            *fields,
        ]
        self.session.send_headers(stream, head)
        self.session.send_data(stream, body, end_stream=not trailers)
        if trailers:
            self.session.send_headers(stream, trailers, end_stream=True)
        self.sock.sendall(self.session.data_to_send())
        return stream

    def answers(self, *streams: int) -> list[Seen]:
        """Wait until these are over; one that the connection ended with is not."""
        while not self._over.issuperset(streams) and (data := self.sock.recv(65536)):
            for event in self.session.receive_data(data):
                if _note(self.streams, event, self.session) is not None:
                    self._over.add(event.stream_id)  # type: ignore[attr-defined] # an end has a stream
            self.sock.sendall(self.session.data_to_send())
        return [self.streams.get(stream, Seen()) for stream in streams]

    def close(self) -> None:
        """End the connection."""
        self.sock.close()
