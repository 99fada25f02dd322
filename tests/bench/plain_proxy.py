"""A reverse proxy as one would write it with aiohttp in an afternoon: bearer check, forward, stream back."""

import sys
from collections.abc import Awaitable, Callable

import aiohttp
import uvloop
from aiohttp import web

HOP = {
    "host",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "authorization",
    "content-length",
}


def forwarder(upstream: str, key: str) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    """Return the handler."""
    session: aiohttp.ClientSession | None = None

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal session
        if request.headers.get("Authorization") != f"Bearer {key}":
            return web.json_response({"error": "unauthorized"}, status=401)
        if session is None:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None),
            )
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        body = request.content if request.body_exists else None
        async with session.request(
            request.method, upstream + request.raw_path, headers=headers, data=body, allow_redirects=False
        ) as answer:
            response = web.StreamResponse(status=answer.status)
            response.headers.update({n: v for n, v in answer.headers.items() if n.lower() not in HOP})
            if answer.content_length is not None:
                response.content_length = answer.content_length
            await response.prepare(request)
            async for data in answer.content.iter_any():
                await response.write(data)
            await response.write_eof()
            return response

    return handle


async def main(port: int, upstream: str, key: str) -> None:
    """Serve until the process is ended."""
    import asyncio

    runner = web.ServerRunner(web.Server(forwarder(upstream, key)))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=4096).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
