"""An agent that speaks WebSocket as a scripted upstream of the gate in the test's own loop."""

import base64
import hashlib
from collections.abc import Awaitable, Callable

from herma.wire import Frames, Message
from support.inprocess import Call, Play
from support.upstream import answer

__all__ = ["AgentSocket", "accept_key", "agreed", "speaking"]


def accept_key(key: str) -> str:
    """Return the answer to a handshake's key (RFC 6455 section 1.3)."""
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    return base64.b64encode(digest).decode()


def agreed(call: Call, *extra: tuple[str, str], accept: str | None = None) -> bytes:
    """Write the 101 to a handshake."""
    key = accept_key(call.get("sec-websocket-key") or "") if accept is None else accept
    headers = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", key), *extra]
    return answer(101, headers=headers, framed=False, reason="Switching Protocols")


class AgentSocket:
    """The agent's end of a WebSocket."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.frames = Frames(client=True, max_bytes=1 << 24)
        self._waiting: list[Message] = []

    async def send(self, data: bytes | str) -> None:
        """Send one message: text, or bytes."""
        text = isinstance(data, str)
        self.frames.send(Message(data.encode() if isinstance(data, str) else data, text))
        await self.flush()

    async def close(self, code: int) -> None:
        """Begin the closing handshake."""
        self.frames.close(code)
        await self.flush()

    async def flush(self) -> None:
        """Write what the frames want written."""
        await self.call.send(self.frames.take())

    async def receive(self) -> bytes | None:
        """Return the next message; None when the gate has closed or hung up."""
        while not self._waiting:
            data = await self.call.reader.read(65536)
            self._waiting += self.frames.feed(data) if data else []
            await self.flush()
            if not self._waiting and (not data or self.frames.closed):
                return None
        return self._waiting.pop(0).data


def speaking(script: Callable[[AgentSocket], Awaitable[None]], *extra: tuple[str, str]) -> Play:
    """Agree to the handshake, follow the script, and hang up."""

    async def play(call: Call) -> None:
        await call.send(agreed(call, *extra))
        await script(AgentSocket(call))
        call.close()

    return play
