"""The key of the echo agent."""

import pytest
from aiohttp import ClientSession

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
