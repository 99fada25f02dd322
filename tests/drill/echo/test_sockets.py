"""The WebSocket that gives back what it is sent."""

import pytest
from aiohttp import ClientSession, WSMsgType

from herma.drill.echo.sockets import MAX_MESSAGE_BYTES


async def test_text_and_bytes_come_back(agent: ClientSession) -> None:
    """Both kinds of message are echoed, in the first subprotocol offered."""
    async with agent.ws_connect("/api/ws", protocols=("one", "two")) as socket:
        assert socket.protocol == "one"
        await socket.send_str("hello")
        assert await socket.receive_str() == "hello"
        await socket.send_bytes(b"\x00\xff")
        assert await socket.receive_bytes() == b"\x00\xff"


@pytest.mark.parametrize(("text", "code", "reason"), [("CLOSE:4001 bye", 4001, "bye"), ("CLOSE:x", 1008, "")])
async def test_it_closes_as_told(agent: ClientSession, text: str, code: int, reason: str) -> None:
    """Code and reason reach the client."""
    async with agent.ws_connect("/api/ws") as socket:
        await socket.send_str(text)
        message = await socket.receive()
        assert (message.type, message.data, message.extra) == (WSMsgType.CLOSE, code, reason)


async def test_a_message_over_the_cap_ends_the_connection(agent: ClientSession) -> None:
    """Close code 1009 says why."""
    async with agent.ws_connect("/api/ws") as socket:
        await socket.send_bytes(bytes(MAX_MESSAGE_BYTES + 1))
        message = await socket.receive()
        assert (message.type, message.data) == (WSMsgType.CLOSE, 1009)


async def test_it_needs_the_key(stranger: ClientSession) -> None:
    """An upgrade is a request like any other."""
    async with stranger.get("/api/ws") as answer:
        assert answer.status == 401
