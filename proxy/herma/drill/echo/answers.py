"""Bodies in and answers out: JSON, the two error envelopes, and event streams."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from herma.drill.echo.state import STATE

__all__ = ["EventStream", "body_of", "flat_error", "ok", "openai_error"]

# What the real server puts on the answers its handlers make, and not on its streams.
_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}


def ok(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer with JSON."""
    return web.json_response(value, status=status, headers={**_SECURITY, **(headers or {})})


def openai_error(status: int, message: str, code: str | None = None) -> web.Response:
    """Answer in the envelope of `/v1/*` and `/api/sessions*`."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return ok({"error": error}, status)


def flat_error(status: int, message: str) -> web.Response:
    """Answer in the envelope of `/api/jobs*` and `/api/cron/fire`."""
    return ok({"error": message}, status)


async def body_of(request: web.Request) -> dict[str, Any] | None:
    """Read a JSON object; None when the body is anything else. An empty body is an empty object."""
    raw = await request.read()
    try:
        value = json.loads(raw or b"{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


class EventStream:
    """A server-sent event stream under way."""

    def __init__(self, response: web.StreamResponse, pace_s: float) -> None:
        self.response = response
        self._pace_s = pace_s

    @classmethod
    async def open(cls, request: web.Request, headers: Mapping[str, str] | None = None) -> "EventStream":
        """Send the head."""
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-cache",
                "X-Accel-Buffering": "no",
                **(headers or {}),
            }
        )
        await response.prepare(request)
        return cls(response, request.app[STATE].pace_s)

    async def send(self, data: Any, event: str = "") -> None:
        """Send one event."""
        name = f"event: {event}\n" if event else ""
        await self.raw(f"{name}data: {json.dumps(data)}\n\n")

    async def raw(self, text: str) -> None:
        """Send what is a whole frame already: a comment, the `[DONE]` mark."""
        await self.response.write(text.encode())

    async def pause(self) -> None:
        """Wait between two words, as a model would."""
        await asyncio.sleep(self._pace_s)
