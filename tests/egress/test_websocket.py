"""Messages of WebSockets, through the running gate."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMsgType, web

from herma.egress.line import Failed, Sent
from support.egress_process import child, ready
from support.redactor import GITHUB

PATIENCE_S = 30


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, list[str]]]:
    """A server that remembers what it is told."""
    seen: list[str] = []

    async def socket(request: web.Request) -> web.WebSocketResponse:
        answer = web.WebSocketResponse()
        await answer.prepare(request)
        async for message in answer:
            if message.type is WSMsgType.TEXT:
                seen.append(message.data)
                await answer.send_str("heard")
        return answer

    app = web.Application()
    app.router.add_get("/", socket)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1], seen
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("platform", [True, False])
async def test_a_message_is_masked_for_people_and_dropped_for_strangers(
    tmp_path: Path, *, platform: bool
) -> None:
    """What is innocent arrives as it is."""
    async with asyncio.timeout(PATIENCE_S), listening() as (port, seen):
        host = f"127.0.0.1:{port}"
        section = {"near": [host], **({"platforms": {"matrix": {"hosts": [host]}}} if platform else {})}
        with child(tmp_path, section) as started:
            await asyncio.to_thread(ready, started)
            proxy = f"http://127.0.0.1:{started.port}"
            async with (
                ClientSession() as session,
                session.ws_connect(f"http://{host}/", proxy=proxy) as socket,
            ):
                await socket.send_str("hello")
                assert (await socket.receive()).data == "heard"
                await socket.send_str(f'{{"text": "{GITHUB}"}}')
                answer = await socket.receive()
                assert (answer.type is WSMsgType.TEXT) is platform
            assert await asyncio.to_thread(started.end) == 0
            assert await asyncio.to_thread(started.hear, Failed) is None
    assert any(isinstance(message, Sent) for message in started.said)
    assert seen[0] == "hello"
    assert not [text for text in seen if GITHUB in text]
    assert len(seen) == (2 if platform else 1)
    assert not platform or seen[1].startswith('{"text": "[')
