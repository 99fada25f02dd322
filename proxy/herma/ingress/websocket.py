"""WebSocket connections: the handshake is judged like any request, then every message."""

import asyncio
import base64
import hashlib
import hmac
from typing import assert_never

from herma.ingress.holding import Stay
from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.socket_caller import CallerJudge
from herma.ingress.socket_gate import SocketGate
from herma.ingress.socket_turns import SocketTurns, turns_of
from herma.policy.decision import Mode
from herma.policy.exchange import Exchange
from herma.policy.message.canonical import Head
from herma.policy.message.forwarding import downstream_headers
from herma.policy.routing.route import Socket
from herma.policy.socket.outward import MessageRedactor, TerminalRedactor
from herma.wire import ServerRequest, UpstreamError, UpstreamFailure, UpstreamResponse, splice

__all__ = ["relay_socket"]

# RFC 6455 section 1.3.
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
# What is typed or pasted, and what is said where nothing may be.
_MAX_BYTES = {Socket.TERMINAL: 1 << 20, Socket.EVENTS: 1 << 10}


async def relay_socket(
    plane: Plane,
    generation: Generation,
    exchange: Exchange,
    request: ServerRequest,
    response: UpstreamResponse,
    record: Record,
    stay: Stay,
) -> None:
    """Answer 101 and carry messages until one side ends, the caller may `stay` no more, or nothing moves for too long.

    Raises:
        UpstreamError: the upstream's handshake does not answer the caller's, so it is no WebSocket; nothing was sent.
    """
    tunnel = response.upgrade
    lines = {name.lower(): value for name, value in response.head.headers}
    if tunnel is None or not _agreed(lines, exchange.head):
        raise UpstreamError(UpstreamFailure.PROTOCOL, "the upstream speaks no WebSocket", sent=True)
    redactor, kind = generation.redactor, exchange.match.route.socket
    terminal, limits = kind is Socket.TERMINAL, generation.settings.limits
    headers = downstream_headers(101, response.head.headers, stream=False)
    async with turns_of(plane, exchange, generation.profile.turn_events) as turns:
        gate = SocketGate(
            judge=CallerJudge(plane, exchange, turns, stay.use).judge,
            turns=turns,
            outward=TerminalRedactor(redactor) if terminal else MessageRedactor(redactor),
            record=record,
            max_message_bytes=min(limits.max_body_bytes, _MAX_BYTES.get(kind, limits.max_body_bytes)),
            message_timeout_s=limits.body_timeout_s,
            key=generation.upstream_key,
            holds=stay,
            leaving=lambda: not plane.lifecycle.ready and _is_idle(plane, kind, turns),
            redacted=generation.settings.redaction.mode is not Mode.MONITOR,
            whole=not terminal,
            now=asyncio.get_running_loop().time(),
        )
        await splice(request.switch(headers), tunnel, gate, generation.upstream.idle_timeout_s)


def _is_idle(plane: Plane, kind: Socket, turns: SocketTurns) -> bool:
    """Tell whether a connection does nothing that is worth waiting for; of a terminal nobody knows."""
    match kind:
        case Socket.CALLS:
            return not turns.busy
        case Socket.EVENTS:
            return not plane.turns
        case Socket.MESSAGES | Socket.TERMINAL:
            return False
        case _:
            assert_never(kind)


def _agreed(lines: dict[bytes, bytes], head: Head) -> bool:
    """Tell whether the upstream speaks WebSocket, and without an extension: none was offered, for frames must be readable."""
    accept = _accept(head.get(b"sec-websocket-key") or b"")
    given = lines.get(b"sec-websocket-accept", b"")
    return hmac.compare_digest(given, accept) and b"sec-websocket-extensions" not in lines


def _accept(key: bytes) -> bytes:
    # SHA-1 is the protocol's; it proves that the peer speaks WebSocket, not who it is.
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())
