"""Turns that calls over a WebSocket start: counted and limited like those over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from herma.errors import StoreError
from herma.ingress import socket_gate, socket_turns
from herma.ingress.socket_turns import sweep
from herma.policy.limits.lifecycle import Event
from herma.policy.socket.held_turns import FAILED_S, GRACE_S, UNSEEN_S
from support.inprocess import KEYS, Gated, gated, until
from support.socket_peer import AgentSocket, speaking

CALLS = "/api/ws"
ONE = {"max_concurrent_runs": 1}


class Hermes:
    """An agent that keeps what it was called for, and answers what the test says; it asks nobody."""

    def __init__(self) -> None:
        self.sockets: list[AgentSocket] = []
        self.called: list[dict[str, Any]] = []

    async def serve(self, socket: AgentSocket) -> None:
        """Keep every call."""
        self.sockets.append(socket)
        while (data := await socket.receive()) is not None:
            self.called.append(json.loads(data))

    async def event(self, kind: str, session: str = "s1", socket: int = 0, **payload: object) -> None:
        """Tell of something."""
        params = {"type": kind, "session_id": session, "payload": payload}
        await self.sockets[socket].send(json.dumps({"jsonrpc": "2.0", "method": "event", "params": params}))

    async def answer(self, call_id: object, socket: int = 0, **result: object) -> None:
        """Answer a call."""
        await self.sockets[socket].send(json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result}))

    async def fail(self, call_id: object) -> None:
        """Answer a call with an error."""
        error = {"code": 4001, "message": "session not found"}
        await self.sockets[0].send(json.dumps({"jsonrpc": "2.0", "id": call_id, "error": error}))


@asynccontextmanager
async def talking(**extra: object) -> AsyncIterator[tuple[Gated, Hermes]]:
    """A gate in front of an agent with calls over a WebSocket."""
    hermes = Hermes()
    extra = {"limits": ONE} | extra
    async with gated(profile="hermes-dashboard", **extra) as gate:
        gate.agent.on("GET", CALLS, speaking(hermes.serve))
        yield gate, hermes


def opened(gate: Gated, key: str = "runner", path: str = CALLS) -> connect:
    headers = {"Authorization": f"Bearer {KEYS[key]}"}
    return connect(f"ws://127.0.0.1:{gate.port}{path}", additional_headers=headers, proxy=None)


async def call(client: ClientConnection, method: str, call_id: object = "1", **params: object) -> None:
    await client.send(json.dumps({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}))


async def heard(client: ClientConnection) -> Any:
    async with asyncio.timeout(10):
        return json.loads(await client.recv())


async def refusal(client: ClientConnection) -> str:
    return str((await heard(client))["error"]["data"]["code"])


async def swept(gate: Gated, after_s: float = 0.0) -> int:
    """Count the slots that are taken after some time."""
    await sweep(gate.plane, asyncio.get_running_loop().time() + after_s)
    return gate.slots


async def test_a_turn_over_the_socket_has_a_slot_until_its_end_was_told() -> None:
    """Nobody else starts one meanwhile, over which way ever; then somebody does."""
    async with talking() as (gate, hermes), opened(gate) as client, opened(gate, "other") as other:
        await call(client, "prompt.submit", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        assert gate.slots == 1
        await call(other, "prompt.submit", "x", session_id="s2", text="hi")
        refused = await heard(other)
        assert refused["id"] == "x"
        assert refused["error"]["code"] == -32001
        assert refused["error"]["data"] == {
            "code": "herma.limit.concurrency",
            "status": 429,
            "retry_after_s": 1,
        }
        board = await gate.ask("POST", "/api/plugins/kanban/dispatch", body={})
        assert board.status == 429
        await hermes.answer("1", status="streaming")
        await hermes.event("message.start")
        await hermes.event("message.complete", text="done")
        await hermes.event("session.info", running=False)
        for _ in range(4):
            await heard(client)
        assert await swept(gate) == 1
        assert await swept(gate, GRACE_S) == 0
        await call(other, "prompt.submit", "y", session_id="s2", text="hi")
        await until(lambda: len(hermes.called) == 2)
        assert [record.code for record in gate.audit.records if record.code] == [
            "herma.limit.concurrency"
        ] * 2


@pytest.mark.parametrize("method", ["llm.oneshot", "session.compress", "handoff.request"])
async def test_what_is_answered_at_the_end_has_its_slot_until_then(method: str) -> None:
    """An error is an end too."""
    async with talking() as (gate, hermes), opened(gate) as client:
        for number, end in enumerate((hermes.answer, hermes.fail)):
            await call(client, method, number, input="x")
            await until(lambda count=number: len(hermes.called) == count + 1)
            assert await swept(gate, 60.0) == 1
            await end(number)
            await heard(client)
            assert await swept(gate) == 0


async def test_a_task_has_its_slot_until_its_own_end() -> None:
    """Its name is in the answer; the end of the session's turn is another's."""
    async with talking() as (gate, hermes), opened(gate) as client:
        await call(client, "prompt.background", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        await hermes.answer("1", task_id="bg_1")
        await hermes.event("session.info", running=False)
        await heard(client)
        await heard(client)
        assert await swept(gate, 60.0) == 1
        await hermes.event("background.complete", task_id="bg_1")
        await heard(client)
        assert await swept(gate, GRACE_S) == 0


async def test_a_call_that_fails_gives_its_slot_back() -> None:
    """Nothing was started."""
    async with talking() as (gate, hermes), opened(gate) as client:
        for number, session in enumerate(("nobody", ["s1"], 5)):
            await call(client, "prompt.submit", number, session_id=session, text="hi")
            await until(lambda count=number: len(hermes.called) == count + 1)
            assert gate.slots == 1
            await hermes.fail(number)
            await heard(client)
            assert await swept(gate) == 0


async def test_a_session_runs_one_turn_at_a_time() -> None:
    """What is submitted meanwhile waits in the agent: it needs no other slot, and has that of the turn before."""
    async with talking() as (gate, hermes), opened(gate) as client:
        await call(client, "prompt.submit", "1", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        await hermes.answer("1", status="streaming")
        await hermes.event("message.start")
        await call(client, "prompt.submit", "2", session_id="s1", text="more")
        await until(lambda: len(hermes.called) == 2)
        await hermes.answer("2", status="queued")
        await hermes.event("session.info", running=False)
        await hermes.event("message.start")
        for _ in range(5):
            await heard(client)
        assert await swept(gate, 60.0) == 1


async def test_a_turn_that_the_agent_begins_by_itself_is_counted() -> None:
    """It runs whatever the cap says, and takes the place of others."""
    async with talking() as (gate, hermes), opened(gate) as client:
        for session in ("s1", "s2"):
            await hermes_ready(hermes)
            await hermes.event("message.start", session)
            await heard(client)
        await until(lambda: gate.slots == 2)
        await call(client, "prompt.submit", session_id="s3", text="hi")
        assert await refusal(client) == "herma.limit.concurrency"
        for session in ("s1", "s2"):
            await hermes.event("session.info", session, running=False)
            await heard(client)
        assert await swept(gate, GRACE_S) == 0


async def hermes_ready(hermes: Hermes) -> None:
    await until(lambda: bool(hermes.sockets))


async def test_hanging_up_frees_no_slot_at_once() -> None:
    """The agent goes on; else whoever hangs up has no cap."""
    async with talking() as (gate, hermes):
        async with opened(gate) as client:
            await call(client, "prompt.submit", session_id="s1", text="hi")
            await until(lambda: bool(hermes.called))
            await hermes.answer("1", status="streaming")
            await heard(client)
        await gate.quiet()
        assert await swept(gate, UNSEEN_S - 10) == 1
        async with opened(gate) as client:
            await call(client, "prompt.submit", session_id="s2", text="hi")
            assert await refusal(client) == "herma.limit.concurrency"
        await gate.quiet()
        assert await swept(gate, UNSEEN_S + 10) == 0


async def test_the_end_may_be_told_over_another_connection() -> None:
    """Events of a session go to whoever took it up last."""
    async with talking() as (gate, hermes), opened(gate) as client:
        await call(client, "prompt.submit", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        await hermes.answer("1", status="streaming")
        async with opened(gate) as second:
            await until(lambda: len(hermes.sockets) == 2)
            await heard(client)
            await hermes.event("session.info", socket=1, running=False)
            await heard(second)
            assert await swept(gate, GRACE_S) == 0


@pytest.mark.parametrize(
    ("method", "after_s"), [("session.interrupt", FAILED_S), ("session.close", UNSEEN_S)]
)
async def test_a_turn_of_which_nothing_more_is_told_ends_by_the_clock(method: str, after_s: float) -> None:
    """One that is stopped before it began, and one whose session was closed."""
    async with talking() as (gate, hermes), opened(gate) as client:
        await call(client, "prompt.submit", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        await hermes.answer("1", status="streaming")
        await heard(client)
        await call(client, method, "2", session_id="s1")
        await until(lambda: len(hermes.called) == 2)
        assert await swept(gate, after_s - 10) == 1
        assert await swept(gate, after_s + 1) == 0


async def test_an_id_names_one_answer() -> None:
    """Else the quick answer to a small call would end a long turn; and a turn without an answer has no end."""
    async with talking() as (gate, hermes), opened(gate) as client:
        await call(client, "llm.oneshot", 1, input="x")
        await until(lambda: bool(hermes.called))
        await call(client, "agents.list", 1)
        answer = await heard(client)
        assert (answer["id"], answer["error"]["data"]["code"]) == (1, "herma.rpc.id")
        await call(client, "agents.list", "1")
        await until(lambda: len(hermes.called) == 2)
        await client.send('{"jsonrpc": "2.0", "method": "prompt.submit", "params": {"session_id": "s2"}}')
        answer = await heard(client)
        assert (answer["id"], answer["error"]["data"]["code"]) == (None, "herma.rpc.id")
        assert len(hermes.called) == 2
        assert gate.slots == 1


async def test_not_too_many_calls_wait_for_their_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one connection."""
    monkeypatch.setattr(socket_turns, "MAX_AWAITED", 2)
    async with talking(limits={"max_concurrent_runs": 0}) as (gate, hermes), opened(gate) as client:
        for number in range(3):
            await call(client, "llm.oneshot", number, input="x")
        assert await refusal(client) == "herma.limit.concurrency"
        assert len(hermes.called) == 2


async def test_the_rates_of_requests_hold_for_turns() -> None:
    """They are those of the key, over HTTP and over the socket together."""
    rates = {"rates": {"per_key": {"per_s": 0.001, "burst": 3}}}
    async with talking(limits=rates) as (gate, _), opened(gate) as client:
        await call(client, "agents.list", "a")
        await call(client, "llm.oneshot", "b", input="x")
        await call(client, "llm.oneshot", "c", input="x")
        await call(client, "llm.oneshot", "d", input="x")
        answer = await heard(client)
        assert (answer["id"], answer["error"]["data"]["code"]) == ("d", "herma.limit.rate")
        assert (await gate.ask("GET", "/api/model/moa")).status == 429


async def test_a_gate_that_stops_starts_no_turns_and_ends_idle_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One with a turn goes on until the turn is over; no new one is opened."""
    monkeypatch.setattr(socket_gate, "LOOK_EVERY_S", 0.05)
    async with (
        talking(limits={"max_concurrent_runs": 3}) as (gate, hermes),
        opened(gate) as busy,
        opened(gate) as idle,
    ):
        await call(busy, "prompt.submit", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        gate.plane.lifecycle.handle(Event.STOP_ASKED, 0.0)
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(10):
                await idle.recv()
        assert idle.close_code == 1001
        for number, session in enumerate(("s1", "s2")):
            await call(busy, "prompt.submit", number, session_id=session, text="more")
            assert await refusal(busy) == "herma.draining"
        with pytest.raises(InvalidStatus) as refused:
            await opened(gate)
        assert refused.value.response.status_code == 503
        await hermes.answer("1", status="streaming")
        await hermes.event("session.info", running=False)
        assert await heard(busy)
        assert await heard(busy)
        assert await swept(gate, GRACE_S) == 0
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(10):
                await busy.recv()
        assert busy.close_code == 1001


@pytest.mark.parametrize("error", [StoreError("gone"), TimeoutError()])
async def test_without_the_shared_state_no_turn_starts(error: Exception) -> None:
    """It is said so; what begins by itself goes on uncounted, and what is over stays with whoever keeps the state."""
    async with talking() as (gate, hermes), opened(gate) as client:
        gate.store.broken["admit"] = error
        await call(client, "prompt.submit", session_id="s1", text="hi")
        assert await refusal(client) == "herma.store.unavailable"
        await hermes.event("message.start", "s2")
        await heard(client)
        await until(lambda: gate.meter.counts["store_errors", ""] == 2)
        gate.store.broken = {}
        await call(client, "prompt.submit", "2", session_id="s1", text="hi")
        await until(lambda: bool(hermes.called))
        await hermes.fail("2")
        await heard(client)
        gate.store.broken["release"] = StoreError("gone")
        assert await swept(gate) == 1
        assert gate.meter.counts["store_errors", ""] == 3


async def test_a_caller_who_leaves_while_the_slot_is_asked_for_holds_none() -> None:
    """The slot comes too late and goes back; the agent hears nothing."""
    async with talking() as (gate, hermes):
        going, going_on = asyncio.Event(), asyncio.Event()
        taken: Callable[[Any], Awaitable[Any]] = gate.store.admit

        async def slow(ask: Any) -> Any:
            going.set()
            await asyncio.shield(going_on.wait())
            return await taken(ask)

        gate.store.admit = slow
        client = await opened(gate)
        await call(client, "prompt.submit", session_id="s1", text="hi")
        await going.wait()
        await client.close()
        going_on.set()
        await gate.quiet()
        assert hermes.called == []
        assert await swept(gate) == 0


async def test_a_feed_of_events_ends_when_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the gate stops; a terminal stays, for nobody knows what is done there."""
    monkeypatch.setattr(socket_gate, "LOOK_EVERY_S", 0.05)
    async with talking(surfaces={"chat.terminal": {"scope": "admin"}}) as (gate, hermes):
        gate.agent.on("GET", "/api/pty", speaking(hermes.serve))
        gate.agent.on("GET", "/api/events", speaking(hermes.serve))
        gate.plane.turns.take("s1", "", "x", 0.0)
        async with (
            opened(gate, "admin", "/api/pty") as terminal,
            opened(gate, "admin", "/api/events") as feed,
        ):
            gate.plane.lifecycle.handle(Event.STOP_ASKED, 0.0)
            await hermes.event("tool.start", socket=1)
            await heard(feed)
            gate.plane.turns.over("s1", 0.0)
            await swept(gate)
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(10):
                    await feed.recv()
            assert feed.close_code == 1001
            await hermes.sockets[0].send(b"still here\n")
            assert b"still here" in await terminal.recv()
