"""WebSocket connections: a handshake is judged like any request, then messages pass both ways."""

import pytest
from websockets.asyncio.client import connect

from support.inprocess import KEYS, UPSTREAM_KEY, Call, Gated, code, gated, received, until
from support.raw import Ended
from support.socket_peer import AgentSocket, accept_key, agreed, speaking
from support.upstream import answer

WS = "/v1/browser-control/ws"
KEY = "ZmFrZSBrZXkgZm9yIHRlcw=="
HANDSHAKE = [
    ("Connection", "keep-alive, Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", KEY),
    ("Sec-WebSocket-Protocol", "chat, other"),
    ("Sec-WebSocket-Extensions", "permessage-deflate"),
]
EXTRA = (("Sec-WebSocket-Protocol", "chat"), ("Server", "agent"), ("X-Hermes-Mode", "remote"))


async def _echo(agent: AgentSocket) -> None:
    await agent.send("hello")
    while (data := await agent.receive()) is not None:
        await agent.send(data)


async def _open(gate: Gated, key: str | None = "admin") -> bytes:
    """Shake hands; return the head of the answer and the client is the gate's last."""
    client = await gate.open("GET", WS, key=key, headers=HANDSHAKE)
    return await client.until(b"\r\n\r\n")


async def test_messages_pass_both_ways() -> None:
    """With a real client, whatever their length, and without an extension."""
    async with gated() as gate:
        gate.agent.on("GET", WS, speaking(_echo))
        uri = f"ws://127.0.0.1:{gate.port}{WS}"
        headers = {"Authorization": f"Bearer {KEYS['admin']}"}
        async with connect(uri, additional_headers=headers, proxy=None) as client:
            assert client.protocol.extensions == []
            assert await client.recv() == "hello"
            for text in ("grüße", '{"a": 1}', "x" * 300_000):
                await client.send(text)
                assert await client.recv() == text.encode()
            await (await client.ping())


async def test_the_handshake_goes_through_whole() -> None:
    """Key, version and subprotocol reach the upstream, its choice comes back, and the caller's credential does not pass."""
    async with gated() as gate:
        gate.agent.on("GET", WS, speaking(_echo, *EXTRA))
        head = (await _open(gate)).lower()
        call = await gate.agent.only()
        assert call.get("upgrade") == "websocket"
        assert call.get("sec-websocket-key") == KEY
        assert call.get("sec-websocket-version") == "13"
        assert call.get("sec-websocket-protocol") == "chat, other"
        assert call.get("sec-websocket-extensions") is None
        assert call.target == WS
        assert call.get("authorization") == f"Bearer {UPSTREAM_KEY}"
        assert b"sec-websocket-accept: " + accept_key(KEY).lower().encode() in head
        assert b"sec-websocket-protocol: chat\r\n" in head
        assert head.count(b"upgrade: websocket") == 1
        assert b"server:" not in head


async def test_a_caller_who_closes_ends_the_tunnel() -> None:
    """The upstream hears of it, and the exchange is written down as a tunnel."""
    async with gated() as gate:
        gate.agent.on("GET", WS, speaking(_echo))
        await _open(gate)
        gate.clients[-1].close()
        await until(lambda: bool(gate.audit.records))
        record = await gate.last()
        assert (record.status, record.operation) == (101, "browser.control")


async def test_an_upstream_that_closes_ends_the_tunnel() -> None:
    """The caller gets what was sent before, and then the end with its code, without its reason."""

    async def script(agent: AgentSocket) -> None:
        await agent.send("last words")
        await agent.close(4400)
        await agent.receive()

    async with gated() as gate:
        gate.agent.on("GET", WS, speaking(script))
        await _open(gate)
        assert await gate.clients[-1].rest() == b"\x81\x0alast words\x88\x02\x11\x30"
        gate.clients[-1].close()
        assert (await gate.last()).outcome == "answered"


async def test_a_silent_tunnel_ends() -> None:
    """After the upstream's idle time both sides are let go."""
    async with gated(upstream_extra={"idle_timeout_s": 1}) as gate:
        gate.agent.on("GET", WS, speaking(_echo))
        await _open(gate)
        await gate.clients[-1].gone()
        assert (await gate.last()).status == 101


@pytest.mark.parametrize(
    ("accept", "extra"),
    [
        ("", ()),
        ("d3JvbmcgYW5zd2VyIGZvciB0aGlz", ()),
        (accept_key(KEY).lower(), ()),
        (accept_key(KEY), (("Sec-WebSocket-Extensions", "permessage-deflate"),)),
    ],
)
async def test_an_answer_to_another_handshake_opens_nothing(
    accept: str, extra: tuple[tuple[str, str], ...]
) -> None:
    """Whoever does not prove to speak WebSocket gets no tunnel: 502, and not a byte of either side passes."""
    async with gated() as gate:

        async def play(call: Call) -> None:
            await call.send(
                agreed(call, *extra, accept=accept), b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"
            )
            await call.gone()

        gate.agent.on("GET", WS, play)
        client = await gate.open("GET", WS, key="admin", headers=HANDSHAKE)
        talk = await received(client)
        assert (talk.status, code(talk.first)) == (502, "herma.upstream.failed")
        assert b"secret" not in talk.received
        record = await gate.last()
        assert (record.outcome, record.status) == ("denied", 502)


@pytest.mark.parametrize("status", [200, 400, 403, 426])
async def test_a_handshake_that_the_upstream_refuses_is_answered_and_closed(status: int) -> None:
    """Its answer is judged and relayed like any other, and the connection ends with it."""
    async with gated() as gate:
        gate.agent.on("GET", WS, answer(status, b'{"error":"no"}', [("Content-Type", "application/json")]))
        client = await gate.open("GET", WS, key="admin", headers=HANDSHAKE)
        talk = await received(client)
        assert (talk.status, talk.first.body) == (status, b'{"error":"no"}')
        assert talk.first.get("connection") == "close"
        await client.gone()


async def test_an_upstream_that_hangs_up_is_a_bad_gateway() -> None:
    """A handshake may be repeated: it starts nothing."""

    async def play(call: Call) -> None:
        call.close()

    async with gated() as gate:
        gate.agent.on("GET", WS, play)
        talk = await gate.talk("GET", WS, key="admin", headers=HANDSHAKE)
        assert (talk.status, code(talk.first)) == (502, "herma.upstream.failed")
        assert talk.first.get("x-should-retry") is None
        assert talk.ended in {Ended.OPEN, Ended.FIN}


@pytest.mark.parametrize(("key", "status"), [(None, 401), ("runner", 403)])
async def test_a_handshake_is_judged_like_any_request(key: str | None, status: int) -> None:
    """Without a key or its scope nothing is opened, and the upstream sees nothing."""
    async with gated() as gate:
        talk = await gate.talk("GET", WS, key=key, headers=HANDSHAKE)
        assert talk.status == status
        assert gate.agent.calls == []


async def test_a_handshake_of_a_foreign_page_is_refused() -> None:
    """Browsers open WebSockets across origins without asking: the gate looks at the origin."""
    async with gated() as gate:
        talk = await gate.talk(
            "GET", WS, key="admin", headers=[*HANDSHAKE, ("Origin", "https://attacker.example")]
        )
        assert (talk.status, code(talk.first)) == (403, "herma.request.origin")
        assert gate.agent.calls == []
