"""How the ingress answers: the envelope of the route, and what every answer carries."""

import pytest

from support.inprocess import Call, code, gated, json_of
from support.upstream import answer, sse_head

ORIGIN = "https://app.example.com"
CORS = {"origins": [ORIGIN]}
FROM_PAGE = [("Origin", ORIGIN)]


async def test_a_refusal_has_the_shape_that_the_route_s_clients_read() -> None:
    """OpenAI's error object where OpenAI's SDKs call, a flat one for jobs."""
    async with gated() as gate:
        chat = await gate.ask("POST", "/v1/chat/completions", key="reader", body={})
        jobs = await gate.ask("POST", "/api/jobs", key="reader", body={})
        assert json_of(chat)["error"]["code"] == "herma.auth.scope"
        assert json_of(jobs)["code"] == "herma.auth.scope"
        assert isinstance(json_of(jobs)["error"], str)


async def test_a_wrong_method_is_refused_in_the_shape_of_the_path() -> None:
    """The path tells the envelope, and `Allow` the methods."""
    async with gated() as gate:
        response = await gate.ask("PUT", "/api/jobs")
        assert response.status == 405
        assert response.get("allow") == "GET, HEAD, POST"
        assert json_of(response)["code"] == "herma.route.method"


async def test_a_refusal_carries_its_exchange() -> None:
    """The caller can quote the id that stands in the audit."""
    async with gated() as gate:
        response = await gate.ask("GET", "/v1/models", key=None)
        assert response.get("x-herma-exchange") == (await gate.last()).exchange
        assert response.get("content-length") == str(len(response.body))


@pytest.mark.parametrize(
    ("method", "target", "key", "status"),
    [
        ("GET", "/v1/models", None, 401),
        ("POST", "/v1/chat/completions", "reader", 403),
        ("GET", "/v1/runs/run_x", "runner", 404),
        ("DELETE", "/v1/models", "runner", 405),
        ("GET", "/v1/skills", "runner", 503),
    ],
)
async def test_a_page_may_read_why_it_was_refused(
    method: str, target: str, key: str | None, status: int
) -> None:
    """The CORS grant stands on errors too: without it a browser shows the page nothing."""
    async with gated(cors=CORS) as gate:
        gate.agent.on("GET", "/v1/skills", answer(200))
        if status == 503:
            gate.plane.generation.pool.retire()
        response = await gate.ask(method, target, key=key, headers=FROM_PAGE)
        assert response.status == status
        assert response.get("access-control-allow-origin") == ORIGIN
        assert response.get("vary") == "Origin"


async def test_a_page_may_read_answers_and_streams() -> None:
    """The grant stands on whole answers and on those that begin before they end."""

    async def play(call: Call) -> None:
        await call.send(sse_head(headers=[("Access-Control-Allow-Origin", "*")]))
        await call.end()

    async with gated(cors=CORS) as gate:
        gate.agent.on("GET", "/v1/models", {"data": []})
        gate.agent.on("POST", "/v1/chat/completions", play)
        for method, target in (("GET", "/v1/models"), ("POST", "/v1/chat/completions")):
            response = await gate.ask(method, target, headers=FROM_PAGE, body={} if method == "POST" else b"")
            assert response.status == 200
            assert response.get("access-control-allow-origin") == ORIGIN


async def test_what_the_upstream_says_of_origins_is_not_said_twice() -> None:
    """An upstream that varies by origin itself leaves one `Vary: Origin`, and its other words stand."""
    async with gated(cors=CORS) as gate:
        headers = [("Vary", "Origin"), ("Vary", "Accept")]
        gate.agent.on("GET", "/v1/models", answer(200, headers=headers))
        response = await gate.ask("GET", "/v1/models", headers=FROM_PAGE)
        assert sorted(value for name, value in response.headers if name == "vary") == ["Accept", "Origin"]


async def test_without_an_origin_there_is_no_grant() -> None:
    """Nothing is granted that was not asked for."""
    async with gated(cors=CORS) as gate:
        response = await gate.ask("GET", "/v1/models", key=None)
        assert response.get("access-control-allow-origin") is None


async def test_the_refusal_of_a_head_request_has_no_body() -> None:
    """HEAD is answered with a head, whoever refuses."""
    async with gated() as gate:
        talk = await gate.talk("HEAD", "/v1/models", key=None)
        assert talk.status == 401
        assert talk.received.endswith(b"\r\n\r\n")


async def test_a_refused_upload_closes_the_connection() -> None:
    """What was not read cannot be followed by another request."""
    async with gated() as gate:
        response = await gate.ask("POST", "/v1/chat/completions", headers=[("Content-Length", "999999999")])
        assert (response.status, code(response)) == (413, "herma.body.too_large")
        assert response.get("connection") == "close"
