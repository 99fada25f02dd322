"""Who may ask: whoever holds the one key, as on the real server."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from herma.drill.echo.answers import ok
from herma.drill.echo.state import STATE

__all__ = ["let_go", "require_key"]

_OPEN = ("/health", "/v1/health")
_BEARER = "Bearer "


@web.middleware
async def require_key(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse requests without the key; unknown paths are 404 with and without one, as upstream."""
    resource = request.match_info.route.resource
    path = resource.canonical.removeprefix("/p/{profile}") if resource else ""
    if resource is not None and path not in _OPEN:
        presented = request.headers.get("Authorization", "")
        key = presented.removeprefix(_BEARER).strip().encode() if presented.startswith(_BEARER) else b""
        if not request.app[STATE].key.matches(key):
            # The real server's answer, word for word a contract of its clients: no `param`, no WWW-Authenticate.
            error = {"message": "Invalid API key", "type": "invalid_request_error", "code": "invalid_api_key"}
            return ok({"error": error}, 401)
    return await handler(request)


@web.middleware
async def let_go(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """End quietly what nobody reads any more: a caller may hang up, and the drill lets some do so."""
    try:
        return await handler(request)
    except ConnectionResetError:
        return web.Response(status=499)
