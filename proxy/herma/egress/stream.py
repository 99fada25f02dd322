"""One request and its answer: only the request is bounded, an answer goes on as it comes, and a refusal is in the gate's words."""

import time
from typing import Final, override

from mitmproxy.http import Request, Response
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.http import GetHttpConnection, HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import RequestData, RequestHeaders, ResponseEndOfMessage
from mitmproxy.proxy.layers.http._hooks import HttpResponseHeadersHook

from herma.egress.body import FULL, TOO_LARGE, Body, body_of
from herma.egress.refusal import unreachable
from herma.egress.websocket import Socket

__all__ = ["MAX_REFUSED_BYTES", "Stream", "waits_for_word"]

# The body of what is refused is read to its end up to here, so that the refusal is heard.
MAX_REFUSED_BYTES: Final = 1024 * 1024


def waits_for_word(request: Request) -> bool:
    """Tell whether the body of a request is sent only when it is asked for; one stream of many on a connection is read on."""
    return not request.is_http2 and request.headers.get("expect", "").lower() == "100-continue"


class Stream(HttpStream):
    """A stream of mitmproxy's with bounds."""

    def __init__(self, context: Context, stream_id: int) -> None:
        super().__init__(context, stream_id)
        self._dropped = 0

    @override
    def state_wait_for_request_headers(self, event: RequestHeaders) -> CommandGenerator[None]:
        waits = waits_for_word(event.request)
        yield from super().state_wait_for_request_headers(event)
        if waits and self.client_state == self.state_consume_request_body and self.flow.response is not None:
            yield from self._refuse_at_once(self.flow.response)

    def _refuse_at_once(self, refusal: Response) -> CommandGenerator[None]:
        """Answer who waits to be told whether to send a body: it is not asked for, and nothing of it is read (RFC 9110 section 10.1.1)."""
        refusal.timestamp_start = time.time()
        refusal.headers["connection"] = "close"
        yield HttpResponseHeadersHook(self.flow)
        if (yield from self.check_killed(True)):
            return
        yield from self.send_response()
        self.flow.live = False
        self.client_state = self.state_errored
        # Whoever sends its body all the same hears the refusal first: a connection that is closed with unread bytes would lose it.
        yield commands.CloseTcpConnection(self.context.client, half_close=True)

    @override
    def check_body_size(self, request: bool) -> CommandGenerator[bool]:
        buffered = len(self.request_body_buf)
        if not request or not buffered:
            return False
        if self.flow.response is not None:
            yield from self._drop(buffered)
            return False
        body = body_of(self.flow)
        if body is None:
            return (yield from super().check_body_size(request))
        if body.ticket.holds(buffered):
            return False
        if body.passes and not body.ticket.fits(buffered):
            yield from self._pass_on(body)
        else:
            body.refuse(FULL if body.ticket.fits(buffered) else TOO_LARGE)
            yield from self._drop(buffered)
        return False

    def _drop(self, buffered: int) -> CommandGenerator[None]:
        """Read on for the refusal to be heard; nothing is kept."""
        self._dropped += buffered
        self.request_body_buf.clear()
        if self._dropped > MAX_REFUSED_BYTES:
            yield commands.CloseConnection(self.context.client)

    def _pass_on(self, body: Body) -> CommandGenerator[None]:
        """Send what was held so far, and the rest as it comes, as mitmproxy does with bodies that are large for it."""
        self.flow.request.stream = True
        held = bytes(self.request_body_buf)
        self.request_body_buf.clear()
        body.ticket.release()
        yield from self.start_request_stream()
        yield from self.handle_event(RequestData(self.stream_id, held))

    @override
    def make_server_connection(self) -> CommandGenerator[bool]:
        body = body_of(self.flow)
        if self.client_state != self.state_done or body is None:
            # The body is still coming, and nothing of it is kept: mitmproxy ends this, in its words.
            return (yield from super().make_server_connection())
        connection, reason = yield GetHttpConnection(
            (self.flow.request.host, self.flow.request.port),
            self.flow.request.scheme == "https",
            self.flow.server_conn.via,
            self.flow.server_conn.transport_protocol,
        )
        if not reason:
            self.context.server = self.flow.server_conn = connection
            return True
        body.refuse(unreachable(reason))
        if self.flow.response is not None:
            self.flow.response.timestamp_start = time.time()
            yield HttpResponseHeadersHook(self.flow)
        if not (yield from self.check_killed(True)):
            yield from self.send_response()
        return False

    @override
    def flow_done(self) -> CommandGenerator[None]:
        if not self.flow.websocket:
            yield from super().flow_done()
            return
        self.child_layer = Socket(self.context, self.flow)
        self._handle_event = self.passthrough
        yield from self.child_layer.handle_event(events.Start())
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)
