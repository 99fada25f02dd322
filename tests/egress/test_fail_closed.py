"""Hooks that shut when they fail."""

import asyncio
import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import WebSocketException

from herma.egress.canary import HOOKS
from herma.egress.fail_closed import MARK, fail_closed, fail_closed_layer
from herma.egress.line import Failed, Ready
from support.egress_process import Child, Neighbour, child, neighbour, ready, through
from support.http2 import tunnel
from support.redactor import GITHUB
from support.wire_tls import make_pair

STUCK = -9


class Hooks:
    """Two hooks that fail for a negative number."""

    def __init__(self) -> None:
        self.shut: list[int] = []
        self.told: list[tuple[str, str]] = []

    def failed(self, hook: str, error: Exception) -> None:
        """Note it."""
        self.told.append((hook, type(error).__name__))

    def close(self, number: int) -> None:
        """Shut, or fail at that."""
        if number == STUCK:
            raise OSError(number)
        self.shut.append(number)

    @fail_closed(close)
    def plain(self, number: int) -> None:
        """Fail, or not."""
        if number < 0:
            raise ValueError(number)

    @fail_closed(close)
    async def waiting(self, number: int) -> None:
        """Fail, or not."""
        await asyncio.sleep(0)
        if number < 0:
            raise OSError(number)


def test_a_hook_that_raises_shuts_and_is_told() -> None:
    """By the kind of its error, whose text may repeat what was sent."""
    hooks = Hooks()
    hooks.plain(1)
    asyncio.run(hooks.waiting(2))
    assert (hooks.shut, hooks.told) == ([], [])
    hooks.plain(-1)
    asyncio.run(hooks.waiting(-2))
    assert hooks.shut == [-1, -2]
    assert hooks.told == [("plain", "ValueError"), ("waiting", "OSError")]


def test_a_guarded_hook_wears_the_mark() -> None:
    """And keeps its name, by which it is found."""
    assert getattr(Hooks.plain, MARK)
    assert getattr(Hooks.waiting, MARK)
    assert Hooks.plain.__name__ == "plain"


def test_a_hook_that_is_cancelled_shuts() -> None:
    """And stays cancelled."""
    hooks = Hooks()

    async def cancelled() -> None:
        async with asyncio.timeout(0):
            await hooks.waiting(3)

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert hooks.shut == [3]


def test_a_layer_that_raises_shuts() -> None:
    """After what it wanted done before."""

    def layer(*, broken: bool) -> Generator[str, None, None]:
        yield "send"
        if broken:
            raise ValueError

    def shut(error: Exception) -> Generator[str, None, None]:
        yield type(error).__name__

    assert list(fail_closed_layer(layer(broken=True), shut)) == ["send", "ValueError"]
    assert list(fail_closed_layer(layer(broken=False), shut)) == ["send"]


def test_who_cannot_even_shut_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that is down lets nothing out; an error that is raised on would."""

    class EndedError(BaseException):
        """The process ended."""

    def end(code: int) -> None:
        raise EndedError(code)

    monkeypatch.setattr(os, "_exit", end)
    for call in (lambda: Hooks().plain(STUCK), lambda: asyncio.run(Hooks().waiting(STUCK))):
        with pytest.raises(EndedError, match="70"):
            call()


# The gate's process, whose hook of the name in a file raises instead of judging.
BROKEN = """
import functools, inspect, sys
from pathlib import Path
import herma.egress.fail_closed as module

given = module.fail_closed

def fail_closed(shut):
    def broken(hook):
        def judge():
            if Path({path!r}).read_text() == hook.__name__:
                raise RuntimeError
        @functools.wraps(hook)
        def plain(self, data):
            judge()
            return hook(self, data)
        @functools.wraps(hook)
        async def waiting(self, data):
            judge()
            await hook(self, data)
        return given(shut)(waiting if inspect.iscoroutinefunction(hook) else plain)
    return broken

module.fail_closed = fail_closed
from herma.egress.__main__ import main
sys.exit(main())
"""

# What is asked before anything goes out, in clear, through TLS, and as a message of a socket.
BEFORE_ALL = {"client_connected", "next_layer", "requestheaders", "request", "server_connect"}
BEFORE_TLS = {*BEFORE_ALL, "http_connect", "tls_clienthello"}
BEFORE_MESSAGES = {*BEFORE_ALL, "http_connect", "responseheaders", "response", "websocket_message"}
# What the traffic of these tests never leads to.
UNCALLED = {"tcp_start", "udp_start", "dns_request", "http_connect_error", "http_connect_upstream"}


@dataclass(frozen=True, slots=True)
class World:
    """The gate, the file that names its broken hook, and whom it is to protect from secrets."""

    gate: Child
    broken: Path
    clear: Neighbour
    secured: Neighbour


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One process for all hooks."""
    directory = tmp_path_factory.mktemp("broken")
    pair, broken = make_pair(directory), directory / "hook"
    broken.write_text("")
    with neighbour() as clear, neighbour(pair.serving()) as secured:
        section = {"near": ["127.0.0.1", "[::1]"], "ca_file": pair.cert}
        program = ("-c", BROKEN.format(path=str(broken)))
        with child(directory, section, program=program) as started:
            yield World(ready(started), broken, clear, secured)


def _in_clear(world: World, body: bytes) -> None:
    with suppress(OSError, HTTPException):
        through(world.gate, f"http://127.0.0.1:{world.clear.port}/", body)


def _secured(world: World, body: bytes) -> None:
    place = f"localhost:{world.secured.port}"
    with (
        suppress(OSError, AssertionError),
        tunnel(world.gate.port, place, str(world.gate.config.parent / "egress" / "ca.pem")) as sock,
    ):
        sock.settimeout(5)
        sock.sendall(
            f"POST / HTTP/1.1\r\nHost: {place}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        sock.recv(4096)


@pytest.mark.parametrize("hook", sorted(HOOKS))
async def test_whichever_hook_is_broken_nothing_goes_out(world: World, hook: str) -> None:
    """What would be judged later is judged all the same; what is judged by it stays."""
    seen: list[object] = []

    async def hear(socket: ServerConnection) -> None:
        async for message in socket:
            seen.append(message)
            await socket.send("heard")

    world.broken.write_text(hook)
    world.clear.seen.clear()
    world.secured.seen.clear()
    async with serve(hear, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        for body in ("innocent", GITHUB):
            await asyncio.to_thread(_in_clear, world, body.encode())
            await asyncio.to_thread(_secured, world, body.encode())
            with suppress(OSError, WebSocketException, TimeoutError):
                async with (
                    asyncio.timeout(5),
                    connect(f"ws://127.0.0.1:{port}/", proxy=f"http://127.0.0.1:{world.gate.port}") as agent,
                ):
                    await agent.send(body)
                    await agent.recv()
    world.broken.write_text("")
    innocent = [("/", b"innocent")]
    assert world.clear.seen == ([] if hook in BEFORE_ALL else innocent)
    assert world.secured.seen == ([] if hook in BEFORE_TLS else innocent)
    assert seen == ([] if hook in BEFORE_MESSAGES else ["innocent"])


def test_who_breaks_is_told(world: World) -> None:
    """And the gate serves on when it is whole again."""
    assert through(world.gate, f"http://127.0.0.1:{world.clear.port}/", b"innocent") == (200, {})
    assert world.gate.end() == 0
    world.gate.hear(Ready)
    told = {message.hook for message in world.gate.said if isinstance(message, Failed)}
    # A flow that is killed is told of when its connection ends: perhaps after the next hook was broken.
    assert told | {"error"} == HOOKS - UNCALLED
