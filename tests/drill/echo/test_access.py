"""The key of the echo agent."""

import asyncio
import json

import pytest
from aiohttp import ClientSession

from herma.drill import serve_echo
from herma.policy.secret import Secret

KEY = "echo-agent-fake-key-for-tests"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"bearer {KEY}"},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": KEY},
        {"Authorization": "Bearer "},
        {"X-API-Key": KEY},
    ],
)
async def test_without_the_key_nothing_is_told(stranger: ClientSession, headers: dict[str, str]) -> None:
    """Only `Bearer` with the right key opens, exactly as on the real server."""
    async with stranger.get("/v1/models", headers=headers) as answer:
        assert answer.status == 401
        assert (await answer.json())["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize("path", ["/health", "/v1/health", "/p/x/health"])
async def test_liveness_needs_no_key(stranger: ClientSession, path: str) -> None:
    """A probe can ask without a key."""
    async with stranger.get(path) as answer:
        assert answer.status == 200


async def test_unknown_paths_are_404_without_a_key(stranger: ClientSession) -> None:
    """The real server's router answers before its key check does."""
    async with stranger.get("/nowhere") as answer:
        assert answer.status == 404
    async with stranger.put("/v1/models") as answer:
        assert answer.status == 405


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
async def test_a_caller_that_hangs_up_is_no_error(caplog: pytest.LogCaptureFixture, path: str) -> None:
    """Nothing is written about it: whoever runs the drill would take it for a failure of the gate."""
    text = "word " * 500
    data = json.dumps({"stream": True, "messages": [{"role": "user", "content": text}], "input": text})
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {len(data)}\r\n\r\n"
    async with serve_echo("127.0.0.1", 0, Secret(KEY.encode()), pace_s=0.001) as port:
        before = len(asyncio.all_tasks())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((head + data).encode())
        await reader.readuntil(b"word")
        writer.transport.abort()
        async with asyncio.timeout(10):
            # The server has a task for each connection.
            while len(asyncio.all_tasks()) > before:
                await asyncio.sleep(0)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
