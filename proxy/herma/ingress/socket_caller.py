"""What a caller sends over a WebSocket, judged message by message like the bodies of requests."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.ingress.socket_turns import SocketTurns, Starting
from herma.policy.checks import read_message
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Exchange, Phase
from herma.policy.jsondoc import Document
from herma.policy.limits.bucket import Level
from herma.policy.routing.calls import CALL
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route, Socket
from herma.policy.socket.calls import Call, answer, read_call
from herma.wire import Message

__all__ = ["CallerJudge", "Ruling"]

# RFC 6455 section 7.4.1: data of a kind that is not taken; a message that breaks the rules of this server.
_NOT_TAKEN = 1003
_BROKE_POLICY = 1008


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a message: it passes, or is answered in the upstream's place, or ends the connection.

    With `starting` it starts a turn, and waits until that may be; `settled` tells then what becomes of it.
    """

    passes: bool
    reply: bytes = b""
    close: int = 0
    starting: Starting | None = None
    settled: "Callable[[Deny | None], Ruling]" = lambda _: Ruling(passes=False)


_PASSES = Ruling(passes=True)
# Judging a call takes up to some milliseconds, in the loop that serves everybody. A page makes some ten when it is opened.
MESSAGES_PER_S = 20.0
MESSAGES_AT_ONCE = 100.0
# A page's terminal tells its size and answers the program in it by itself, all in escape sequences.
_BY_ITSELF = b"\x1b"
_TOO_FAST = Deny(429, "herma.limit.rate", "Too many messages in a short time.")


class CallerJudge:
    """Judges what one caller sends; each call and each refusal has a line of its own in the audit.

    `used` is called for what a page does not send by itself.
    """

    def __init__(
        self, plane: Plane, exchange: Exchange, turns: SocketTurns, used: Callable[[], None]
    ) -> None:
        self._plane = plane
        self._exchange = exchange
        self._turns = turns
        self._used = used
        self._level = Level.full(MESSAGES_PER_S, MESSAGES_AT_ONCE, 0.0)
        kind = exchange.match.route.socket
        self._judge: Callable[[Message], Ruling] = {
            Socket.CALLS: self._calls,
            Socket.EVENTS: self._nothing,
            Socket.MESSAGES: self._message,
            Socket.TERMINAL: self._keys,
        }[kind]
        self._paced = kind is not Socket.TERMINAL

    @property
    def _generation(self) -> Generation:
        """The rules of the moment: a connection stays open for hours, and what is switched off meanwhile is off."""
        return self._plane.generation

    def judge(self, message: Message, now: float) -> Ruling:
        """Judge the next message; too many of them in a short time end the connection."""
        if self._paced:
            self._level = self._level.refilled(now)
            if self._level.wait_s > 0:
                return self._end(_TOO_FAST, _BROKE_POLICY, len(message.data))
            self._level = self._level.taken()
        return self._judge(message)

    def _nothing(self, message: Message) -> Ruling:
        deny = Deny(403, "herma.socket.one_way", "Nothing is sent over this connection but by the agent.")
        return self._end(deny, _BROKE_POLICY, len(message.data))

    def _keys(self, message: Message) -> Ruling:
        if not message.data.startswith(_BY_ITSELF):
            self._used()
        return _PASSES

    def _message(self, message: Message) -> Ruling:
        self._used()
        route = self._exchange.match.route
        document = read_message(message.data, self._generation.settings.limits) if message.text else _OPAQUE
        if isinstance(document, Deny):
            return self._end(document, _BROKE_POLICY if message.text else _NOT_TAKEN, len(message.data))
        decision = self._decide(self._exchange.match, document, Phase.REQUEST_BODY)
        if isinstance(decision, Deny):
            return self._end(decision, _BROKE_POLICY, len(message.data))
        if decision.findings:
            self._note(route.template, route.operation, decision, len(message.data))
        return _PASSES

    def _calls(self, message: Message) -> Ruling:
        if not message.text:
            return self._end(_OPAQUE, _NOT_TAKEN, len(message.data))
        if not message.data.strip():
            # The upstream takes no notice of it either.
            return Ruling(passes=False)
        limits = self._generation.settings.limits
        call = read_call(message.data, max_depth=limits.max_json_depth, max_keys=limits.max_json_keys)
        if isinstance(call, Deny):
            self._note("", "", call, len(message.data))
            return Ruling(passes=False, reply=answer(None, call))
        match = self._generation.profile.match_call(call.method, call.params)
        if isinstance(match, Deny):
            return self._settle(call, None, match, len(message.data))
        if not match.route.polled:
            self._used()
        decision = self._call(call, match, message.data)
        route, size = match.route, len(message.data)
        if isinstance(decision, Allow):
            starting = self._turns.starting(call, route)
            if isinstance(starting, Starting):
                return Ruling(
                    passes=False,
                    starting=starting,
                    settled=lambda denied: self._settle(call, route, denied or decision, size),
                )
            decision = starting or decision
        return self._settle(call, route, decision, size)

    def _settle(self, call: Call, route: Route | None, decision: Allow | Deny, size: int) -> Ruling:
        template, operation = (route.template, route.operation) if route is not None else ("", "")
        self._note(template, operation, decision, size)
        if isinstance(decision, Allow):
            self._turns.sent(call)
            return _PASSES
        # A call without an id asks for no answer; but one that is no call, or none of its kind, is told so (JSON-RPC 2.0 section 5).
        told = call.id is not None or decision.status == 400
        return Ruling(passes=False, reply=answer(call.id, decision) if told else b"")

    def _call(self, call: Call, match: Match, raw: bytes) -> Allow | Deny:
        document = Document(raw, call.params)
        decision = self._decide(match, document, Phase.REQUEST_HEAD)
        if isinstance(decision, Allow):
            body = self._decide(match, document, Phase.REQUEST_BODY)
            decision = replace(body, findings=decision.findings + body.findings)
        return decision

    def _decide(self, match: Match, document: Document, phase: Phase) -> Allow | Deny:
        exchange = replace(self._exchange, match=match, document=document, today=datetime.now(UTC).date())
        return self._generation.pipeline.decide(exchange, phase)

    def _end(self, deny: Deny, code: int, size: int) -> Ruling:
        route = self._exchange.match.route
        self._note(route.template, route.operation, deny, size)
        return Ruling(passes=False, close=code)

    def _note(self, route: str, operation: str, decision: Allow | Deny, size: int) -> None:
        now = time.monotonic()
        record = Record(next(self._plane.ids), now, self._exchange.address, method=CALL)
        record.principal = self._exchange.principal.name if self._exchange.principal is not None else ""
        record.upstream, record.route, record.operation = self._generation.name, route, operation
        record.bytes_in = size
        record.add(decision.findings)
        if isinstance(decision, Deny):
            record.status, record.code, record.outcome = decision.status, decision.code, "denied"
            record.reason = decision.message
        self._plane.audit.write(record, now)
        self._plane.meter.exchange(record, now)


_OPAQUE = Deny(415, "herma.body.opaque", "A message of this kind cannot be inspected on this connection.")
