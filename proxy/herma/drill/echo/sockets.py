"""A WebSocket that gives back what it is sent.

The real API server has none in the version this agent stands for; newer upstreams do, and the gate passes upgrades.
"""

from aiohttp import WSMsgType, web

__all__ = ["MAX_MESSAGE_BYTES", "echo"]

# One message; more than any control message of an agent, small enough to hold in memory.
MAX_MESSAGE_BYTES = 1024 * 1024

_CLOSE = "CLOSE:"


async def echo(request: web.Request) -> web.StreamResponse:
    """Speak the first subprotocol the client offers; `CLOSE:<code> <reason>` closes with that code and reason."""
    offered = [name.strip() for name in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
    socket = web.WebSocketResponse(
        protocols=[name for name in offered if name], max_msg_size=MAX_MESSAGE_BYTES
    )
    await socket.prepare(request)
    async for message in socket:
        match message.type, message.data:
            case WSMsgType.TEXT, str(text) if text.startswith(_CLOSE):
                code, _, reason = text.removeprefix(_CLOSE).partition(" ")
                await socket.close(code=int(code) if code.isdecimal() else 1008, message=reason.encode())
            case WSMsgType.TEXT, text:
                await socket.send_str(text)
            case WSMsgType.BINARY, data:
                await socket.send_bytes(data)
            case _:
                break
    return socket
