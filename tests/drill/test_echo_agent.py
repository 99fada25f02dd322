"""The echo agent as a whole."""

import io

import pytest
from aiohttp import ClientSession

from herma.drill import serve_echo
from herma.drill.echo_agent import ROUTES
from herma.policy.secret import Secret

KEY = Secret(b"echo-agent-fake-key-for-tests")


async def test_serves_on_a_free_loopback_port_while_the_block_runs() -> None:
    """Port 0 gives a real port, which answers."""
    async with (
        serve_echo("127.0.0.1", 0, KEY) as port,
        ClientSession() as client,
        client.get(f"http://127.0.0.1:{port}/health") as answer,
    ):
        assert (answer.status, (await answer.json())["status"]) == (200, "ok")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "10.0.0.1"])
async def test_refuses_to_listen_beyond_loopback(host: str) -> None:
    """The echo agent cannot be exposed by a mistake in an address."""
    with pytest.raises(ValueError, match="loopback only"):
        async with serve_echo(host, 0, KEY):
            pass


async def test_every_route_has_its_profile_twin(agent: ClientSession) -> None:
    """`/p/{profile}` in front of a path changes nothing, whatever the profile is called."""
    async with agent.get("/p/anything/v1/models") as twin, agent.get("/v1/models") as plain:
        assert twin.status == 200
        assert await twin.json() == await plain.json()


def test_no_route_is_listed_twice() -> None:
    """The table has one line a method and path."""
    assert len({(method, path) for method, path, _ in ROUTES}) == len(ROUTES)


async def test_a_body_over_the_cap_is_refused(agent: ClientSession) -> None:
    """Ten megabytes pass, one byte more does not."""
    async with agent.post("/v1/runs", data=io.BytesIO(b" " * 10_000_001)) as answer:
        assert answer.status == 413
