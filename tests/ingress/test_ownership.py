"""What belongs to whom: runs, responses, sessions and conversations, wherever a request names them."""

import json

import pytest

from support.inprocess import Gated, code, event, gated, sse
from support.raw import Response
from support.upstream import answer

RUN = "run_00000000000000000000000000000001"
RESPONSE = "resp_00000000000000000000000000000001"
SESSION = [("X-Hermes-Session-Id", "project-one")]
# Every route that acts on a run, with a body where one is needed.
ON_RUN = {
    "read": ("GET", f"/v1/runs/{RUN}", b""),
    "events": ("GET", f"/v1/runs/{RUN}/events", b""),
    "approve": ("POST", f"/v1/runs/{RUN}/approval", b'{"choice":"once"}'),
    "stop": ("POST", f"/v1/runs/{RUN}/stop", b""),
    "steer": ("POST", f"/v1/runs/{RUN}/steer", b'{"input":"x"}'),
    "prefixed": ("GET", f"/p/team/v1/runs/{RUN}", b""),
    "unknown below": ("GET", f"/v1/runs/{RUN}/new", b""),
}


async def _started(gate: Gated, key: str = "runner") -> None:
    """Let a key start a run, and let the agent answer for it."""
    gate.agent.on("POST", "/v1/runs", answer(202, json.dumps({"run_id": RUN}).encode()))
    for method, path, _ in ON_RUN.values():
        gate.agent.on(method, path, {"run_id": RUN, "status": "running"})
    assert (await gate.ask("POST", "/v1/runs", key=key, body={"input": "x"})).status == 202
    gate.agent.calls.clear()


async def _post(gate: Gated, target: str, body: object, key: str, **parts: object) -> Response:
    return await gate.ask("POST", target, key=key, body=body, **parts)


@pytest.mark.parametrize("name", ON_RUN)
async def test_a_run_of_another_key_is_not_there(name: str) -> None:
    """Another key is told what it would be told of a run that does not exist; the upstream sees nothing."""
    method, target, body = ON_RUN[name]
    async with gated() as gate:
        await _started(gate)
        foreign = await gate.ask(method, target, key="other", body=body)
        absent = await gate.ask(method, target.replace(RUN, RUN[:-1] + "2"), key="other", body=body)
        assert (foreign.status, code(foreign)) == (404, "herma.owner.unknown")
        assert (foreign.status, foreign.body) == (absent.status, absent.body)
        assert gate.agent.calls == []


@pytest.mark.parametrize("name", ON_RUN)
@pytest.mark.parametrize("key", ["runner", "mate", "admin"])
async def test_a_run_is_there_for_its_own(name: str, key: str) -> None:
    """The key that started it, a key of its group, and one with `admin`."""
    method, target, body = ON_RUN[name]
    async with gated() as gate:
        await _started(gate)
        response = await gate.ask(method, target, key=key, body=body)
        assert response.status == 200
        assert gate.agent.asked == [f"{method} {target}"]


async def test_a_run_that_nobody_is_known_to_own_is_for_admin() -> None:
    """After a restart owners are forgotten: nobody can pick a run up by guessing."""
    async with gated() as gate:
        gate.agent.on("GET", f"/v1/runs/{RUN}", {"run_id": RUN, "status": "running"})
        assert (await gate.ask("GET", f"/v1/runs/{RUN}")).status == 404
        assert (await gate.ask("GET", f"/v1/runs/{RUN}", key="admin")).status == 200


async def test_looking_at_a_run_does_not_take_it() -> None:
    """Nor does an admin's look."""
    async with gated() as gate:
        await gate.ask("GET", f"/v1/runs/{RUN}", key="other")
        await gate.ask("GET", f"/v1/runs/{RUN}", key="admin")
        assert await gate.store.owner("run", RUN) is None


@pytest.mark.parametrize("target", ["/v1/runs/" + "x" * 300, "/v1/responses/" + "x" * 300])
async def test_what_is_too_long_for_an_id_is_none(target: str) -> None:
    """Not even for an admin; it is not remembered either."""
    async with gated() as gate:
        assert (await gate.ask("GET", target, key="admin")).status == 404
        assert gate.agent.calls == []


# --- stored responses


async def _responded(gate: Gated, *, stream: bool) -> None:
    document = {"id": RESPONSE, "object": "response", "status": "completed", "output": []}
    if stream:
        created = {"type": "response.created", "response": {"id": RESPONSE, "object": "response"}}
        done = {"type": "response.completed", "response": document}
        gate.agent.on(
            "POST",
            "/v1/responses",
            sse(event(created, "response.created"), event(done, "response.completed")),
        )
    else:
        gate.agent.on("POST", "/v1/responses", document)
    gate.agent.on("GET", f"/v1/responses/{RESPONSE}", document)
    response = await gate.ask("POST", "/v1/responses", body={"input": "x", "stream": stream})
    assert response.status == 200
    gate.agent.calls.clear()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_response_belongs_to_the_key_that_made_it(stream: bool) -> None:
    """Its path is not there for another key, whether the answer came whole or as a stream."""
    async with gated() as gate:
        await _responded(gate, stream=stream)
        assert (await gate.ask("GET", f"/v1/responses/{RESPONSE}", key="other")).status == 404
        assert (await gate.ask("DELETE", f"/v1/responses/{RESPONSE}", key="other")).status == 404
        assert gate.agent.calls == []
        assert (await gate.ask("GET", f"/v1/responses/{RESPONSE}")).status == 200


@pytest.mark.parametrize("target", ["/v1/responses", "/v1/runs"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_response_cannot_be_continued_by_another_key(target: str, stream: bool) -> None:
    """A body that names it is judged as its path is; the one who made it goes on."""
    async with gated() as gate:
        await _responded(gate, stream=stream)
        body = {"input": "go on", "previous_response_id": RESPONSE}
        refused = await _post(gate, target, body, "other")
        assert (refused.status, code(refused)) == (404, "herma.owner.unknown")
        assert gate.agent.calls == []
        gate.agent.on("POST", target, {"id": "resp_2", "run_id": "run_2"})
        assert (await _post(gate, target, body, "mate")).status == 200


async def test_an_empty_reference_names_nothing() -> None:
    """A null or an empty string stands for none, and is not looked up."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/responses", {"id": "resp_9"})
        for value in (None, ""):
            assert (
                await _post(gate, "/v1/responses", {"previous_response_id": value}, "other")
            ).status == 200


# --- names that callers choose


@pytest.mark.parametrize("header", ["X-Hermes-Session-Id", "X-Hermes-Session-Key"])
async def test_a_session_header_is_taken_by_its_first_use(header: str) -> None:
    """Another key cannot speak in the same session; the same key and its group can."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/chat/completions", {"id": "c"})
        named = {"headers": [(header, "project-one")]}
        assert (await _post(gate, "/v1/chat/completions", {}, "runner", **named)).status == 200
        refused = await _post(gate, "/v1/chat/completions", {}, "other", **named)
        assert (refused.status, code(refused)) == (403, "herma.owner.taken")
        assert len(gate.agent.calls) == 1
        assert (await _post(gate, "/v1/chat/completions", {}, "mate", **named)).status == 200
        assert (await _post(gate, "/v1/chat/completions", {}, "admin", **named)).status == 200


async def test_a_session_is_one_wherever_it_is_named() -> None:
    """Taken through a header, it is taken in the path, in a body and on unknown routes too."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/chat/completions", {"id": "c"})
        assert (await _post(gate, "/v1/chat/completions", {}, "runner", headers=SESSION)).status == 200
        gate.agent.calls.clear()
        refused = [
            await gate.ask("GET", "/api/sessions/project-one", key="other"),
            await gate.ask("DELETE", "/api/sessions/project-one", key="other"),
            await gate.ask("GET", "/api/sessions/project-one/messages", key="other"),
            await _post(gate, "/api/sessions/project-one/chat", {"message": "x"}, "other"),
            await _post(gate, "/p/team/api/sessions/project-one/fork", {}, "other"),
            await _post(gate, "/v1/runs", {"input": "x", "session_id": "project-one"}, "other"),
            await _post(gate, "/api/sessions", {"id": "project-one"}, "other"),
            await _post(gate, "/v9/new", {}, "other", headers=SESSION),
        ]
        assert [(response.status, code(response)) for response in refused] == [(403, "herma.owner.taken")] * 8
        assert gate.agent.calls == []
        assert gate.slots == 0


async def test_reading_a_session_does_not_take_it() -> None:
    """Whoever looks first is not its owner; whoever writes first is."""
    async with gated() as gate:
        gate.agent.on("GET", "/api/sessions/s1", {"id": "s1"})
        gate.agent.on("PATCH", "/api/sessions/s1", {"id": "s1"})
        assert (await gate.ask("GET", "/api/sessions/s1", key="other")).status == 200
        assert await gate.store.owner("session", "s1") is None
        assert (await gate.ask("PATCH", "/api/sessions/s1", body={"title": "x"})).status == 200
        assert (await gate.ask("GET", "/api/sessions/s1", key="other")).status == 403


async def test_a_session_that_the_upstream_names_belongs_to_its_caller() -> None:
    """The answer's head tells the session it was held in, and its body the one that was made."""
    async with gated() as gate:
        gate.agent.on(
            "POST",
            "/v1/chat/completions",
            answer(200, b"{}", [("Content-Type", "application/json"), ("X-Hermes-Session-Id", "derived")]),
        )
        gate.agent.on("POST", "/api/sessions", {"session": {"id": "made"}})
        await _post(gate, "/v1/chat/completions", {}, "runner")
        await _post(gate, "/api/sessions", {}, "runner")
        for name in ("derived", "made"):
            assert (await gate.ask("GET", f"/api/sessions/{name}", key="other")).status == 403


async def test_a_refused_request_makes_nobody_an_owner() -> None:
    """Only a success tells what was made."""
    async with gated() as gate:
        gate.agent.on(
            "POST",
            "/v1/responses",
            answer(
                400,
                json.dumps({"id": RESPONSE}).encode(),
                [("Content-Type", "application/json"), ("X-Hermes-Session-Id", "derived")],
            ),
        )
        assert (await _post(gate, "/v1/responses", {}, "runner")).status == 400
        assert await gate.store.owner("response", RESPONSE) is None
        assert await gate.store.owner("session", "derived") is None


async def test_a_conversation_is_taken_by_its_first_use() -> None:
    """A name in the body, chosen by the caller."""
    async with gated() as gate:
        gate.agent.on("POST", "/v1/responses", {"id": "resp_1"})
        assert (await _post(gate, "/v1/responses", {"conversation": "c1"}, "runner")).status == 200
        assert (await _post(gate, "/v1/responses", {"conversation": "c1"}, "other")).status == 403
        assert (await _post(gate, "/v1/responses", {"conversation": "c2"}, "other")).status == 200


@pytest.mark.parametrize("name", [7, 7.0, True, 0, ["7"], {"id": "7"}, " 7", "7\n", "7\u00a0", " "])
async def test_a_name_in_a_body_has_one_spelling(name: object) -> None:
    """What the upstream would turn into the name of another key's object is refused before anybody reads it."""
    async with gated() as gate:
        for target, member in (
            ("/v1/responses", "conversation"),
            ("/v1/responses", "previous_response_id"),
            ("/v1/runs", "session_id"),
            ("/api/sessions", "id"),
            ("/api/sessions/mine/fork", "session_id"),
        ):
            refused = await _post(gate, target, {"input": "x", member: name}, "other")
            assert (refused.status, code(refused)) == (400, "herma.owner.form")
        assert gate.agent.calls == []


async def test_a_conversation_may_be_named_inside_an_object() -> None:
    """Where the profile knows the member that holds the name, that is what is looked at."""
    async with gated(profile="openai") as gate:
        gate.agent.on("POST", "/v1/responses", {"id": "resp_1"})
        for key, status in (("runner", 200), ("other", 403)):
            body = {"input": "x", "conversation": {"id": "conv_1"}}
            assert (await _post(gate, "/v1/responses", body, key)).status == status
        odd = await _post(gate, "/v1/responses", {"conversation": {"id": 7}}, "other")
        assert (odd.status, code(odd)) == (400, "herma.owner.form")


async def test_the_transcript_of_a_run_is_as_private_as_the_run() -> None:
    """The upstream keeps a run's transcript as the session of the same name, which its list of sessions tells everybody."""
    async with gated() as gate:
        await _started(gate)
        for path in (f"/api/sessions/{RUN}", f"/api/sessions/{RUN}/messages"):
            gate.agent.on("GET", path, {"data": []})
            refused = await gate.ask("GET", path, key="other")
            assert (refused.status, code(refused)) == (403, "herma.owner.taken")
            assert (await gate.ask("GET", path, key="mate")).status == 200


@pytest.mark.parametrize("way", ["header", "body"])
async def test_a_session_that_goes_on_under_another_name_keeps_its_owner(way: str) -> None:
    """The upstream continues a long session as a new one and tells its name in the answer."""
    async with gated() as gate:
        told = [("X-Hermes-Session-Id", "next")] if way == "header" else []
        body = b"{}" if way == "header" else b'{"session_id":"next"}'
        headers = [("Content-Type", "application/json"), *told]
        gate.agent.on("POST", "/api/sessions/mine/chat", answer(200, body, headers))
        assert (await _post(gate, "/api/sessions/mine/chat", {"message": "x"}, "runner")).status == 200
        assert (await gate.ask("GET", "/api/sessions/next/messages", key="other")).status == 403


async def test_an_answer_with_odd_ids_binds_nothing() -> None:
    """Ids that are no text, empty or endless are not remembered, and the answer passes."""
    async with gated() as gate:
        for odd in (7, None, "", "x" * 300, ["resp"]):
            gate.agent.on("POST", "/v1/responses", {"id": odd})
            assert (await _post(gate, "/v1/responses", {}, "runner")).status == 200
        assert len(gate.store._ownership) == 0


@pytest.mark.parametrize(
    "target", ["/v1/chat/completions/chatcmpl-1", "/v1/files/file-1", "/v1/responses/resp_1"]
)
async def test_an_id_that_the_upstream_gave_out_is_not_taken_by_its_first_use(target: str) -> None:
    """Nobody chose it, so whoever names it first need not be its owner: unknown ones are for `admin`."""
    async with gated(profile="openai") as gate:
        gate.agent.on("GET", target, {"id": "x"})
        gate.agent.on("DELETE", target, {"id": "x"})
        assert (await gate.ask("GET", target)).status == 404
        assert (await gate.ask("DELETE", target)).status == 404
        assert gate.agent.calls == []
        assert (await gate.ask("GET", target, key="admin")).status == 200
