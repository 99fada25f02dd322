"""Measure the egress gate beside plain mitmproxy and no proxy at all.

    python tests/bench/egress.py [--seconds S] [--rounds N] [--write]

One destination with four faces, on loopback and inside TLS: a chat platform, a stranger, a model, and a socket that echoes. The same
client asks all candidates in turns. mitmproxy has the gate's options (no connection before it is asked for, the model not intercepted,
the destination's certificate checked), and looks at nothing. `--write` puts the table into docs/benchmarks.md.
"""

import argparse
import asyncio
import os
import platform
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from aiohttp import ClientSession, TCPConnector, web
from process import cpu_seconds

from support.certificates import make_authority
from support.egress_process import child, ready
from support.gate import free_port
from support.wire_tls import Pair

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/benchmarks.md"
BEGIN, END = "<!-- egress figures: begin -->", "<!-- egress figures: end -->"
SECONDS, ROUNDS, MANY = 1.2, 3, 16
MESSAGE = b'{"body": "' + b"the build is green, shall I deploy it? " * 50 + b'", "msgtype": "m.text"}'
UPLOAD = b"one line of a report that somebody asked for\n" * (1024 * 1024 // 45)
STREAM_BYTES, PIECE = 16 * 1024 * 1024, b"data: " + b"t" * 1017 + b"\n"
SPOKEN = "a message of a socket " * 10

type Figures = dict[str, float]


def _app() -> web.Application:
    async def post(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"ok": "a" * 1000})

    async def stream(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(STREAM_BYTES // len(PIECE) // 16):
            await answer.write(PIECE * 16)
        return answer

    async def echo(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data)
        return socket

    app = web.Application(client_max_size=1 << 30)
    app.add_routes([web.get("/stream", stream), web.get("/socket", echo), web.post("/{rest:.*}", post)])
    return app


async def _destination(pair: Pair, ports: list[int]) -> None:
    runner = web.AppRunner(_app())
    await runner.setup()
    for port in ports:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=pair.serving()).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who is between: `proxy` is its port and `pid` its process, both 0 for nobody; `trusted` is who signs."""

    name: str
    proxy: int
    pid: int
    trusted: str


class Client:
    """Asks through a candidate, on connections of its own."""

    def __init__(self, candidate: Candidate, ports: list[int], roots: str) -> None:
        self.candidate = candidate
        self.platform, self.stranger, self.model = (f"https://localhost:{port}" for port in ports)
        self._proxy = f"http://127.0.0.1:{candidate.proxy}" if candidate.proxy else None
        self._tls = ssl.create_default_context(cafile=roots)
        self._tls.load_verify_locations(candidate.trusted)

    def session(self) -> ClientSession:
        """Open connections as needed."""
        return ClientSession(connector=TCPConnector(ssl=self._tls, limit=0), proxy=self._proxy)

    async def loops(
        self, act: Callable[[ClientSession], Awaitable[None]], many: int, seconds: float
    ) -> list[float]:
        """Act again and again, on so many connections at the same time; give how long each took, the first of each left out."""
        times: list[float] = []

        async def one(session: ClientSession) -> None:
            await act(session)
            until = time.perf_counter() + seconds
            while (begun := time.perf_counter()) < until:
                await act(session)
                times.append(time.perf_counter() - begun)

        async with self.session() as session, asyncio.TaskGroup() as group:
            for _ in range(many):
                group.create_task(one(session))
        return times

    async def say(self, session: ClientSession) -> None:
        """Send a message to people."""
        await self._post(session, f"{self.platform}/_matrix/client/v3/rooms/a/send/m.room.message/1", MESSAGE)

    async def upload(self, session: ClientSession) -> None:
        """Send a file to a stranger."""
        await self._post(session, f"{self.stranger}/upload", UPLOAD)

    async def _post(self, session: ClientSession, url: str, body: bytes) -> None:
        async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
            assert answer.status == 200, (self.candidate.name, answer.status, await answer.text())
            await answer.read()

    async def stream(self, session: ClientSession) -> tuple[float, float]:
        """Read what a model says; give the time to the first byte, and the bytes of a second after it."""
        begun = time.perf_counter()
        async with session.get(f"{self.model}/stream") as answer:
            count = len(await answer.content.readany())
            first = time.perf_counter()
            async for piece in answer.content.iter_any():
                count += len(piece)
        return first - begun, count / (time.perf_counter() - first)

    async def messages(self, many: int, seconds: float) -> list[float]:
        """Speak over sockets; give how long each echo took."""
        times: list[float] = []

        async def one(session: ClientSession) -> None:
            async with session.ws_connect(f"{self.platform}/socket") as socket:
                until = time.perf_counter() + seconds
                while (begun := time.perf_counter()) < until:
                    await socket.send_str(SPOKEN)
                    await socket.receive_str()
                    times.append(time.perf_counter() - begun)

        async with self.session() as session, asyncio.TaskGroup() as group:
            for _ in range(many):
                group.create_task(one(session))
        return times


async def _round(client: Client, seconds: float) -> Figures:
    found: Figures = {}
    pid = client.candidate.pid
    found["message ms"] = median(await client.loops(client.say, 1, seconds)) * 1e3
    before = cpu_seconds(pid)
    times = await client.loops(client.say, MANY, seconds)
    found["messages/s"] = len(times) / seconds
    found["CPU ms a message"] = (cpu_seconds(pid) - before) / (len(times) + MANY) * 1e3
    found["upload ms"] = median(await client.loops(client.upload, 1, seconds)) * 1e3
    found["uploads MB/s"] = len(await client.loops(client.upload, 4, seconds)) / seconds * len(UPLOAD) / 1e6
    async with client.session() as session:
        await client.stream(session)
        streams = [await client.stream(session) for _ in range(3)]
    found["model first byte ms"] = median(first for first, _ in streams) * 1e3
    found["model MB/s"] = median(speed for _, speed in streams) / 1e6
    found["echo ms"] = median(await client.messages(1, seconds)) * 1e3
    found["echoes/s"] = len(await client.messages(MANY, seconds)) / seconds
    return found


@contextmanager
def _mitmdump(directory: Path, roots: str, model: int) -> Iterator[Candidate]:
    port = free_port()
    options = {
        "confdir": str(directory),
        "connection_strategy": "lazy",
        "upstream_cert": "false",
        "ssl_verify_upstream_trusted_ca": roots,
    }
    words = [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
    command = [
        str(Path(sys.executable).parent / "mitmdump"),
        "-q",
        "--listen-host",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    ignored = ["--ignore-hosts", rf"^localhost:{model}$"]
    with subprocess.Popen([*command, *words, *ignored], stdout=subprocess.DEVNULL) as process:
        try:
            signer = directory / "mitmproxy-ca-cert.pem"
            while not signer.exists():
                time.sleep(0.1)
            time.sleep(1)
            yield Candidate("mitmproxy", port, process.pid, str(signer))
        finally:
            process.terminate()


def measure(rounds: int, seconds: float) -> dict[str, Figures]:
    """Ask all candidates in turns; give the medians of the rounds."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        authority = make_authority(directory)
        pair = authority.issue("server", "dns:localhost", "ip:127.0.0.1")
        ports = [free_port() for _ in range(3)]
        serve = [sys.executable, __file__, "--serve", pair.cert, pair.key, *map(str, ports)]
        (directory / "plain").mkdir()
        section = {
            "near": ["127.0.0.1", "[::1]"],
            "ca_file": authority.path,
            "platforms": {"matrix": {"hosts": [f"localhost:{ports[0]}"]}},
            "models": [f"localhost:{ports[2]}"],
        }
        with (
            subprocess.Popen(serve, stdout=subprocess.PIPE) as destination,
            _mitmdump(directory / "plain", authority.path, ports[2]) as plain,
            child(directory, section) as started,
        ):
            try:
                assert destination.stdout is not None
                assert destination.stdout.readline() == b"ready\n"
                ready(started)
                # What it tells is read, as the process that starts it does.
                threading.Thread(target=started.hear, args=(type(None),), daemon=True).start()
                gate = Candidate(
                    "herma", started.port, started.process.pid, str(directory / "egress" / "ca.pem")
                )
                clients = [
                    Client(one, ports, authority.path)
                    for one in (Candidate("direct", 0, 0, authority.path), gate, plain)
                ]
                found: dict[str, list[Figures]] = {client.candidate.name: [] for client in clients}
                for turn in range(rounds):
                    for client in clients if turn % 2 == 0 else reversed(clients):
                        found[client.candidate.name].append(asyncio.run(_round(client, seconds)))
            finally:
                destination.terminate()
    return {name: {key: median(one[key] for one in rows) for key in rows[0]} for name, rows in found.items()}


def render(figures: dict[str, Figures], rounds: int, seconds: float) -> str:
    """Write the table."""
    names = list(figures)
    cores = len(os.sched_getaffinity(0))
    setting = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {cores} cores, load average {os.getloadavg()[0]:.1f} at the end; "
        f"Python {platform.python_version()}; medians of {rounds} rounds of {seconds:g} s, order alternated; messages of {len(MESSAGE):,} bytes "
        f"to a platform on 1 and {MANY} connections, uploads of {len(UPLOAD) / 1e6:.1f} MB to a stranger on 1 and 4, a stream of "
        f"{STREAM_BYTES // 1024 // 1024} MiB from a model, messages of {len(SPOKEN)} characters over 1 and {MANY} sockets; connections are kept."
    )
    rows = ["|  | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    for key in figures["direct"]:
        cells = (f"{figures[name][key]:,.2f}" if figures[name][key] else "-" for name in names)
        rows.append(f"| {key} | " + " | ".join(cells) + " |")
    return f"{setting}\n\n" + "\n".join(rows)


def write(text: str) -> None:
    """Put the table into the page, in the place of the last one or at the end."""
    page = DOCUMENT.read_text()
    block = f"{BEGIN}\n{text}\n{END}"
    if BEGIN in page:
        page = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, page, flags=re.DOTALL)
    else:
        intro = (
            "## The egress gate\n\n`make bench-egress` measures the egress gate beside plain mitmproxy with the same options, which looks at nothing, "
            "and no\nproxy at all: the same client, the same destination, in turns. What goes to a model is tunnelled by both."
        )
        page = f"{page.rstrip()}\n\n{intro}\n\n{block}\n"
    DOCUMENT.write_text(page)


def main() -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--memory", action="store_true", help="a thousand connections, too")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    parser.add_argument("--serve", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        cert, key, *ports = arguments.serve
        asyncio.run(_destination(Pair(cert, key), list(map(int, ports))))
    text = render(measure(arguments.rounds, arguments.seconds), arguments.rounds, arguments.seconds)
    if arguments.memory:
        from egress_memory import CONNECTIONS, told
        from egress_memory import measure as remember

        text += "\n\n" + told(remember(CONNECTIONS))
    print(text)
    if arguments.write:
        write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
