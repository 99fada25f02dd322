"""The stream that keeps an open page young: what changed of it, as server-sent events.

There are few streams at a time, the page is written once for all of them, and each looks again and again whether it may go on.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

from herma.console.sections import fragments, moment
from herma.console.view import View

__all__ = ["MAX_STREAMS", "Live"]

MAX_STREAMS: Final = 8
INTERVAL_S: Final = 2.0
# Whoever does not read for so long is gone.
SEND_TIMEOUT_S: Final = 10.0
# Then the browser connects anew.
MAX_LOOKS: Final = 1800

_HEADERS: Final = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}


class Live:
    """All streams of the console."""

    def __init__(self, view: Callable[[], Awaitable[View]], interval_s: float = INTERVAL_S) -> None:
        self._view = view
        self._interval_s = interval_s
        self._open = 0
        self._stopping = asyncio.Event()
        self._written: dict[str, str] = {}
        self._at = float("-inf")

    @property
    def full(self) -> bool:
        """Tell whether no further stream is taken."""
        return self._open >= MAX_STREAMS

    def stop(self) -> None:
        """End all streams."""
        self._stopping.set()

    async def serve(self, request: web.Request, holds: Callable[[], Awaitable[bool]]) -> web.StreamResponse:
        """Send changes until the caller leaves, the gate stops, or the credential `holds` no more."""
        response = web.StreamResponse(headers=_HEADERS)
        self._open += 1
        try:
            await response.prepare(request)
            await self._feed(response, holds)
        except (ConnectionError, TimeoutError):
            # There is nobody to tell.
            pass
        finally:
            self._open -= 1
        return response

    async def _feed(self, response: web.StreamResponse, holds: Callable[[], Awaitable[bool]]) -> None:
        sent: dict[str, str] = {}
        for _ in range(MAX_LOOKS):
            if self._stopping.is_set():
                return
            if not await holds():
                await _send(response, "ended", {})
                return
            parts = await self._parts()
            await _send(
                response, "parts", {name: html for name, html in parts.items() if sent.get(name) != html}
            )
            sent = dict(parts)
            try:
                async with asyncio.timeout(self._interval_s):
                    await self._stopping.wait()
            except TimeoutError:
                continue

    async def _parts(self) -> dict[str, str]:
        now = asyncio.get_running_loop().time()
        if now - self._at >= self._interval_s / 2:
            self._at = now
            view = await self._view()
            self._written = {"as-of": moment(view.at)}
            self._written |= {f"{name}-body": html for name, html in fragments(view).items()}
        return self._written


async def _send(response: web.StreamResponse, event: str, data: dict[str, str]) -> None:
    async with asyncio.timeout(SEND_TIMEOUT_S):
        await response.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode("ascii"))
