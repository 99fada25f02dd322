"""The admin listener: is it alive, is it ready, how is it, what has it counted, and the console for people.

It serves loopback or a unix socket of mode 0600 only; the configuration refuses anything else. Requests that name another
host are refused, so that a web page cannot read it through a rebound name. What programs ask for is refused to pages altogether; the
console's pages have a guard of their own.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy

from herma.console.pages import PREFIX, Console
from herma.console.problem import problem

__all__ = ["Readout", "make_app", "parser_is_strict", "serve_admin"]


def parser_is_strict() -> bool:
    """Tell whether aiohttp reads requests with llhttp; its fallback in Python accepts what no server should."""
    return HttpRequestParser is not HttpRequestParserPy


_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

# Probes, scrapers and some open pages; further connections are closed at once.
MAX_CONNECTIONS = 128


class Readout(Protocol):
    """What the admin listener shows; every method answers from memory."""

    def ready(self) -> tuple[bool, str]:
        """Tell whether requests are served, and if not, why."""
        ...

    async def status(self) -> dict[str, Any]:
        """Return the state of the gate, JSON-ready, without a secret."""
        ...

    async def metrics(self) -> bytes:
        """Return the metrics in Prometheus' text form."""
        ...


@dataclass(frozen=True, slots=True)
class _Admin:
    readout: Readout
    drain: Callable[[], None]

    async def healthz(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def readyz(self, _request: web.Request) -> web.Response:
        ready, reason = self.readout.ready()
        if ready:
            return web.json_response({"status": "ready"})
        return web.json_response(
            {"status": "not ready", "reason": reason}, status=503, headers={"Retry-After": "2"}
        )

    async def status(self, _request: web.Request) -> web.Response:
        return web.json_response(await self.readout.status())

    async def metrics(self, _request: web.Request) -> web.Response:
        return web.Response(
            body=await self.readout.metrics(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    async def start_drain(self, _request: web.Request) -> web.Response:
        self.drain()
        return web.json_response({"status": "draining"}, status=202)


def _guard(console: Console | None) -> Any:
    """Return the middleware that refuses what pages elsewhere made a browser send."""

    @web.middleware
    async def local_only(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        # Not `request.host`: without the header it would ask the resolver for this machine's name.
        host = request.headers.get("Host", "")
        name = host if host.endswith("]") else host.rsplit(":", 1)[0]
        own = console is not None and (request.path == "/" or f"{request.path}/".startswith(f"{PREFIX}/"))
        if name.lower() not in _LOCAL_NAMES or ("Origin" in request.headers and not own):
            return problem(421, "herma.admin.host", "The admin listener answers to its loopback name only.")
        if console is not None and own and (refused := console.judge(request)) is not None:
            return refused
        response = await handler(request)
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    return local_only


def make_app(readout: Readout, drain: Callable[[], None], console: Console | None = None) -> web.Application:
    """Return the admin application, with the console if there is one."""
    admin = _Admin(readout, drain)
    app = web.Application(middlewares=[_guard(console)], client_max_size=1024)
    app.add_routes(
        [
            web.get("/healthz", admin.healthz),
            web.get("/readyz", admin.readyz),
            web.get("/status", admin.status),
            web.get("/metrics", admin.metrics),
            web.post("/drain", admin.start_drain),
            *(console.routes() if console is not None else ()),
        ]
    )
    return app


@asynccontextmanager
async def serve_admin(
    sock: socket.socket, readout: Readout, drain: Callable[[], None], console: Console | None = None
) -> AsyncIterator[None]:
    """Serve the admin application on a bound socket for as long as the context lasts."""
    app = make_app(readout, drain, console)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    server = await asyncio.get_running_loop().create_server(_bounded(runner), sock=sock)
    try:
        yield
    finally:
        server.close()
        if console is not None:
            console.stop()
        await runner.cleanup()
        if console is not None:
            console.close()


def _bounded(runner: web.AppRunner) -> Callable[[], asyncio.Protocol]:
    """Return what takes a connection, up to a number of them."""
    serving = runner.server
    assert serving is not None  # noqa: S101 - the runner was set up

    def take() -> asyncio.Protocol:
        return _Full() if len(serving.connections) >= MAX_CONNECTIONS else serving()

    return take


class _Full(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
