"""What the echo agent tells about itself."""

from aiohttp import ClientSession

from herma.drill.echo_agent import ROUTES


async def test_capabilities_name_only_routes_that_are_there(agent: ClientSession) -> None:
    """A client that reads the list can call all of it."""
    async with agent.get("/v1/capabilities") as answer:
        listed = {(entry["method"], entry["path"]) for entry in (await answer.json())["endpoints"].values()}
    assert listed
    assert listed <= {(method, path) for method, path, _ in ROUTES}


async def test_detailed_health_counts_runs_under_way(agent: ClientSession) -> None:
    """A run that waits for an answer is active, a finished one is not."""
    for text in ("RUN:ls", "hello"):
        async with agent.post("/v1/runs", json={"input": text}) as answer:
            assert answer.status == 202
    async with agent.get("/health/detailed") as answer:
        body = await answer.json()
    assert body["active_agents"] == 1
    assert body["readiness"]["checks"]["background_queues"]["active_api_runs"] == 1


async def test_nothing_is_installed_and_nothing_connected(agent: ClientSession) -> None:
    """Skills and tool sets are empty lists, chat platforms are refused."""
    for path in ("/v1/skills", "/v1/toolsets"):
        async with agent.get(path) as answer:
            assert (await answer.json())["data"] == []
    async with agent.post("/api/platforms/telegram/events", json={}) as answer:
        assert answer.status == 503
