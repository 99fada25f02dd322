"""What the echo agent tells about itself."""

from aiohttp import web

from herma.drill.echo.answers import flat_error, ok
from herma.drill.echo.state import STATE

__all__ = ["MODEL", "capabilities", "health", "health_detailed", "models", "no_platform", "nothing_installed"]

MODEL = "echo-agent"
_VERSION = "0.19.0"

# Name, method and path of what the real server lists. It leaves the jobs API out, so this list does too.
_ENDPOINTS = (
    ("health", "GET", "/health"),
    ("health_detailed", "GET", "/health/detailed"),
    ("models", "GET", "/v1/models"),
    ("chat_completions", "POST", "/v1/chat/completions"),
    ("responses", "POST", "/v1/responses"),
    ("runs", "POST", "/v1/runs"),
    ("run_status", "GET", "/v1/runs/{run_id}"),
    ("run_events", "GET", "/v1/runs/{run_id}/events"),
    ("run_approval", "POST", "/v1/runs/{run_id}/approval"),
    ("run_stop", "POST", "/v1/runs/{run_id}/stop"),
    ("skills", "GET", "/v1/skills"),
    ("toolsets", "GET", "/v1/toolsets"),
    ("sessions", "GET", "/api/sessions"),
    ("session_create", "POST", "/api/sessions"),
    ("session", "GET", "/api/sessions/{session_id}"),
    ("session_update", "PATCH", "/api/sessions/{session_id}"),
    ("session_delete", "DELETE", "/api/sessions/{session_id}"),
    ("session_messages", "GET", "/api/sessions/{session_id}/messages"),
    ("session_fork", "POST", "/api/sessions/{session_id}/fork"),
    ("session_chat", "POST", "/api/sessions/{session_id}/chat"),
    ("session_chat_stream", "POST", "/api/sessions/{session_id}/chat/stream"),
)


async def health(_: web.Request) -> web.Response:
    """Tell that it is alive; the only answer without a key."""
    return ok({"status": "ok", "platform": MODEL, "version": _VERSION})


async def health_detailed(request: web.Request) -> web.Response:
    """Tell how many runs are under way."""
    active = sum(not run.ended for run in request.app[STATE].runs.values())
    queues = {"status": "ok", "active_api_runs": active, "process_completions": 0, "active_delegations": 0}
    return ok(
        {
            "status": "ok",
            "readiness": {"status": "ok", "checks": {"background_queues": queues}},
            "platform": MODEL,
            "version": _VERSION,
            "gateway_state": "running",
            "active_agents": active,
        }
    )


async def models(request: web.Request) -> web.Response:
    """List the one model."""
    model = {"id": MODEL, "object": "model", "created": int(request.app[STATE].clock()), "owned_by": "herma"}
    return ok({"object": "list", "data": [model]})


async def capabilities(_: web.Request) -> web.Response:
    """List the routes."""
    endpoints = {name: {"method": method, "path": path} for name, method, path in _ENDPOINTS}
    return ok(
        {
            "object": "hermes.api_server.capabilities",
            "platform": MODEL,
            "model": MODEL,
            "auth": {"type": "bearer", "required": True},
            "endpoints": endpoints,
        }
    )


async def nothing_installed(_: web.Request) -> web.Response:
    """List no skills and no toolsets."""
    return ok({"object": "list", "data": []})


async def no_platform(_: web.Request) -> web.Response:
    """Refuse a chat platform's event: none is connected."""
    return flat_error(503, "Platform is not connected")
