"""The admin listener."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from herma.console import Console, Explained, View, admin, make_app, parser_is_strict, serve_admin
from herma.policy.secret import Secret


class Shown:
    """A readout whose state the test sets."""

    def __init__(self) -> None:
        self.reason = ""
        self.drains = 0

    def ready(self) -> tuple[bool, str]:
        return not self.reason, self.reason

    async def status(self) -> dict[str, Any]:
        return {"stage": "serving"}

    async def metrics(self) -> bytes:
        return b"herma_state 1.0\n"

    def drain(self) -> None:
        self.drains += 1


type Client = TestClient[Any, Any]


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
async def client(shown: Shown) -> AsyncIterator[Client]:
    async with TestClient(TestServer(make_app(shown, shown.drain))) as client:
        yield client


async def test_a_process_that_runs_is_alive(client: Client, shown: Shown) -> None:
    """Liveness does not depend on the upstream or on draining."""
    shown.reason = "draining"
    answer = await client.get("/healthz")
    assert (answer.status, await answer.json()) == (200, {"status": "ok"})


async def test_readiness_is_what_the_gate_says(client: Client, shown: Shown) -> None:
    """A gate that is not ready says why, and when to ask again."""
    answer = await client.get("/readyz")
    assert (answer.status, await answer.json()) == (200, {"status": "ready"})
    shown.reason = "the upstream does not answer (connect)"
    answer = await client.get("/readyz")
    assert answer.status == 503
    assert await answer.json() == {"status": "not ready", "reason": shown.reason}
    assert int(answer.headers["Retry-After"]) > 0


async def test_status_is_json(client: Client) -> None:
    """Programs and people read the same document."""
    answer = await client.get("/status")
    assert (answer.status, await answer.json()) == (200, {"stage": "serving"})


async def test_metrics_are_in_prometheus_text_form(client: Client) -> None:
    """The content type is the one that scrapers ask for."""
    answer = await client.get("/metrics")
    assert await answer.read() == b"herma_state 1.0\n"
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"


async def test_drain_is_asked_for_with_post_only(client: Client, shown: Shown) -> None:
    """A link or an image cannot stop the gate."""
    assert (await client.get("/drain")).status == 405
    assert shown.drains == 0
    answer = await client.post("/drain")
    assert (answer.status, await answer.json()) == (202, {"status": "draining"})
    assert shown.drains == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/status", "/metrics"])
async def test_nothing_is_kept_by_a_cache(client: Client, path: str) -> None:
    """A state is of the moment, and is never taken for something that can be run."""
    answer = await client.get(path)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8644", "localhost", "LocalHost:8644", "[::1]", "[::1]:8644"],
)
async def test_loopback_names_are_answered(client: Client, host: str) -> None:
    """Every way to name this machine from within is good, with a port or without."""
    assert (await client.get("/healthz", headers={"Host": host})).status == 200


REFUSED: dict[str, dict[str, str]] = {
    "rebound name": {"Host": "evil.example"},
    "rebound name with port": {"Host": "evil.example:8644"},
    "own address": {"Host": "192.0.2.7:8644"},
    "wildcard": {"Host": "0.0.0.0:8644"},
    "loopback as a prefix": {"Host": "127.0.0.1.evil.example"},
    "loopback as a user": {"Host": "127.0.0.1@evil.example"},
    "nothing": {"Host": ""},
    "page": {"Host": "127.0.0.1:8644", "Origin": "https://evil.example"},
    "own page": {"Host": "127.0.0.1:8644", "Origin": "http://127.0.0.1:8644"},
    "no origin": {"Host": "127.0.0.1:8644", "Origin": "null"},
}


@pytest.mark.parametrize("path", ["/status", "/metrics", "/drain", "/none"])
@pytest.mark.parametrize("case", REFUSED)
async def test_web_pages_are_refused(client: Client, shown: Shown, case: str, path: str) -> None:
    """Neither a rebound name nor a page of any origin reads the state or stops the gate."""
    method = "POST" if path == "/drain" else "GET"
    answer = await client.request(method, path, headers=REFUSED[case])
    assert answer.status == 421
    assert answer.content_type == "application/problem+json"
    assert await answer.json() == {
        "type": "about:blank",
        "status": 421,
        "code": "herma.admin.host",
        "detail": "The admin listener answers to its loopback name only.",
    }
    assert shown.drains == 0


async def test_a_request_without_a_host_is_refused(client: Client) -> None:
    """HTTP/1.0 may leave the name out; then it is not loopback's."""
    with socket.create_connection((client.host, client.port or 0)) as caller:
        caller.setblocking(False)
        reader, writer = await _streams(caller)
        writer.write(b"GET /status HTTP/1.0\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.0 421")
        writer.close()
        await writer.wait_closed()


async def _streams(sock: socket.socket) -> Any:
    return await asyncio.open_connection(sock=sock)


async def test_unknown_paths_are_not_found(client: Client) -> None:
    """There is nothing beside the five."""
    assert (await client.get("/")).status == 404
    assert (await client.post("/status")).status == 405


async def test_it_serves_a_bound_socket_for_as_long_as_it_should(shown: Shown) -> None:
    """It takes the socket that was opened at the start, and closes it in the end."""
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    async with (
        serve_admin(sock, shown, shown.drain),
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/readyz") as answer,
    ):
        assert answer.status == 200
    assert sock.fileno() == -1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


async def test_connections_are_bounded(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many is closed at once, and those that are there go on."""
    monkeypatch.setattr(admin, "MAX_CONNECTIONS", 2)
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    async with serve_admin(sock, shown, shown.drain):
        first, second = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        first[1].write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await first[0].readline()).startswith(b"HTTP/1.1 200")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        for one in (writer, first[1], second[1]):
            one.close()


async def test_programs_keep_what_they_had(shown: Shown) -> None:
    """Beside the console, what is for programs is refused to every page, its own included."""
    console = Console(Nothing(), Nothing(), {})
    async with TestClient(TestServer(make_app(shown, shown.drain, console))) as client:
        own = {"Origin": f"http://127.0.0.1:{client.port}"}
        for path in ("/status", "/metrics", "/healthz", "/readyz", "/consoles", "/drain"):
            assert (await client.get(path, headers=own)).status == 421
        assert (await client.post("/drain", headers=own)).status == 421
        assert (await client.get("/status")).status == 200
    assert shown.drains == 0
    console.close()


class Nothing:
    """A source and keys that are never asked."""

    async def view(self) -> View:
        raise AssertionError

    async def explained(self, exchange: str) -> Explained | None:
        raise AssertionError

    def admin(self, key: Secret, address: str) -> str:
        raise AssertionError

    async def wait_s(self) -> float:
        raise AssertionError

    async def failed(self) -> None:
        raise AssertionError


async def test_it_serves_a_unix_socket(shown: Shown, tmp_path: Path) -> None:
    """An operator may keep it off the network."""
    path = str(tmp_path / "admin.sock")
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen()
    connector = aiohttp.UnixConnector(path)
    async with (
        serve_admin(sock, shown, shown.drain),
        aiohttp.ClientSession(connector=connector) as session,
        session.get("http://localhost/status") as answer,
    ):
        assert await answer.json() == {"stage": "serving"}


def test_the_admin_listener_reads_requests_strictly() -> None:
    """Here, as installed, aiohttp has its parser in C."""
    assert parser_is_strict()


def test_a_lenient_parser_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its extension aiohttp falls back to a parser that is not strict."""
    monkeypatch.setattr(admin, "HttpRequestParser", admin.HttpRequestParserPy)
    assert not parser_is_strict()
