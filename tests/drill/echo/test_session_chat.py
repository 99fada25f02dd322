"""Turns inside a session."""

import pytest
from aiohttp import ClientSession

from herma.drill.echo.session_chat import MAX_MESSAGES
from support.event_stream import events

URL = "/api/sessions/one"


@pytest.fixture(autouse=True)
async def _session(agent: ClientSession) -> None:
    async with agent.post("/api/sessions", json={"id": "one"}) as answer:
        assert answer.status == 201


async def test_a_message_is_answered_and_remembered(agent: ClientSession) -> None:
    """The transcript has both sides."""
    async with agent.post(f"{URL}/chat", json={"input": "hello"}) as answer:
        assert (await answer.json())["message"]["content"] == "You said: hello"
        assert answer.headers["X-Hermes-Session-Id"] == "one"
    async with agent.get(f"{URL}/messages") as answer:
        assert [message["content"] for message in (await answer.json())["data"]] == [
            "hello",
            "You said: hello",
        ]


async def test_the_stream_shows_the_command_everywhere_upstream_does(agent: ClientSession) -> None:
    """Preview, arguments and transcript carry it raw: the leak that the gate has to close."""
    async with agent.post(f"{URL}/chat/stream", json={"message": "RUN:ls -l"}) as answer:
        found = events(await answer.text())
    assert [data["seq"] for _, data in found] == list(range(1, len(found) + 1))
    data = dict(found)
    assert list(data)[:4] == ["run.started", "message.started", "tool.started", "tool.completed"]
    assert (found[-2][0], found[-1][0]) == ("run.completed", "done")
    assert data["tool.started"]["preview"] == "ls -l"
    assert data["tool.started"]["args"] == {"command": "ls -l"}
    call = data["run.completed"]["messages"][1]["tool_calls"][0]
    assert call["function"]["arguments"] == '{"command": "ls -l"}'
    deltas = "".join(data["delta"] for name, data in found if name == "assistant.delta")
    assert deltas == data["assistant.completed"]["content"]


async def test_a_plain_message_streams_without_a_tool(agent: ClientSession) -> None:
    """No command, no tool events."""
    async with agent.post(f"{URL}/chat/stream", json={"message": "hi"}) as answer:
        assert "tool.started" not in dict(events(await answer.text()))


@pytest.mark.parametrize("body", [b"{}", b"{", b'{"message": 7}'])
@pytest.mark.parametrize("route", ["chat", "chat/stream"])
async def test_a_turn_needs_a_message(agent: ClientSession, route: str, body: bytes) -> None:
    """No text is a 400, streamed or not."""
    async with agent.post(f"{URL}/{route}", data=body) as answer:
        assert answer.status == 400


async def test_a_transcript_does_not_grow_without_end(agent: ClientSession) -> None:
    """The oldest messages go."""
    for _ in range(MAX_MESSAGES // 2 + 1):
        async with agent.post(f"{URL}/chat", json={"message": "x"}) as answer:
            assert answer.status == 200
    async with agent.get(f"{URL}/messages") as answer:
        assert len((await answer.json())["data"]) == MAX_MESSAGES
