"""The admin listener: is it alive, is it ready, how is it, and what has it counted.

It serves loopback or a unix socket of mode 0600 only; the configuration refuses anything else. Requests that name another
host are refused, so that a web page cannot read it through a rebound name.
"""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy

__all__ = ["Readout", "make_app", "parser_is_strict", "serve_admin"]


def parser_is_strict() -> bool:
    """Tell whether aiohttp reads requests with llhttp; its fallback in Python accepts what no server should."""
    return HttpRequestParser is not HttpRequestParserPy


_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


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


@web.middleware
async def _local_host_only(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    # Not `request.host`: without the header it would ask the resolver for this machine's name.
    host = request.headers.get("Host", "")
    name = host if host.endswith("]") else host.rsplit(":", 1)[0]
    if name.lower() not in _LOCAL_NAMES or "Origin" in request.headers:
        return _problem(421, "herma.admin.host", "The admin listener answers to its loopback name only.")
    response = await handler(request)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _problem(status: int, code: str, detail: str) -> web.Response:
    # RFC 9457: Herma's own endpoints answer with problem+json.
    return web.json_response(
        {"type": "about:blank", "status": status, "code": code, "detail": detail},
        status=status,
        content_type="application/problem+json",
    )


def make_app(readout: Readout, drain: Callable[[], None]) -> web.Application:
    """Return the admin application."""
    admin = _Admin(readout, drain)
    app = web.Application(middlewares=[_local_host_only], client_max_size=1024)
    app.add_routes(
        [
            web.get("/healthz", admin.healthz),
            web.get("/readyz", admin.readyz),
            web.get("/status", admin.status),
            web.get("/metrics", admin.metrics),
            web.post("/drain", admin.start_drain),
        ]
    )
    return app


@asynccontextmanager
async def serve_admin(
    sock: socket.socket, readout: Readout, drain: Callable[[], None]
) -> AsyncIterator[None]:
    """Serve the admin application on a bound socket for as long as the context lasts."""
    runner = web.AppRunner(make_app(readout, drain), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, sock).start()
        yield
    finally:
        await runner.cleanup()
