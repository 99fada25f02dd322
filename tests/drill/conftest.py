"""An echo agent to talk to, with a clock that stands still."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from herma.drill import make_app
from herma.policy.secret import Secret

KEY = "echo-agent-fake-key-for-tests"
NOW = 1_800_000_000.5


@pytest.fixture
def app() -> web.Application:
    return make_app(Secret(KEY.encode()), clock=lambda: NOW)


@pytest.fixture
async def server(app: web.Application) -> AsyncIterator[TestServer]:
    async with TestServer(app) as server:
        yield server


@pytest.fixture
async def agent(server: TestServer) -> AsyncIterator[ClientSession]:
    """A client that holds the key."""
    async with ClientSession(server.make_url("/"), headers={"Authorization": f"Bearer {KEY}"}) as session:
        yield session


@pytest.fixture
async def stranger(server: TestServer) -> AsyncIterator[ClientSession]:
    """A client without a key."""
    async with ClientSession(server.make_url("/")) as session:
        yield session
