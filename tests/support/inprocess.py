"""The ingress gate in the test's own event loop: real wire, real rules, a scripted agent, a clock that stands still.

Nothing is started beside it, so a test takes milliseconds and sees the gate's state between two bytes.
"""

import asyncio
import functools
import hashlib
import inspect
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from herma.config.load import parse as parse_settings
from herma.config.settings import Settings
from herma.config.upstream import DEFAULT_UPSTREAM
from herma.config.values import Tcp
from herma.content.fires import opened
from herma.content.surfaces import switched
from herma.ingress import Plane, Planes, Record, handler, wire_error
from herma.policy.limits.lifecycle import Lifecycle
from herma.policy.limits.throttle import ThrottleLimits
from herma.policy.secret import Secret
from herma.runtime.generation import Content, build, read_content
from herma.store import MemorySpent, MemoryStore
from herma.wire import Server, ServerLimits
from support.raw import Ended, Response, Talk, parse, request
from support.shared_state import Clock
from support.upstream import answer, chunk, json_answer, sse_head
from support.wire_client import PATIENCE_S, Client, bound, reset

__all__ = [
    "JOB_KEY",
    "KEYS",
    "SECRET",
    "UPSTREAM_KEY",
    "Agent",
    "Audit",
    "Breakable",
    "Call",
    "Gated",
    "Held",
    "Meter",
    "code",
    "event",
    "gated",
    "gzipped",
    "held",
    "json_of",
    "received",
    "sse",
    "until",
]


def _fake(name: str) -> str:
    """Write a key that is long enough for the key floor and nobody's."""
    return "fake" + hashlib.sha256(name.encode()).hexdigest()[:40]


# A token in the form of a vendor's, which the redactor knows for certain.
SECRET = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"
UPSTREAM_KEY = _fake("upstream")
# Every gate has these keys; `runner` and `mate` share a group.
SCOPES: dict[str, str] = {
    "admin": "scopes: [admin]",
    "runner": "scopes: [run, read, approve, status, cron], group: team",
    "mate": "scopes: [run, read, approve], group: team",
    "other": "scopes: [run, read, approve]",
    "reader": "scopes: [read]",
    "watcher": "scopes: [status]",
    "single": "scopes: [run], max_concurrent_runs: 1",
    "expired": "scopes: [run], expires: '2020-01-01T00:00:00Z'",
    "elsewhere": "scopes: [run], networks: ['192.0.2.0/24']",
}
KEYS = {name: _fake(name) for name in SCOPES}
# It starts one job, where a test says so.
JOB_KEY = _fake("job")
_ENVIRON = {name.upper(): key for name, key in KEYS.items()} | {"UPSTREAM": UPSTREAM_KEY, "JOB": JOB_KEY}


@dataclass(slots=True)
class Call:
    """One request as it reached the agent, and the agent's side of its connection."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for held, value in self.headers if held.lower() == name]

    def get(self, name: str) -> str | None:
        """Return the only value of a header."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} arrived {len(values)} times"
        return values[0] if values else None

    async def send(self, *parts: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(b"".join(parts))
        await self.writer.drain()

    async def chunk(self, *parts: bytes) -> None:
        """Send each part as a chunk of its own."""
        await self.send(*(chunk(part) for part in parts))

    async def end(self) -> None:
        """End a chunked answer."""
        await self.send(b"0\r\n\r\n")

    def close(self) -> None:
        """End the connection with FIN."""
        self.writer.close()

    def reset(self) -> None:
        """End the connection with RST."""
        reset(self.writer)

    async def gone(self) -> None:
        """Wait until the gate has hung up."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while await self.reader.read(65536):
                    pass
            except OSError:
                return


type Play = Callable[[Call], Awaitable[None]]


@dataclass(slots=True)
class Agent:
    """The scripted agent server: what it was asked, and what it answers."""

    calls: list[Call] = field(default_factory=list)
    connects: int = 0
    _plays: dict[tuple[str, str], Play | bytes] = field(default_factory=dict)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def on(self, method: str, path: str, play: Play | bytes | object) -> None:
        """Answer this method and path with bytes, by a function, or with a value as JSON."""
        ready = play if callable(play) or isinstance(play, bytes) else _joined(json_answer(play))
        self._plays[method, path] = ready

    @property
    def asked(self) -> list[str]:
        """Name every request that arrived."""
        return [f"{call.method} {call.target}" for call in self.calls]

    async def only(self) -> Call:
        """Wait for the one request; fail if there is another."""
        await until(lambda: bool(self.calls))
        assert len(self.calls) == 1, self.asked
        return self.calls[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it ends."""
        self.connects += 1
        self._writers.add(writer)
        try:
            while (call := await _read(reader, writer)) is not None and not writer.is_closing():
                self.calls.append(call)
                play = self._plays.get((call.method, call.target.partition("?")[0]), _NOT_FOUND)
                if isinstance(play, bytes):
                    await call.send(play)
                else:
                    await play(call)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return  # the gate hung up, which is a result; or the test is over
        finally:
            self._writers.discard(writer)
            writer.close()

    def abort(self) -> None:
        """Drop every connection."""
        for writer in tuple(self._writers):
            writer.transport.abort()


_NOT_FOUND = answer(404, b'{"error":"no such route"}', [("Content-Type", "application/json")])


def _joined(steps: Any) -> bytes:
    return b"".join(steps)


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
    call = Call(method, target, headers, b"", reader, writer)
    assert not call.all("transfer-encoding"), "the gate sends whole bodies"
    call.body = await reader.readexactly(int(call.get("content-length") or 0))
    return call


@dataclass(slots=True)
class Meter:
    """What was counted."""

    counts: dict[tuple[str, str], float] = field(default_factory=dict)
    exchanges: list[Record] = field(default_factory=list)

    def exchange(self, record: Record, finished: float) -> None:
        """Keep the record."""
        self.exchanges.append(record)

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Add to a counter."""
        self.counts[name, label] = self.counts.get((name, label), 0.0) + amount


@dataclass(slots=True)
class Audit:
    """The audit's lines, as records."""

    records: list[Record] = field(default_factory=list)

    def write(self, record: Record, finished: float) -> None:
        """Keep the record."""
        assert finished >= record.started
        self.records.append(record)


class Breakable(MemoryStore):
    """A store that can be cut off, method by method, and counts what it is asked."""

    def __init__(self, clock: Clock, limits: ThrottleLimits) -> None:
        # Its memory of used tokens is older than any token of the suites.
        super().__init__(clock, limits, spent=MemorySpent(since=0))
        self.broken: dict[str, Exception] = {}
        self.asked: Counter[str] = Counter()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not inspect.iscoroutinefunction(found):
            return found
        self.asked[name] += 1
        if (error := self.broken.get(name)) is not None:

            async def fail(*_: object, **__: object) -> None:
                raise error

            return fail
        return found


@dataclass(slots=True)
class Gated:
    """A running gate and everything around it."""

    plane: Plane
    server: Server
    store: Breakable
    clock: Clock
    agent: Agent
    audit: Audit
    meter: Meter
    port: int
    clients: list[Client] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """The configuration."""
        return self.plane.generation.settings

    @property
    def slots(self) -> int:
        """Count the slots that are taken."""
        return self.store.slots_taken

    def message(
        self, method: str, target: str, *, key: str | None = "runner", body: object = b"", **parts: Any
    ) -> bytes:
        """Write one request; `key` is the name of one of the keys, or a key itself."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        parts.setdefault("host", f"127.0.0.1:{self.port}")
        return request(method, target, key=KEYS.get(key, key) if key else None, body=data, **parts)

    async def connect(self, data: bytes = b"", *, source: str | None = None) -> Client:
        """Open a connection, send the bytes, and hand it over."""
        local = (source, 0) if source else None
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, limit=1 << 25, local_addr=local
        )
        client = Client(reader, writer)
        self.clients.append(client)
        client.send(data)
        return client

    async def open(self, method: str, target: str, *, source: str | None = None, **parts: Any) -> Client:
        """Send one request and hand the connection over."""
        return await self.connect(self.message(method, target, **parts), source=source)

    async def talk(self, method: str, target: str, *, source: str | None = None, **parts: Any) -> Talk:
        """Send one request on a connection of its own; return what came, and how the connection stood then."""
        client = await self.open(method, target, source=source, **parts)
        try:
            return await received(client, method)
        finally:
            client.close()

    async def ask(self, method: str, target: str, *, source: str | None = None, **parts: Any) -> Response:
        """Send one request on a connection of its own; return the complete answer."""
        talk = await self.talk(method, target, source=source, **parts)
        assert talk.first.complete, talk
        return talk.first

    async def quiet(self) -> None:
        """Wait until no exchange is under way."""
        await until(lambda: not self.plane.active and not self.plane._kept)

    async def last(self) -> Record:
        """Return the newest audit record, once nothing is under way."""
        await self.quiet()
        return self.audit.records[-1]


async def received(client: Client, method: str = "GET", *, answers: int = 1) -> Talk:
    """Read until so many answers are complete or the connection ends."""
    data, ended = b"", Ended.OPEN
    async with asyncio.timeout(PATIENCE_S):
        while ended is Ended.OPEN:
            talk = parse(data, ended, [method] * answers)
            if sum(response.complete for response in talk.responses) >= answers:
                return talk
            try:
                piece = await client.reader.read(1 << 20)
            except OSError:
                ended = Ended.RESET
                data += bytes(client.reader._buffer)  # what came before the reset
            else:
                data += piece
                ended = ended if piece else Ended.FIN
    return parse(data, ended, [method] * answers)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it is so; the suite's patience ends a wait that is in vain."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0)


def code(response: Response) -> str:
    """Return the stable code of a refusal, whatever its envelope."""
    document = json.loads(response.body)
    error = document["error"] if isinstance(document.get("error"), dict) else document
    return str(error.get("code", ""))


def json_of(response: Response) -> Any:
    """Parse an answer."""
    return json.loads(response.body)


def gzipped(data: bytes) -> bytes:
    """Pack bytes."""
    import gzip

    return gzip.compress(data, mtime=0)


def event(value: object, name: str = "") -> bytes:
    """Write one server-sent event."""
    line = f"event: {name}\n".encode() if name else b""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return line + b"data: " + data + b"\n\n"


def sse(*events: bytes, headers: list[tuple[str, str]] | None = None) -> Play:
    """Answer with a stream of these events that ends cleanly."""

    async def play(call: Call) -> None:
        await call.send(sse_head(headers=headers or []))
        await call.chunk(*events)
        await call.end()

    return play


@dataclass(slots=True)
class Held:
    """An answer that waits until it is let go."""

    answer: bytes
    calls: list[Call] = field(default_factory=list)
    _go: asyncio.Event = field(default_factory=asyncio.Event)

    def release(self) -> None:
        """Let the answer, and all later ones, go."""
        self._go.set()

    async def reached(self, count: int = 1) -> None:
        """Wait until so many requests wait here."""
        await until(lambda: len(self.calls) >= count)

    async def __call__(self, call: Call) -> None:
        """Answer once released; a gate that hangs up meanwhile ends the wait."""
        self.calls.append(call)
        going = asyncio.get_running_loop().create_task(self._go.wait())
        leaving = asyncio.get_running_loop().create_task(call.gone())
        try:
            await asyncio.wait({going, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                raise ConnectionResetError
        finally:
            going.cancel()
            leaving.cancel()
            await asyncio.gather(going, leaving, return_exceptions=True)
        await call.send(self.answer)


def held(value: object, status: int = 200) -> Held:
    """Answer with a value as JSON, when the test says so."""
    return Held(_joined(json_answer(value, status)))


@functools.cache
def _content(profile: str, *, strict: bool) -> Content:
    text = f"upstream: {{url: 'http://127.0.0.1:1', profile: {profile}}}\nstrict: {json.dumps(strict)}\n"
    settings = parse_settings(text.encode(), "herma.yaml", {})
    return read_content(settings, Secret(b"fake fingerprint key, 32 bytes..."))


@functools.cache
def _parsed(text: str) -> Settings:
    return parse_settings(text.encode(), "herma.yaml", _ENVIRON)


def _settings(
    port: int,
    upstream: int,
    *,
    keys: bool,
    login: Mapping[str, object] | None,
    others: Mapping[str, object],
    below: Mapping[str, object],
    extra: Mapping[str, object],
) -> Settings:
    """Parse the configuration, once for each text, and put this gate's ports in."""
    where = {"url": "http://127.0.0.1:8642", "key": "${UPSTREAM}", **below}
    if where.get("key_from_page"):
        del where["key"]
    top = {"listen": [{"address": "127.0.0.1:8643"}], "upstream": where, **extra}
    lines = [f"{name}: {json.dumps(value)}" for name, value in top.items()]
    if keys or login or others:
        lines += ["auth:", "  failures: {free_attempts: 3}"]
    if keys:
        lines += ["  keys:"]
        lines += [
            f"  - {{name: {name}, key: '${{{name.upper()}}}', {rest}}}" for name, rest in SCOPES.items()
        ]
    if login:
        lines.append(f"  login: {json.dumps(login)}")
    lines += [f"  {name}: {json.dumps(value)}" for name, value in others.items()]
    settings = _parsed("\n".join(lines) + "\n")
    url = replace(settings.upstream.url, address=Tcp("127.0.0.1", upstream))
    listener = replace(settings.listen[0], address=Tcp("127.0.0.1", port))
    return replace(settings, upstream=replace(settings.upstream, url=url), listen=(listener,))


@asynccontextmanager
async def gated(
    *,
    keys: bool = True,
    login: Mapping[str, object] | None = None,
    others: Mapping[str, object] | None = None,
    profile: str = "hermes-api",
    wire: ServerLimits | None = None,
    upstream_extra: Mapping[str, object] | None = None,
    **extra: object,
) -> AsyncIterator[Gated]:
    """Run a gate for as long as the block lasts.

    `upstream_extra` are further keys of its configuration below `upstream`, `extra` those at the top; `login` is that of `auth`,
    and `others` are its other keys.
    """
    agent = Agent()
    with ExitStack() as early:
        sock, place = early.enter_context(bound()), early.enter_context(bound())
        port, upstream = sock.getsockname()[1], place.getsockname()[1]
        below = {"profile": profile, **(upstream_extra or {})}
        settings = _settings(
            port, upstream, keys=keys, login=login, others=others or {}, below=below, extra=extra
        )
        clock, audit, meter = Clock(), Audit(), Meter()
        failures = settings.auth.failures
        store = Breakable(
            clock, ThrottleLimits(failures.free_attempts, failures.base_delay_s, failures.max_delay_s)
        )
        content = _content(profile, strict=settings.strict)
        content = replace(content, profiles=opened(switched(content.profiles, settings.surfaces), settings))
        generation = build(settings, content).by_name[DEFAULT_UPSTREAM]
        early.pop_all()
    plane = Plane(generation, store, Lifecycle(settings.drain_timeout_s), audit, meter)
    plane.key_sets.adopt(generation.key_sources)
    server = Server(handler(Planes([plane]), 0), wire or ServerLimits(), wire_error)
    # Not before all is there: a loop does not end while something listens that nobody closes.
    behind = await asyncio.start_server(agent.serve, sock=place, limit=1 << 25)
    await server.serve(sock)
    gate = Gated(plane, server, store, clock, agent, audit, meter, port)
    try:
        yield gate
        # A gate that lost count would refuse everybody one day.
        for client in gate.clients:
            client.close()
        agent.abort()
        await gate.quiet()
        assert plane.buffered.total == 0
    finally:
        for client in gate.clients:
            client.close()
        agent.abort()
        await server.drain(0.05)
        await plane.key_sets.close()
        await generation.pool.close()
        behind.close()
