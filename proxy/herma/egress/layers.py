"""Which protocols may be spoken through the proxy: HTTP, in clear and inside TLS, and WebSockets on it.

mitmproxy by itself would carry whatever else is spoken as raw bytes, and what goes to port 53 as DNS; nobody would have read it. It
also has no bound for heads, for what is sent before it is asked for, and for the messages of WebSockets.
"""

from collections.abc import Callable, Hashable
from typing import Final, override

from mitmproxy.net.tls import starts_like_tls_record
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator, Layer, NextLayer
from mitmproxy.proxy.layers import ClientTLSLayer, HttpLayer, ServerTLSLayer, modes
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.proxy.layers.http._http1 import Http1Server

from herma.egress.deadlines import HEAD_S, Deadlines
from herma.egress.fail_closed import fail_closed_layer
from herma.egress.stream import Stream

__all__ = ["BODY_SIZE_LIMIT", "HEAD", "MAX_HEAD_BYTES", "Closed", "next_layer"]

# A record of TLS is told from HTTP by this many bytes.
_TELLING: Final = 3
# For mitmproxy's option of that name: it is only asked about bodies that were found to be too large.
BODY_SIZE_LIMIT: Final = "1"
# The head of a request, and what else comes before it is asked for. Cookies and signed URLs have some kilobytes.
MAX_HEAD_BYTES: Final = 256 * 1024
# What comes while a request waits for its connection, in pieces of 64 KiB at the most.
_MAX_WAITING_EVENTS: Final = 512
# What `Deadlines` calls the wait for a head.
HEAD: Final[Hashable] = "head"

type _Failed = Callable[[str, Exception], None]


class _Http(HttpLayer):
    """HTTP with bounds. `deadlines` has one for each head that has begun; `failed` is told what mitmproxy cannot read."""

    def __init__(self, context: Context, mode: HTTPMode, deadlines: Deadlines, failed: _Failed) -> None:
        super().__init__(context, mode)
        self._deadlines = deadlines
        self._failed = failed
        self._begun = False

    @override
    def make_stream(self, stream_id: int) -> CommandGenerator[None]:
        self.streams[stream_id] = Stream(self.context.fork(), stream_id)
        yield from self.event_to_child(self.streams[stream_id], events.Start())

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        yield from fail_closed_layer(super()._handle_event(event), self._shut)
        client = self.context.client
        if not isinstance(event, events.DataReceived) or event.connection is not client:
            return
        spoken = self.connections.get(client)
        if isinstance(spoken, Http1Server):
            reads_head = spoken.state == spoken.read_headers
            self._expect(head=reads_head and len(spoken.buf) > 0)
            if spoken.state != spoken.read_body and len(spoken.buf) > MAX_HEAD_BYTES:
                yield commands.CloseConnection(client)
                return
        if any(len(stream._paused_event_queue) > _MAX_WAITING_EVENTS for stream in self.streams.values()):  # noqa: SLF001 - nothing else tells how much waits
            yield commands.CloseConnection(client)

    def _shut(self, error: Exception) -> CommandGenerator[None]:
        self._failed("http", error)
        yield commands.CloseConnection(self.context.client)

    def _expect(self, *, head: bool) -> None:
        if head and not self._begun:
            self._deadlines.begin(self.context.client.id, HEAD, HEAD_S)
        elif self._begun and not head:
            self._deadlines.end(self.context.client.id, HEAD)
        self._begun = head


class Closed(Layer):
    """Nothing is spoken: the connection ends."""

    @override
    def _handle_event(self, event: events.Event) -> CommandGenerator[None]:
        if isinstance(event, events.Start):
            yield commands.CloseConnection(self.context.client)


def next_layer(asked: NextLayer, deadlines: Deadlines, failed: _Failed) -> Layer | None:
    """Say what is spoken next on a connection; None until enough of it has come."""
    context, data = asked.context, asked.data_client()
    match context.layers:
        case [modes.HttpProxy()]:
            return _Http(context, HTTPMode.regular, deadlines, failed)
        case [modes.HttpUpstreamProxy()]:
            return _Http(context, HTTPMode.upstream, deadlines, failed)
        case layers:
            inside = any(isinstance(layer, ClientTLSLayer) for layer in layers)
    if not inside and len(data) < _TELLING:
        return None
    if not inside and starts_like_tls_record(data):
        outer = ServerTLSLayer(context)
        outer.child_layer = ClientTLSLayer(context)
        return outer
    return _Http(context, HTTPMode.transparent, deadlines, failed)
