"""Scheduled jobs."""

import pytest
from aiohttp import ClientSession

URL = "/api/jobs"
GOOD = {"name": "news", "schedule": "every 2h", "prompt": "Summarise the news"}


async def _create(agent: ClientSession) -> str:
    async with agent.post(URL, json={**GOOD, "script": "dropped"}) as answer:
        job = (await answer.json())["job"]
    assert "script" not in job
    return str(job["id"])


async def test_a_job_is_created_changed_listed_and_deleted(agent: ClientSession) -> None:
    """Its whole life; fields that may not be set are dropped."""
    job = f"{URL}/{await _create(agent)}"
    async with agent.patch(job, json={"prompt": "other", "script": "dropped"}) as answer:
        assert (await answer.json())["job"]["prompt"] == "other"
    async with agent.get(job) as answer:
        assert (await answer.json())["job"]["name"] == "news"
    async with agent.get(URL) as answer:
        assert len((await answer.json())["jobs"]) == 1
    async with agent.delete(job) as answer:
        assert await answer.json() == {"ok": True}
    async with agent.delete(job) as answer:
        assert (answer.status, await answer.json()) == (404, {"error": "Job not found"})


@pytest.mark.parametrize(
    ("verb", "field", "value"),
    [("pause", "state", "paused"), ("resume", "enabled", True), ("run", "id", None)],
)
async def test_a_job_is_paused_resumed_and_run(
    agent: ClientSession, verb: str, field: str, value: object
) -> None:
    """Each verb answers with the job as it is then."""
    job = await _create(agent)
    async with agent.post(f"{URL}/{job}/{verb}") as answer:
        assert (await answer.json())["job"][field] == (value or job)
    async with agent.post(f"{URL}/000000000000/{verb}") as answer:
        assert answer.status == 404


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "x" * 201},
        {"name": 7},
        {"schedule": " "},
        {"schedule": None},
        {"prompt": "x" * 5001},
        {"prompt": ["x"]},
    ],
)
async def test_a_bad_field_is_refused_on_create_and_on_change(
    agent: ClientSession, change: dict[str, object]
) -> None:
    """Both ways in have the same rules."""
    job = await _create(agent)
    async with agent.post(URL, json={**GOOD, **change}) as answer:
        assert answer.status == 400
    async with agent.patch(f"{URL}/{job}", json=change) as answer:
        assert answer.status == 400


@pytest.mark.parametrize("body", [b"{}", b"{", b'{"script": "x"}'])
async def test_a_change_that_changes_nothing_is_refused(agent: ClientSession, body: bytes) -> None:
    """At least one field that may change is needed."""
    async with agent.patch(f"{URL}/{await _create(agent)}", data=body) as answer:
        assert answer.status == 400


async def test_the_remote_trigger_has_no_issuer(agent: ClientSession) -> None:
    """The API key is no fire token."""
    async with agent.post("/api/cron/fire", json={"job_id": "x"}) as answer:
        assert (answer.status, await answer.json()) == (401, {"error": "invalid fire token"})
