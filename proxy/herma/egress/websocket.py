"""The messages of a WebSocket, with bounds: mitmproxy keeps a message until it is whole, however long it is."""

from collections.abc import Generator
from typing import Any, Final, override

from mitmproxy.http import HTTPFlow
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers import websocket
from wsproto import ConnectionType
from wsproto.events import CloseConnection, Event, Ping, Pong

from herma.egress.body import Body, body_of

__all__ = ["Socket"]

# RFC 6455 section 7.4.1: a message that violates a policy.
_POLICY: Final = 1008

# What is written anew is one frame: mitmproxy cuts it by bytes, through the letters of a text.
setattr(websocket.Fragmentizer, "FRAGMENT_SIZE", 1 << 40)  # noqa: B010 - to the type checkers it is one number only


class _FromAgent(websocket.WebsocketConnection):
    """The agent's side. What a ping, its echo and a close carry is seen by no hook, and judged here."""

    body: Body

    @override
    def events(self) -> Generator[Event, None, None]:
        for event in super().events():
            match event:
                case Ping(payload=payload) | Pong(payload=payload) if not self.body.tells(bytes(payload)):
                    yield CloseConnection(code=_POLICY)
                    return
                case CloseConnection(code=code, reason=str(reason)) if not self.body.tells(reason.encode()):
                    yield CloseConnection(code=code)
                case _:
                    yield event


class Socket(websocket.WebsocketLayer):
    """What follows an upgrade."""

    def __init__(self, context: Context, flow: HTTPFlow) -> None:
        super().__init__(context, flow)
        self._body = body_of(flow)

    @override
    def start(self, _: events.Event) -> CommandGenerator[None]:
        yield from super().start(_)
        if self._body is None:
            yield from self._cut()
            return
        extensions: Any = self.client_ws._proto.extensions  # noqa: SLF001 - agreed upon in the answer, which was read there
        agent = _FromAgent(ConnectionType.SERVER, extensions, conn=self.context.client)
        agent.body = self._body
        self.client_ws = agent

    # mitmproxy's own names what is done first, and not by whom.
    _handle_event = start

    @override
    def relay_messages(self, event: events.Event) -> CommandGenerator[None]:
        yield from super().relay_messages(event)
        kept = sum(len(part) for side in (self.client_ws, self.server_ws) for part in side.frame_buf)
        if self._body is None or self.flow.error is not None or not self._body.ticket.holds(kept):
            yield from self._cut()
        elif not kept:
            self._body.ticket.release()

    def _cut(self) -> CommandGenerator[None]:
        setattr(self, "_handle_event", self.done)  # noqa: B010 - a state of mitmproxy's is a method that is put in place of another
        self.flow.live = False
        for side in (self.context.server, self.context.client):
            yield commands.CloseConnection(side)
