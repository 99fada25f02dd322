"""What a caller sends over a WebSocket, judged message by message like the bodies of requests."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from herma.ingress.plane import Generation, Plane
from herma.ingress.record import Record
from herma.policy.checks import read_message
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Exchange, Phase
from herma.policy.jsondoc import Document
from herma.policy.routing.calls import CALL
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Socket
from herma.policy.socket.calls import Call, answer, read_calls
from herma.wire import Message

__all__ = ["CallerJudge", "Ruling"]

# RFC 6455 section 7.4.1: data of a kind that is not taken; a message that breaks the rules of this server.
_NOT_TAKEN = 1003
_BROKE_POLICY = 1008


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of a message: it passes, or is answered in the upstream's place, or ends the connection."""

    passes: bool
    replies: Sequence[bytes] = ()
    close: int = 0


_PASSES = Ruling(passes=True)


class CallerJudge:
    """Judges what one caller sends; each call and each refusal has a line of its own in the audit."""

    def __init__(self, plane: Plane, generation: Generation, exchange: Exchange) -> None:
        self._plane = plane
        self._generation = generation
        self._exchange = exchange
        self.judge: Callable[[Message], Ruling] = {
            Socket.CALLS: self._calls,
            Socket.EVENTS: self._nothing,
            Socket.MESSAGES: self._message,
            Socket.TERMINAL: lambda _: _PASSES,
        }[exchange.match.route.socket]

    def _nothing(self, message: Message) -> Ruling:
        deny = Deny(403, "herma.socket.one_way", "Nothing is sent over this connection but by the agent.")
        return self._end(deny, _BROKE_POLICY, len(message.data))

    def _message(self, message: Message) -> Ruling:
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
        calls = read_calls(message.data, max_depth=limits.max_json_depth, max_keys=limits.max_json_keys)
        if isinstance(calls, Deny):
            self._note("", "", calls, len(message.data))
            return Ruling(passes=False, replies=(answer(None, calls),))
        decisions = [self._call(call, message.data) for call in calls]
        refused = next((deny for _, deny in decisions if isinstance(deny, Deny)), None)
        for (route, operation), decision in decisions:
            # A batch passes whole or not at all: what is judged is what is forwarded.
            told = decision if isinstance(decision, Deny) else refused or decision
            self._note(route, operation, told, len(message.data))
        if refused is None:
            return _PASSES
        replies = (
            answer(call.id, decision if isinstance(decision, Deny) else refused)
            for call, (_, decision) in zip(calls, decisions, strict=True)
            if call.id is not None
        )
        return Ruling(passes=False, replies=tuple(replies))

    def _call(self, call: Call, raw: bytes) -> tuple[tuple[str, str], Allow | Deny]:
        """Judge one call; return the names of its route, for the audit, and the decision."""
        match = self._generation.profile.match_call(call.method, call.params)
        if isinstance(match, Deny):
            return ("", ""), match
        names, document = (match.route.template, match.route.operation), Document(raw, call.params)
        head = self._decide(match, document, Phase.REQUEST_HEAD)
        if isinstance(head, Deny):
            return names, head
        body = self._decide(match, document, Phase.REQUEST_BODY)
        return names, replace(body, findings=head.findings + body.findings)

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
        record.route, record.operation, record.bytes_in = route, operation, size
        record.add(decision.findings)
        if isinstance(decision, Deny):
            record.status, record.code, record.outcome = decision.status, decision.code, "denied"
        self._plane.audit.write(record, now)
        self._plane.meter.exchange(record, now)


_OPAQUE = Deny(415, "herma.body.opaque", "A message of this kind cannot be inspected on this connection.")
