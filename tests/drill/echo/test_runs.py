"""The runs API."""

from typing import Any

import pytest
from aiohttp import ClientSession

from herma.drill.echo import runs
from support.event_stream import events


async def _start(agent: ClientSession, text: str) -> str:
    async with agent.post("/v1/runs", json={"input": text}) as answer:
        assert answer.status == 202
        body: dict[str, Any] = await answer.json()
    assert body["status"] == "started"
    return str(body["run_id"])


async def test_a_run_is_followed_approved_and_completed(agent: ClientSession) -> None:
    """The whole way of a command: shown, asked for, approved, told."""
    run = await _start(agent, "RUN:rm -r scratch")
    async with agent.get(f"/v1/runs/{run}/events") as stream:
        async with agent.get(f"/v1/runs/{run}") as answer:
            assert (await answer.json())["status"] == "waiting_for_approval"
        async with agent.post(f"/v1/runs/{run}/approval", json={"choice": "once"}) as answer:
            assert (await answer.json())["resolved"] == 1
        text = await stream.text()
    names = [data["event"] for _, data in events(text)]
    assert names[:4] == ["tool.started", "approval.request", "approval.responded", "tool.completed"]
    assert names[-1] == "run.completed"
    assert text.endswith(": stream closed\n\n")


async def test_a_silent_stream_is_kept_alive(agent: ClientSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment comes when nothing else does."""
    monkeypatch.setattr(runs, "KEEPALIVE_S", 0.001)
    run = await _start(agent, "RUN:ls")
    async with agent.get(f"/v1/runs/{run}/events") as stream:
        while await stream.content.readline() != b": keepalive\n":
            pass
        async with agent.post(f"/v1/runs/{run}/stop") as answer:
            assert (await answer.json())["status"] == "stopping"


async def test_a_stream_has_one_reader(agent: ClientSession) -> None:
    """After the first reader the stream is gone."""
    run = await _start(agent, "hello")
    async with agent.get(f"/v1/runs/{run}/events") as first:
        assert first.status == 200
        await first.read()
    async with agent.get(f"/v1/runs/{run}/events") as second:
        assert second.status == 404


async def test_a_wrong_answer_is_told_what_was_expected(agent: ClientSession) -> None:
    """The run goes on waiting."""
    run = await _start(agent, "RUN:ls")
    async with agent.post(f"/v1/runs/{run}/approval", json={"choice": "maybe"}) as answer:
        assert answer.status == 400
        assert (await answer.json())["error"]["code"] == "invalid_approval_choice"
    async with agent.post(f"/v1/runs/{run}/approval", data=b"{") as answer:
        assert answer.status == 400


async def test_a_finished_run_takes_no_answer_and_no_stop(agent: ClientSession) -> None:
    """Answering is a conflict, stopping finds nothing."""
    run = await _start(agent, "hello")
    async with agent.post(f"/v1/runs/{run}/approval", json={"choice": "once"}) as answer:
        assert (answer.status, (await answer.json())["error"]["code"]) == (409, "approval_not_active")
    async with agent.post(f"/v1/runs/{run}/stop") as answer:
        assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "rest"), [("GET", ""), ("GET", "/events"), ("POST", "/approval"), ("POST", "/stop")]
)
async def test_an_unknown_run_is_not_found(agent: ClientSession, method: str, rest: str) -> None:
    """Every route of a run says so in the same words."""
    async with agent.request(method, f"/v1/runs/run_none{rest}") as answer:
        assert (answer.status, (await answer.json())["error"]["code"]) == (404, "run_not_found")


async def test_a_run_needs_an_input(agent: ClientSession) -> None:
    """Nothing to do is a 400."""
    async with agent.post("/v1/runs", json={}) as answer:
        assert answer.status == 400
