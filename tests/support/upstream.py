"""An agent server that records every byte it is sent and answers what a test told it to.

It runs on its own thread and event loop, so that tests can stay plain. Its default answers have the shape of an agent
API server; anything unknown is a 404. `forwarded` tells what a gate let through: the gate's own probes are not counted.
"""

import asyncio
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Self

__all__ = [
    "ABORT",
    "CLOSE",
    "ECHO",
    "Answer",
    "Hold",
    "RecordingUpstream",
    "Seen",
    "answer",
    "detailed_health",
    "json_answer",
    "sse_answer",
    "sse_head",
]

# Longest a scripted pause may last, so that a failing test cannot leave a connection behind.
MAX_HOLD_S = 30.0
WAIT_S = 10.0
# What the gate asks on its own account: readiness, seeding, route drift.
PROBES = frozenset({"/health", "/v1/health", "/health/detailed", "/v1/capabilities"})
# It also looks whether a run that nobody follows has ended.
POLL = re.compile(r"/v1/runs/[A-Za-z0-9_]+")


class _End:
    """A way to end a scripted answer."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CLOSE = _End("CLOSE")  # FIN
ABORT = _End("ABORT")  # RST
ECHO = _End("ECHO")  # from here on, every byte comes back: a tunnel


@dataclass(slots=True)
class Hold:
    """A pause in an answer, until the test calls `release` or the peer goes away."""

    event: threading.Event = field(default_factory=threading.Event)
    reached: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let the answer go on."""
        self.event.set()

    def wait_reached(self) -> None:
        """Wait until the answer stands at this pause."""
        assert self.reached.wait(WAIT_S), "the upstream was not asked"


type Step = bytes | float | Hold | _End
type Answer = Sequence[Step]
type Answerer = Callable[["Seen"], Answer]


@dataclass(slots=True)
class Seen:
    """One request as it arrived."""

    raw: bytes
    method: str
    target: str
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    at: float
    connection: "Link"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def all(self, name: str) -> list[bytes]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower().encode()]

    def get(self, name: str) -> bytes | None:
        """Return the only value of a header."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} arrived {len(values)} times"
        return values[0] if values else None

    @property
    def probe(self) -> bool:
        """Tell whether the gate asked this on its own account: nobody's address comes with it."""
        asked = self.path in PROBES or POLL.fullmatch(self.path) is not None
        return self.method == "GET" and asked and not self.all("x-forwarded-for") and not self.body


@dataclass(slots=True)
class Link:
    """One connection from the gate: every byte in it, and whether and when its peer ended it."""

    received: bytearray = field(default_factory=bytearray)
    stray: bytearray = field(default_factory=bytearray)
    gone: threading.Event = field(default_factory=threading.Event)
    gone_at: float | None = None


def answer(
    status: int = 200,
    body: bytes = b"",
    headers: Sequence[tuple[str, str]] = (),
    *,
    reason: str = "OK",
    framed: bool = True,
) -> bytes:
    """Write one response; `framed` adds `Content-Length`."""
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    if framed:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def json_answer(value: object, status: int = 200, headers: Sequence[tuple[str, str]] = ()) -> list[Step]:
    """Answer with a JSON document."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return [answer(status, body, [("Content-Type", "application/json"), *headers])]


def sse_head(*, chunked: bool = True, headers: Sequence[tuple[str, str]] = ()) -> bytes:
    """Write the head of an event stream."""
    fields = [("Content-Type", "text/event-stream"), *headers]
    if chunked:
        fields.append(("Transfer-Encoding", "chunked"))
    return answer(200, headers=fields, framed=False)


def detailed_health(running: int) -> dict[str, object]:
    """Write the readout in which the agent server tells how many turns it runs."""
    queues = {"status": "ok", "active_api_runs": running, "process_completions": 0, "active_delegations": 0}
    return {
        "status": "ok",
        "readiness": {"status": "ok", "checks": {"background_queues": queues}},
        "active_agents": running,
        "pid": 4242,
    }


def chunk(data: bytes) -> bytes:
    """Frame one chunk."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"


def sse_answer(*parts: bytes | float | Hold, end: _End | None = None) -> list[Step]:
    """Answer with an event stream, each part its own chunk; without `end` it ends cleanly."""
    steps: list[Step] = [sse_head()]
    steps += [chunk(part) if isinstance(part, bytes) else part for part in parts]
    steps.append(LAST_CHUNK if end is None else end)
    return steps


def _not_found(_: Seen) -> Answer:
    return [
        answer(404, b"404: Not Found", [("Content-Type", "text/plain; charset=utf-8")], reason="Not Found")
    ]


class RecordingUpstream:
    """The recording server; use it as a context."""

    def __init__(
        self, *, address: str = "127.0.0.1", port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        self._address = address
        self._context = context
        self._wanted_port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="recording-upstream", daemon=True)
        self._ready = threading.Event()
        self._changed = threading.Condition()
        self._seen: list[Seen] = []
        self._links: list[Link] = []
        self._answers: dict[tuple[str, str], Answerer] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._live_run = 0
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self._address}:{self.port}"

    # What a test asks and tells

    def forget(self) -> None:
        """Drop what was recorded and every scripted answer."""
        with self._changed:
            self._seen.clear()
            self._links = [link for link in self._links if not link.gone.is_set()]
            for link in self._links:
                link.stray.clear()
            self._answers.clear()

    def on(self, method: str, path: str, steps: Answer | Answerer) -> None:
        """Answer this method and path so; a callable is given the request."""
        self._answers[method, path] = steps if callable(steps) else (lambda _seen, steps=steps: steps)

    @property
    def seen(self) -> list[Seen]:
        """Every request, the gate's own probes included."""
        with self._changed:
            return list(self._seen)

    @property
    def forwarded(self) -> list[Seen]:
        """The requests that a client caused."""
        return [seen for seen in self.seen if not seen.probe]

    @property
    def stray(self) -> bytes:
        """Bytes that belong to no request."""
        with self._changed:
            return b"".join(bytes(link.stray) for link in self._links)

    @property
    def links(self) -> list[Link]:
        """The connections, open ones and those that ended since the last `forget`."""
        with self._changed:
            return list(self._links)

    def assert_untouched(self) -> None:
        """Fail if anything a client sent arrived here."""
        assert [(seen.method, seen.target) for seen in self.forwarded] == []
        assert self.stray == b""

    def only(self) -> Seen:
        """Return the one forwarded request; fail if there is none or more."""
        self.wait(1)
        forwarded = self.forwarded
        assert len(forwarded) == 1, [(seen.method, seen.target) for seen in forwarded]
        assert self.stray == b""
        return forwarded[0]

    def wait(self, count: int, timeout_s: float = WAIT_S, *, path: str | None = None) -> list[Seen]:
        """Wait until that many requests (to that path) were forwarded."""

        def matching() -> list[Seen]:
            return [s for s in self._seen if not s.probe and (path is None or s.path == path)]

        with self._changed:
            assert self._changed.wait_for(lambda: len(matching()) >= count, timeout_s), (
                f"{len(matching())} of {count} requests arrived"
            )
            return matching()

    def refuse_connections(self) -> None:
        """Stop listening and end every connection: the upstream is down."""
        asyncio.run_coroutine_threadsafe(self._unlisten(), self._loop).result(WAIT_S)

    def listen_again(self) -> None:
        """Come back on the same port."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(WAIT_S)

    # The server

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        await self._listen()
        self._ready.set()
        await self._stop.wait()
        await self._unlisten()

    async def _listen(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self._address, self.port or self._wanted_port))
        self.port = listener.getsockname()[1]
        self._server = await asyncio.start_server(
            self._accepted, sock=listener, limit=64 * 1024 * 1024, backlog=1024, ssl=self._context
        )

    async def _unlisten(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        link = Link()
        with self._changed:
            self._links.append(link)
        try:
            await self._serve(link, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self._mark_gone(link)
            writer.close()

    def _mark_gone(self, link: Link) -> None:
        if not link.gone.is_set():
            link.gone_at = monotonic()
            link.gone.set()
        with self._changed:
            self._changed.notify_all()

    async def _serve(self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (seen := await _read_request(link, reader)) is not None:
            with self._changed:
                self._seen.append(seen)
                self._changed.notify_all()
            chosen = self._answers.get((seen.method, seen.path)) or self._answers.get(("*", seen.path))
            steps = (chosen or self._default)(seen)
            if not await self._play(steps, link, reader, writer):
                return

    async def _play(
        self, steps: Answer, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for step in steps:
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                case float() | int():
                    await self._pause(link, reader, float(step), None)
                case Hold():
                    step.reached.set()
                    await self._pause(link, reader, MAX_HOLD_S, step.event)
                case _End() if step is ECHO:
                    while data := await reader.read(65536):
                        link.received += data
                        writer.write(data)
                        await writer.drain()
                    return False
                case _End() if step is ABORT:
                    raw = writer.get_extra_info("socket")
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                    return False
                case _:
                    writer.close()
                    return False
        return True

    async def _pause(
        self, link: Link, reader: asyncio.StreamReader, seconds: float, event: threading.Event | None
    ) -> None:
        """Wait, and notice at once when the peer goes."""
        deadline = self._loop.time() + seconds
        reading = self._loop.create_task(reader.read(65536))
        try:
            while self._loop.time() < deadline and not (event is not None and event.is_set()):
                done, _ = await asyncio.wait({reading}, timeout=0.01)
                if done:
                    data = reading.result()
                    if not data:
                        raise ConnectionResetError
                    link.received += data
                    link.stray += data
                    reading = self._loop.create_task(reader.read(65536))
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    # What an agent server would say

    def _default(self, seen: Seen) -> Answer:
        match seen.method, seen.path.split("/")[1:]:
            case "GET", ["health"] | ["v1", "health"]:
                return json_answer({"status": "ok", "platform": "hermes-agent", "version": "0.19.0"})
            case "GET", ["health", "detailed"]:
                return json_answer(detailed_health(0))
            case "GET", ["v1", "capabilities"]:
                return json_answer(
                    {"object": "hermes.api_server.capabilities", "features": {}, "endpoints": {}}
                )
            case "GET", ["v1", "models"]:
                return json_answer({"object": "list", "data": [{"id": "hermes-agent", "object": "model"}]})
            case "POST", ["v1", "chat", "completions"]:
                return json_answer(_COMPLETION)
            case "POST", ["v1", "responses"]:
                return json_answer(
                    {"id": "resp_1", "object": "response", "status": "completed", "output": []}
                )
            case "POST", ["v1", "runs"]:
                self._live_run += 1
                return json_answer({"run_id": f"run_{self._live_run:032x}", "status": "started"}, 202)
            case "GET", ["v1", "runs", run_id]:
                return json_answer({"run_id": run_id, "status": "running", "object": "hermes.run"})
            case "POST", ["v1", "runs", run_id, "stop"]:
                return json_answer({"run_id": run_id, "status": "stopping"})
            case "POST", ["v1", "runs", run_id, "approval"]:
                return json_answer(
                    {"object": "hermes.run.approval_response", "run_id": run_id, "resolved": 1}
                )
            case _, ["api", "jobs", *_]:
                return json_answer({"job": {"id": "0123456789ab"}, "jobs": []})
            case "POST", ["api", "sessions", session, "chat"]:
                return json_answer({"session_id": session, "message": {"role": "assistant", "content": "ok"}})
            case _, ["api", "sessions", *_]:
                return json_answer({"object": "list", "data": []})
        return _not_found(seen)


_COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 0,
    "model": "hermes-agent",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


async def _read_request(link: Link, reader: asyncio.StreamReader) -> Seen | None:
    head = b""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        link.received += error.partial
        link.stray += error.partial
        return None
    link.received += head
    lines = head[:-4].split(b"\r\n")
    method, _, rest = lines[0].partition(b" ")
    target, _, version = rest.rpartition(b" ")
    headers = []
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers.append((name, value.strip()))
    fields = {name.lower(): value for name, value in headers}
    raw = head
    body = b""
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        while True:
            line = await reader.readuntil(b"\r\n")
            data = await reader.readexactly(int(line.split(b";")[0], 16) + 2)
            link.received += line + data
            raw += line + data
            if data == b"\r\n":
                break
            body += data[:-2]
    elif b"content-length" in fields:
        body = await reader.readexactly(int(fields[b"content-length"]))
        link.received += body
        raw += body
    return Seen(
        raw,
        method.decode("latin-1"),
        target.decode("latin-1"),
        version.decode("latin-1"),
        headers,
        body,
        monotonic(),
        link,
    )
