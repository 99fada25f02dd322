"""The hooks about requests and messages; every one shuts when it fails.

What is sent is judged whole, and what was judged is what goes out. Answers go on as they come.
"""

import asyncio
from functools import partial
from typing import Final

from mitmproxy.http import HTTPFlow

from herma.egress.asking import Asking, place_of
from herma.egress.body import FULL, TOO_LARGE, Body, body_of, give_body
from herma.egress.coding import CODING, decoded
from herma.egress.connections import Connections
from herma.egress.deadlines import BODY_S, Deadlines
from herma.egress.fail_closed import fail_closed
from herma.egress.held import Held
from herma.egress.record import Sending
from herma.egress.recording import Recording
from herma.egress.refusal import FAILED, refusal
from herma.egress.soundness import is_sound
from herma.egress.stream import MAX_REFUSED_BYTES, waits_for_word
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination
from herma.policy.egress.outward import Outbound, Sent

__all__ = ["Gate"]

# A body of so many bytes is judged in a thread of its own, so that the others go on.
OFF_LOOP_BYTES: Final = 64 * 1024
_SENDING: Final = "herma.sending"
_SWITCHED: Final = 101
# What a gateway says of a destination that it cannot reach: nobody was refused.
_NOT_REACHED: Final = 502
# What the agent tells the gate alone, and no destination.
_FOR_PROXIES: Final = ("proxy-authorization", "proxy-connection")

_CONTROL: Final = Deny(403, "herma.egress.secret", "A ping, its echo or a close holds a secret.")
_UNSOUND: Final = Deny(
    400, "herma.egress.malformed", "The request can be read in more than one way.", close=True
)


class Gate:
    """One addon of mitmproxy. `pass_beyond` lets bodies that are too large go out unread."""

    def __init__(
        self,
        asking: Asking,
        connections: Connections,
        deadlines: Deadlines,
        held: Held,
        *,
        pass_beyond: bool = False,
        recording: Recording | None = None,
    ) -> None:
        self._asking = asking
        self._connections = connections
        self._deadlines = deadlines
        self._held = held
        self._pass_beyond = pass_beyond
        self._recording = recording

    def failed(self, hook: str, error: Exception) -> None:
        """Tell which hook failed."""
        self._asking.failed(hook, error)

    def _refuse(self, flow: HTTPFlow) -> None:
        self._deny(flow, FAILED)

    def _kill(self, flow: HTTPFlow) -> None:
        if flow.killable:
            flow.kill()

    def _drop(self, flow: HTTPFlow) -> None:
        # A message of a flow that is killed goes out all the same.
        if flow.websocket is not None and flow.websocket.messages:
            flow.websocket.messages[-1].drop()
        self._kill(flow)

    @fail_closed(_refuse)
    async def http_connect(self, flow: HTTPFlow) -> None:
        """Judge where a tunnel is to lead, by its name."""
        self._connections.begun(flow.client_conn)
        place = place_of(flow.request.host, flow.request.port)
        sending = self._begin(flow, place)
        decision = await self._destination(flow, place)
        if isinstance(decision, Deny):
            self._deny(flow, decision)
        else:
            sending.add(decision.findings)

    @fail_closed(_kill)
    def http_connected(self, flow: HTTPFlow) -> None:
        """Write down that a tunnel stands."""
        self._connections.tunnelled(flow.client_conn)
        self._end(flow, 200)

    @fail_closed(_kill)
    def http_connect_error(self, flow: HTTPFlow) -> None:
        """Write down that a tunnel was refused."""
        self._end(flow, 502)

    @fail_closed(_refuse)
    async def requestheaders(self, flow: HTTPFlow) -> None:
        """Judge what a request says of itself before its body is read."""
        self._connections.begun(flow.client_conn)
        place = place_of(flow.request.host, flow.request.port)
        sending = self._begin(flow, place)
        for name in _FOR_PROXIES:
            flow.request.headers.pop(name, None)
        decision = await self._head(flow, place)
        if isinstance(decision, Deny) or place is None:
            self._deny(flow, decision if isinstance(decision, Deny) else FAILED)
            return
        sending.add(decision.findings)
        self._connections.introduce(flow)
        ticket = self._held.ticket()
        tells = partial(self._tells, flow, place)
        give_body(flow, Body(ticket, partial(self._deny, flow), tells, self._pass_beyond))
        if self._asking.unread(place) or (self._pass_beyond and not ticket.fits(_length(flow))):
            flow.request.stream = True
            return
        if not ticket.holds(_length(flow)):
            self._deny(flow, FULL if ticket.fits(_length(flow)) else TOO_LARGE)
            return
        self._deadlines.begin(flow.client_conn.id, flow.id, BODY_S)

    @fail_closed(_refuse)
    async def request(self, flow: HTTPFlow) -> None:
        """Judge a request whole, and send what becomes of it."""
        self._deadlines.end(flow.client_conn.id, flow.id)
        if flow.response is not None or flow.error is not None or flow.request.stream:
            return
        place = place_of(flow.request.host, flow.request.port)
        body = self._plain(flow)
        if place is None or isinstance(body, Deny):
            self._deny(flow, body if isinstance(body, Deny) else FAILED)
            return
        request = flow.request
        asked = Outbound(place, request.method, request.data.path, request.headers.fields, body)
        if len(body) > OFF_LOOP_BYTES:
            judged = await asyncio.to_thread(self._asking.outward.request, asked)
        else:
            judged = self._asking.outward.request(asked)
        if isinstance(judged, Deny):
            self._deny(flow, judged)
            return
        sending = self._sending(flow)
        sending.add(judged.findings)
        if judged.target is not asked.target:
            request.data.path = judged.target
        if judged.body is not body:
            request.headers.pop("content-encoding", None)
            request.content = judged.body
        sending.redactions = _changes(asked, judged)
        sending.bytes_out = len(judged.body)
        # Fields behind a body are read by few, and judged by nobody.
        request.trailers = None

    @fail_closed(_kill)
    def responseheaders(self, flow: HTTPFlow) -> None:
        """Let an answer go on as it comes; nothing in it is held."""
        if flow.response is not None and not self._sending(flow).code:
            flow.response.stream = flow.response.status_code != _SWITCHED

    @fail_closed(_kill)
    def response(self, flow: HTTPFlow) -> None:
        """Write down what was answered."""
        self._end(flow, flow.response.status_code if flow.response else 0)

    @fail_closed(_kill)
    def error(self, flow: HTTPFlow) -> None:
        """Write down what came to nothing."""
        sending = self._sending(flow)
        if not sending.code:
            sending.outcome = "failed"
        self._end(flow, 0)

    @fail_closed(_drop)
    async def websocket_message(self, flow: HTTPFlow) -> None:
        """Judge a message of the agent; one of the destination goes on as it is."""
        if flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        # mitmproxy keeps all messages of a connection for as long as it lasts.
        del flow.websocket.messages[:-1]
        if not message.from_client:
            return
        if flow.error is not None:
            # The message before it was refused, in the same packet.
            message.drop()
            return
        place = place_of(flow.request.host, flow.request.port)
        judged = FAILED if place is None else await self._message(flow, place, message.content)
        sending = self._asking.begin(place, "MESSAGE")
        if isinstance(judged, Deny):
            self._drop(flow)
            self._asking.refuse(sending, judged)
        elif judged.findings:
            message.content = judged.body
            sending.add(judged.findings)
            sending.redactions, sending.status = len(judged.findings), _SWITCHED
        else:
            return
        self._asking.end(sending)

    async def _destination(self, flow: HTTPFlow, place: Destination | None) -> Allow | Deny:
        """Judge a destination by its name, by what the name tells, and behind a further proxy by its addresses."""
        decision = self._asking.asked(place)
        if place is None or isinstance(decision, Deny):
            return decision
        named = self._asking.named(place, flow.request.host)
        if isinstance(named, Deny):
            return named
        reached = await self._connections.reachable(place)
        if isinstance(reached, Deny):
            return reached
        return Allow((*decision.findings, *named.findings, *reached.findings))

    async def _head(self, flow: HTTPFlow, place: Destination | None) -> Allow | Deny:
        if self._connections.is_shut(flow.client_conn):
            return FAILED
        data = flow.request.data
        if not is_sound(data.method, (data.path, data.authority), data.headers.fields):
            return _UNSOUND
        coding = flow.request.headers.get("transfer-encoding", "chunked")
        if coding.strip().lower() != "chunked":
            # What is packed by the transfer is unpacked by nobody here.
            return CODING
        told = [*flow.request.headers.get_all("host"), flow.request.authority]
        for name in filter(None, told):
            if place is not None and isinstance(decision := self._asking.agreeing(place, name), Deny):
                return decision
        return await self._destination(flow, place)

    async def _message(self, flow: HTTPFlow, place: Destination, content: bytes) -> Sent | Deny:
        """Judge a message whole, if there is room for it: few packed bytes are many."""
        body = body_of(flow)
        if body is None or not body.ticket.holds(len(content)):
            return TOO_LARGE if body is None or not body.ticket.fits(len(content)) else FULL
        judge = partial(self._asking.outward.message, place, flow.request.data.path, content)
        return await asyncio.to_thread(judge) if len(content) > OFF_LOOP_BYTES else judge()

    def _tells(self, flow: HTTPFlow, place: Destination, payload: bytes) -> bool:
        """Tell whether what a control frame carries may go out as it is."""
        judged = self._asking.outward.message(place, flow.request.data.path, payload)
        if isinstance(judged, Sent) and judged.body == payload:
            return True
        sending = self._asking.begin(place, "MESSAGE")
        self._asking.refuse(sending, Deny(403, _CONTROL.code, _CONTROL.message, judged.findings))
        self._asking.end(sending)
        return False

    def _plain(self, flow: HTTPFlow) -> bytes | Deny:
        """Take the content coding off a body."""
        raw = flow.request.raw_content or b""
        plain = decoded(raw, flow.request.headers.get("content-encoding", ""), self._held.each)
        if plain is raw or isinstance(plain, Deny):
            return plain
        # What it unpacks to is held, too, while it is judged.
        held = body_of(flow)
        return plain if held is not None and held.ticket.holds(len(plain)) else FULL

    def _begin(self, flow: HTTPFlow, place: Destination | None) -> Sending:
        sending = self._asking.begin(place, flow.request.method, flow.request.host)
        flow.metadata[_SENDING] = sending
        return sending

    def _sending(self, flow: HTTPFlow) -> Sending:
        found = flow.metadata.get(_SENDING)
        return found if isinstance(found, Sending) else self._begin(flow, None)

    def _deny(self, flow: HTTPFlow, deny: Deny) -> None:
        sending = self._sending(flow)
        deny = self._connections.denial(flow.client_conn, deny)
        self._asking.refuse(sending, deny)
        if deny.status == _NOT_REACHED:
            sending.outcome = "failed"
        waits = waits_for_word(flow.request)
        if flow.request.stream or (_length(flow) > MAX_REFUSED_BYTES and not waits):
            self._kill(flow)
        else:
            if waits:
                # mitmproxy would ask for the body.
                del flow.request.headers["expect"]
            flow.response = refusal(deny, sending.exchange)

    def _end(self, flow: HTTPFlow, status: int) -> None:
        sending = self._sending(flow)
        sending.status = sending.status or status
        self._deadlines.end(flow.client_conn.id, flow.id)
        if (body := body_of(flow)) is not None:
            body.ticket.release()
        self._asking.end(sending)
        # A name that the audit may not show is not recorded either.
        told = sending.host != self._asking.canary and not sending.host.startswith("-")
        if self._recording is not None and told:
            self._recording.add(flow, self._asking.masker)


def _length(flow: HTTPFlow) -> int:
    """Say how long a body is said to be; what is not said is counted as it comes."""
    written = flow.request.headers.get("content-length", "0")
    # More digits than a length has would be a length beyond all bounds.
    return int(written[:20]) if written.isascii() and written.isdigit() else 0


def _changes(asked: Outbound, judged: Sent) -> int:
    return len(judged.findings) if (judged.target, judged.body) != (asked.target, asked.body) else 0
