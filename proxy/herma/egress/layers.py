"""Which protocols may be spoken through the proxy: HTTP, in clear and inside TLS, and WebSockets on it.

mitmproxy by itself would carry whatever else is spoken as raw bytes, and what goes to port 53 as DNS; nobody would have read it.
"""

from typing import Final, override

from mitmproxy.http import HTTPFlow
from mitmproxy.net.tls import starts_like_tls_record
from mitmproxy.proxy import events
from mitmproxy.proxy.layer import CommandGenerator, Layer, NextLayer
from mitmproxy.proxy.layers import ClientTLSLayer, HttpLayer, ServerTLSLayer, modes
from mitmproxy.proxy.layers.http import HTTPMode, HttpStream

from herma.egress.held import Ticket

__all__ = ["BODY_SIZE_LIMIT", "give_ticket", "next_layer", "ticket_of"]

# A record of TLS is told from HTTP by this many bytes.
_TELLING: Final = 3
_TICKET: Final = "herma.ticket"
# For mitmproxy's option of that name: it is only asked about bodies that were found to be too large.
BODY_SIZE_LIMIT: Final = "1"


def give_ticket(flow: HTTPFlow, ticket: Ticket) -> None:
    """Let the body of a request be held."""
    flow.metadata[_TICKET] = ticket


def ticket_of(flow: HTTPFlow) -> Ticket | None:
    """Return what lets the body of a request be held, if anything does."""
    found = flow.metadata.get(_TICKET)
    return found if isinstance(found, Ticket) else None


class _Stream(HttpStream):
    """A request and its answer, of which only the request is bounded: an answer goes on as it comes."""

    @override
    def check_body_size(self, request: bool) -> CommandGenerator[bool]:
        if not request or not self.request_body_buf:
            return False
        ticket = ticket_of(self.flow)
        if ticket is not None and ticket.holds(len(self.request_body_buf)):
            return False
        return (yield from super().check_body_size(request))


class _Http(HttpLayer):
    @override
    def make_stream(self, stream_id: int) -> CommandGenerator[None]:
        self.streams[stream_id] = _Stream(self.context.fork(), stream_id)
        yield from self.event_to_child(self.streams[stream_id], events.Start())


def next_layer(asked: NextLayer) -> Layer | None:
    """Say what is spoken next on a connection; None until enough of it has come."""
    context, data = asked.context, asked.data_client()
    match context.layers:
        case [modes.HttpProxy()]:
            return _Http(context, HTTPMode.regular)
        case [modes.HttpUpstreamProxy()]:
            return _Http(context, HTTPMode.upstream)
        case layers:
            inside = any(isinstance(layer, ClientTLSLayer) for layer in layers)
    if not inside and len(data) < _TELLING:
        return None
    if not inside and starts_like_tls_record(data):
        outer = ServerTLSLayer(context)
        outer.child_layer = ClientTLSLayer(context)
        return outer
    return _Http(context, HTTPMode.transparent)
