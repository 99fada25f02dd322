"""Chat completions."""

import pytest
from aiohttp import ClientSession

from support.event_stream import events

URL = "/v1/chat/completions"
COMMAND = "curl -H 'X-Token: fake-token-0001' example.test"


def _body(text: str, **more: object) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


async def test_the_last_message_is_answered(agent: ClientSession) -> None:
    """The answer echoes it, with usage and the session's id."""
    async with agent.post(URL, json=_body("hello there")) as answer:
        body = await answer.json()
        assert answer.headers["X-Hermes-Session-Id"].startswith("api-")
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "You said: hello there"}
    assert body["usage"] == {"prompt_tokens": 2, "completion_tokens": 4, "total_tokens": 6}


async def test_the_callers_session_id_is_kept(agent: ClientSession) -> None:
    """A session named in the header comes back in the header."""
    async with agent.post(URL, json=_body("x"), headers={"X-Hermes-Session-Id": "mine"}) as answer:
        assert answer.headers["X-Hermes-Session-Id"] == "mine"


async def test_the_stream_adds_up_and_ends_with_done(agent: ClientSession) -> None:
    """The deltas together are the whole answer."""
    async with agent.post(URL, json=_body("hello there", stream=True)) as answer:
        found = events(await answer.text())
    assert found[-1] == ("", "[DONE]")
    deltas = [data["choices"][0]["delta"].get("content", "") for _, data in found[:-1]]
    assert "".join(deltas) == "You said: hello there"
    assert found[-2][1]["choices"][0]["finish_reason"] == "stop"


async def test_a_command_shows_raw_in_the_progress_event(agent: ClientSession) -> None:
    """This is the leak that the gate has to close."""
    async with agent.post(URL, json=_body(f"RUN:{COMMAND}", stream=True)) as answer:
        found = events(await answer.text())
    progress = [data for name, data in found if name == "hermes.tool.progress"]
    assert [entry["status"] for entry in progress] == ["running", "completed"]
    assert progress[0]["label"] == COMMAND


@pytest.mark.parametrize("messages", [None, [], "text"])
async def test_messages_must_be_a_list_with_something_in_it(agent: ClientSession, messages: object) -> None:
    """Anything else is a 400."""
    async with agent.post(URL, json={"messages": messages}) as answer:
        assert answer.status == 400
