"""Sessions."""

import pytest
from aiohttp import ClientSession

URL = "/api/sessions"


async def _create(agent: ClientSession, **body: object) -> None:
    async with agent.post(URL, json=body) as answer:
        assert answer.status == 201


async def test_a_session_is_created_renamed_listed_and_deleted(agent: ClientSession) -> None:
    """Its whole life."""
    await _create(agent, id="one", title="first")
    async with agent.patch(f"{URL}/one", json={"title": "renamed"}) as answer:
        assert (await answer.json())["session"]["title"] == "renamed"
    async with agent.get(URL) as answer:
        assert [session["title"] for session in (await answer.json())["data"]] == ["renamed"]
    async with agent.delete(f"{URL}/one") as answer:
        assert (await answer.json())["deleted"] is True
    async with agent.get(f"{URL}/one") as answer:
        assert answer.status == 404


async def test_a_fork_takes_the_messages_along(agent: ClientSession) -> None:
    """The copy has a parent and the same transcript; an id in use is a conflict."""
    await _create(agent, id="one", title="first")
    async with agent.post(f"{URL}/one/chat", json={"message": "hello"}) as answer:
        assert answer.status == 200
    async with agent.post(f"{URL}/one/fork", json={"id": "two"}) as answer:
        session = (await answer.json())["session"]
        assert (answer.status, session["parent_session_id"], session["message_count"]) == (201, "one", 2)
    async with agent.get(f"{URL}/two/messages") as answer:
        assert [message["role"] for message in (await answer.json())["data"]] == ["user", "assistant"]
    async with agent.post(f"{URL}/one/fork", json={"id": "two"}) as answer:
        assert answer.status == 409
    async with agent.post(f"{URL}/one/fork", data=b"{") as answer:
        assert answer.status == 400


async def test_ids_are_strings_and_made_up_when_missing(agent: ClientSession) -> None:
    """A number is refused, no id at all gets one."""
    async with agent.post(URL, json={"id": 7}) as answer:
        assert answer.status == 400
    await _create(agent)


@pytest.mark.parametrize("body", [{}, {"source": "x"}, {"title": "x", "id": "y"}])
async def test_only_title_and_end_reason_change(agent: ClientSession, body: dict[str, str]) -> None:
    """Anything else in the change refuses all of it."""
    await _create(agent, id="one")
    async with agent.patch(f"{URL}/one", json=body) as answer:
        assert answer.status == 400


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/messages"),
        ("POST", "/fork"),
        ("POST", "/chat"),
        ("POST", "/chat/stream"),
    ],
)
async def test_an_unknown_session_is_not_found(agent: ClientSession, method: str, rest: str) -> None:
    """Every route of a session says so in the same words."""
    async with agent.request(method, f"{URL}/none{rest}", json={}) as answer:
        assert (answer.status, (await answer.json())["error"]["code"]) == (404, "session_not_found")
