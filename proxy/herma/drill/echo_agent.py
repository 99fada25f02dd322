"""An agent server that thinks nothing and runs nothing, with the routes and streams of a hermes-agent API server.

It lets a newcomer see the gate work before there is an agent, and gives tests an upstream that answers the same thing
every time. A message `RUN:<command>` asks for approval of the command, which is shown raw, as the real server does.
"""

import ipaddress
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from herma.drill.echo import chat, jobs, readout, responses, runs, session_chat, sessions, sockets
from herma.drill.echo.access import let_go, require_key
from herma.drill.echo.state import STATE, EchoState
from herma.policy.secret import Secret

__all__ = ["ROUTES", "make_app", "serve_echo"]

# The body cap of the server it stands for.
MAX_BODY_BYTES = 10_000_000

# Seconds that open streams get to end when the agent is stopped; nothing is lost with them.
STOP_TIMEOUT_S = 1.0

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/health", readout.health),
    ("GET", "/v1/health", readout.health),
    ("GET", "/health/detailed", readout.health_detailed),
    ("GET", "/v1/models", readout.models),
    ("GET", "/v1/capabilities", readout.capabilities),
    ("GET", "/v1/skills", readout.nothing_installed),
    ("GET", "/v1/toolsets", readout.nothing_installed),
    ("POST", "/v1/chat/completions", chat.complete),
    ("POST", "/v1/responses", responses.create),
    ("GET", "/v1/responses/{response_id}", responses.read),
    ("DELETE", "/v1/responses/{response_id}", responses.delete),
    ("POST", "/v1/runs", runs.start),
    ("GET", "/v1/runs/{run_id}", runs.read),
    ("GET", "/v1/runs/{run_id}/events", runs.events),
    ("POST", "/v1/runs/{run_id}/approval", runs.approve),
    ("POST", "/v1/runs/{run_id}/stop", runs.stop),
    ("GET", "/api/sessions", sessions.index),
    ("POST", "/api/sessions", sessions.create),
    ("GET", "/api/sessions/{session_id}", sessions.read),
    ("PATCH", "/api/sessions/{session_id}", sessions.update),
    ("DELETE", "/api/sessions/{session_id}", sessions.delete),
    ("GET", "/api/sessions/{session_id}/messages", sessions.messages),
    ("POST", "/api/sessions/{session_id}/fork", sessions.fork),
    ("POST", "/api/sessions/{session_id}/chat", session_chat.chat),
    ("POST", "/api/sessions/{session_id}/chat/stream", session_chat.stream),
    ("GET", "/api/jobs", jobs.index),
    ("POST", "/api/jobs", jobs.create),
    ("GET", "/api/jobs/{job_id}", jobs.read),
    ("PATCH", "/api/jobs/{job_id}", jobs.update),
    ("DELETE", "/api/jobs/{job_id}", jobs.delete),
    ("POST", "/api/jobs/{job_id}/pause", jobs.pause),
    ("POST", "/api/jobs/{job_id}/resume", jobs.resume),
    ("POST", "/api/jobs/{job_id}/run", jobs.run_now),
    ("POST", "/api/cron/fire", jobs.fire),
    ("POST", "/api/platforms/{platform}/events", readout.no_platform),
    ("GET", "/api/ws", sockets.echo),
)


def make_app(key: Secret, *, clock: Callable[[], float] = time.time, pace_s: float = 0.0) -> web.Application:
    """Build the application.

    Args:
        key: What callers must present as `Authorization: Bearer …`.
        clock: Where time stamps come from; a fixed one makes every answer repeatable.
        pace_s: Seconds between two words of a stream, so that a person sees it stream.
    """
    app = web.Application(middlewares=[let_go, require_key], client_max_size=MAX_BODY_BYTES)
    app[STATE] = EchoState(key, clock, pace_s)
    for method, path, handler in ROUTES:
        app.router.add_route(method, path, handler)
        app.router.add_route(method, "/p/{profile}" + path, handler)
    return app


@asynccontextmanager
async def serve_echo(host: str, port: int, key: Secret, *, pace_s: float = 0.0) -> AsyncIterator[int]:
    """Serve the echo agent while the block runs, and give the port it listens on.

    Args:
        host: A loopback address; the echo agent is not for exposing.
        port: 0 takes a free one.
        key: As for `make_app`.
        pace_s: As for `make_app`.
    """
    if not ipaddress.ip_address(host).is_loopback:
        raise ValueError("the echo agent listens on loopback only")
    runner = web.AppRunner(make_app(key, pace_s=pace_s), access_log=None, shutdown_timeout=STOP_TIMEOUT_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
