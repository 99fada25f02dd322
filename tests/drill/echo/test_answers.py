"""Bodies in, answers out."""

import pytest
from aiohttp import ClientSession


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/responses", "/v1/runs", "/api/sessions", "/api/jobs"]
)
@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"\xff"])
async def test_a_body_that_is_no_object_is_refused(agent: ClientSession, path: str, body: bytes) -> None:
    """Each route says so in its own envelope; the jobs routes answer 500, as the real ones do."""
    async with agent.post(path, data=body) as answer:
        error = (await answer.json())["error"]
        assert answer.status == (500 if path == "/api/jobs" else 400)
        assert "Invalid JSON" in (error if isinstance(error, str) else error["message"])


async def test_json_answers_carry_security_headers(agent: ClientSession) -> None:
    """What handlers answer has them, as upstream."""
    async with agent.get("/v1/models") as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"


async def test_streams_are_marked_as_such(agent: ClientSession) -> None:
    """Nobody in between may buffer or cache a stream."""
    body = {"stream": True, "messages": [{"role": "user", "content": "hi"}]}
    async with agent.post("/v1/chat/completions", json=body) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert answer.headers["X-Accel-Buffering"] == "no"
        assert answer.headers["Cache-Control"] == "no-cache"
