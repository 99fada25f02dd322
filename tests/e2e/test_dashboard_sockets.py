"""The WebSockets of the real dashboard behind the gate, with a real client."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from herma.policy.redaction.fingerprint import PLACEHOLDER
from support.gate import Gate
from support.hermes import Dashboard
from support.stub_model import StubModel

pytestmark = pytest.mark.e2e

PATIENCE_S = 60


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, model: StubModel) -> Iterator[Dashboard]:
    """The real dashboard."""
    with Dashboard(tmp_path_factory.mktemp("dashboard"), model.url) as running:
        yield running


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, dashboard: Dashboard) -> Iterator[Gate]:
    """The gate in front of it, as it comes."""
    below = {"upstream": {"profile": "hermes-dashboard"}, "surfaces": {"chat.terminal": {"scope": "admin"}}}
    with Gate(tmp_path_factory.mktemp("gate"), dashboard.url, below, upstream_key=dashboard.key) as running:
        yield running


def opened(gate: Gate, path: str, key: str | None = "runner") -> connect:
    headers = {"Authorization": f"Bearer {gate.keys[key]}"} if key else {}
    return connect(
        f"ws://127.0.0.1:{gate.port}{path}",
        additional_headers=headers,
        proxy=None,
        open_timeout=PATIENCE_S,
        max_size=1 << 24,
    )


async def answer(client: ClientConnection, method: str, **params: Any) -> Any:
    """Call a method and wait for its answer, past the events."""
    await client.send(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = json.loads(await client.recv())
            if message.get("id") == method:
                return message


async def test_what_the_page_calls_works(gate: Gate) -> None:
    """The agent says that it is ready, makes a session and lists its models."""
    async with opened(gate, "/api/ws") as client:
        ready = json.loads(await client.recv())
        assert ready["params"]["type"] == "gateway.ready"
        created = await answer(client, "session.create", close_on_disconnect=True, source="tool")
        assert created["result"]["session_id"]
        options = await answer(client, "model.options", session_id=created["result"]["session_id"])
        assert "result" in options


async def test_no_call_gives_a_shell(gate: Gate, dashboard: Dashboard) -> None:
    """Not with the widest key, and the connection goes on."""
    witness = dashboard.work / "witness"
    async with opened(gate, "/api/ws", "admin") as client:
        for method, params in (
            ("shell.exec", {"command": f"touch {witness}"}),
            ("cli.exec", {"argv": ["config", "set", "approvals.mode", "off"]}),
            ("config.set", {"key": "approval_mode", "value": "off"}),
            ("slash.exec", {"command": "/yolo"}),
        ):
            refused = await answer(client, method, **params)
            assert refused["error"]["data"]["code"] == "herma.route.off", method
        assert "result" in await answer(client, "setup.status")
    assert not witness.exists()
    assert "approvals: {mode: manual" in (dashboard.directory / "config.yaml").read_text()


async def test_a_turn_over_the_socket_streams_its_text(gate: Gate) -> None:
    """The answer of the model arrives in pieces and is complete."""
    async with opened(gate, "/api/ws") as client:
        created = await answer(client, "session.create", close_on_disconnect=True, source="tool")
        session = created["result"]["session_id"]
        await client.send(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": "turn",
                    "method": "prompt.submit",
                    "params": {"session_id": session, "text": "Say hello"},
                }
            )
        )
        kinds = []
        async with asyncio.timeout(PATIENCE_S):
            while "message.complete" not in kinds:
                message = json.loads(await client.recv())
                kinds.append(message.get("params", {}).get("type"))
        assert "message.delta" in kinds


async def test_turns_over_the_socket_have_slots_until_the_real_agent_is_idle(
    tmp_path: Path, dashboard: Dashboard
) -> None:
    """Ended, interrupted, in the background: the slot comes back, and nobody has a second one meanwhile."""
    below = {
        "upstream": {"profile": "hermes-dashboard"},
        "limits": {"max_concurrent_runs": 1},
    }
    with Gate(tmp_path, dashboard.url, below, upstream_key=dashboard.key) as gate:
        async with opened(gate, "/api/ws") as client, opened(gate, "/api/ws", "admin") as other:
            first = await new_session(client)
            second = await new_session(other)

            async def taken(count: int) -> None:
                async with asyncio.timeout(PATIENCE_S):
                    while gate.admin("/status").json()["busy"]["slots_taken"] != count:
                        await asyncio.sleep(0.05)

            assert "result" in await answer(client, "prompt.submit", session_id=first, text="SLOW:3")
            await taken(1)
            refused = await answer(other, "prompt.submit", session_id=second, text="Say hello")
            assert refused["error"]["data"]["code"] == "herma.limit.concurrency"
            await taken(0)
            assert "result" in await answer(other, "prompt.submit", session_id=second, text="SLOW:30")
            await taken(1)
            assert "result" in await answer(other, "session.interrupt", session_id=second)
            await taken(0)
            assert "result" in await answer(client, "prompt.background", session_id=first, text="SLOW:2")
            await taken(1)
            await taken(0)
            assert "error" in await answer(client, "prompt.submit", session_id="nobody", text="hi")
            await taken(0)


async def new_session(client: ClientConnection) -> str:
    created = await answer(client, "session.create", close_on_disconnect=True, source="tool")
    return str(created["result"]["session_id"])


async def test_the_terminal_of_the_chat_draws(gate: Gate) -> None:
    """It takes keys; its output arrives as bytes, and nothing that it draws is taken for a secret."""
    drawn = b""
    async with opened(gate, "/api/pty?channel=draw", "admin") as client:
        await client.send("\x1b[RESIZE:80;24]")
        async with asyncio.timeout(PATIENCE_S):
            while b"/help" not in drawn and b"setup" not in drawn:
                message = await client.recv()
                assert isinstance(message, bytes)
                drawn += message
    assert not PLACEHOLDER.search(drawn.decode(errors="replace"))


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/api/ws", None, 401),
        ("/api/ws", "watcher", 403),
        ("/api/pty", "reader", 403),
        ("/api/console", "admin", 403),
        ("/api/pub?channel=x", "admin", 403),
        ("/api/ws?token=x", "admin", 400),
        ("/api/strange", "admin", 404),
    ],
)
async def test_a_handshake_needs_what_its_route_needs(
    gate: Gate, path: str, key: str | None, status: int
) -> None:
    """The console is a shell and off; nobody publishes from outside; unknown sockets do not exist."""
    with pytest.raises(InvalidStatus) as refused:
        async with opened(gate, path, key):
            pass
    assert refused.value.response.status_code == status


async def test_events_are_heard_and_nothing_is_said(gate: Gate) -> None:
    """Whoever speaks is sent away."""
    async with opened(gate, "/api/events?channel=abc", "reader") as client:
        await client.send("{}")
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(PATIENCE_S):
                await client.recv()
        assert client.close_code == 1008


async def test_a_key_that_is_taken_away_ends_its_sockets(gate: Gate) -> None:
    """Within seconds of the reload, however quiet the connection is."""
    keys = gate.config["auth"]["keys"]
    async with opened(gate, "/api/events?channel=abc", "other") as client:
        gate.config["auth"]["keys"] = [key for key in keys if key["name"] != "other"]
        gate.write_config(gate.config)
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(PATIENCE_S):
                await client.recv()
        assert client.close_code == 4401
    gate.config["auth"]["keys"] = keys
    gate.write_config(gate.config)
