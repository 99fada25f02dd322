"""The responses API."""

from aiohttp import ClientSession

from support.event_stream import events

URL = "/v1/responses"


async def test_a_response_is_stored_read_and_deleted(agent: ClientSession) -> None:
    """What was created can be read until it is deleted."""
    async with agent.post(URL, json={"input": "hello"}) as answer:
        created = await answer.json()
    assert created["status"] == "completed"
    assert created["output"][0]["content"][0]["text"] == "You said: hello"
    async with agent.get(f"{URL}/{created['id']}") as answer:
        assert await answer.json() == created
    async with agent.delete(f"{URL}/{created['id']}") as answer:
        assert (await answer.json())["deleted"] is True
    async with agent.get(f"{URL}/{created['id']}") as answer:
        assert answer.status == 404
    async with agent.delete(f"{URL}/{created['id']}") as answer:
        assert answer.status == 404


async def test_store_false_keeps_nothing(agent: ClientSession) -> None:
    """A response that was not to be stored cannot be read."""
    async with agent.post(URL, json={"input": "hello", "store": False}) as answer:
        created = await answer.json()
    async with agent.get(f"{URL}/{created['id']}") as answer:
        assert answer.status == 404


async def test_the_stream_is_numbered_and_ends_with_the_whole(agent: ClientSession) -> None:
    """Sequence numbers have no gap, the last event repeats every item with the raw command."""
    async with agent.post(URL, json={"input": "RUN:ls -l", "stream": True}) as answer:
        found = events(await answer.text())
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert all(name == data["type"] for name, data in found)
    assert (found[0][0], found[-1][0]) == ("response.created", "response.completed")
    call, result, message = found[-1][1]["response"]["output"]
    assert (call["type"], call["arguments"]) == ("function_call", '{"command": "ls -l"}')
    assert "pending_approval" in result["output"]
    deltas = [data["delta"] for name, data in found if name == "response.output_text.delta"]
    assert "".join(deltas) == message["content"][0]["text"]


async def test_an_input_and_a_known_predecessor_are_needed(agent: ClientSession) -> None:
    """No input is a 400, an unknown previous response a 404."""
    async with agent.post(URL, json={}) as answer:
        assert answer.status == 400
    async with agent.post(URL, json={"input": "x", "previous_response_id": "resp_none"}) as answer:
        assert answer.status == 404
