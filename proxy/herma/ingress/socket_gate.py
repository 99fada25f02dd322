"""Stands in a WebSocket: reads the frames of both sides, judges what the caller sends, redacts what the agent sends.

A connection that stays open for hours outlives its credential: who it belongs to is asked again and again.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from herma.ingress.holding import LOOK_EVERY_S
from herma.ingress.record import Record
from herma.ingress.socket_caller import Ruling
from herma.ingress.socket_turns import Answer, Starting
from herma.policy.decision import Deny
from herma.policy.message.html import withheld
from herma.policy.secret import Secret
from herma.policy.socket.outward import Outward
from herma.policy.sse.parser import StreamRefused
from herma.wire import Frames, Message

__all__ = ["MAX_OUTWARD_BYTES", "SocketGate"]

# One message of the agent: as much as one event of a stream may have.
MAX_OUTWARD_BYTES: Final = 8 * 1024 * 1024
# A loopback upstream sends no pings of its own, so a caller that is gone would hold its terminal for ever.
PING_EVERY_S: Final = 20.0
# A call that starts a turn waits for its slot, and what comes behind it waits too: longer than the slot is asked for, and more than
# a page sends at once, nobody needs.
MAX_WAIT_S: Final = 10.0
MAX_WAITING: Final = 128

# RFC 6455 section 7.4.1, and 4401 for a credential that holds no more.
_GONE: Final = 1001
_BROKE_POLICY: Final = 1008
_FAILED: Final = 1011
_LAPSED: Final = 4401


class Turns(Protocol):
    """Where turns are asked for, and where what the agent says of them is heard."""

    def ask(self, starting: Starting, answer: Answer) -> None:
        """Ask whether a turn may start; `answer` is called when that is known."""
        ...

    def hear(self, message: bytes) -> None:
        """Take a message of the agent."""
        ...


class SocketGate:
    """The one between the caller and the agent.

    A message of the caller has `max_message_bytes` and `message_timeout_s` from its first byte to its last. `key` is the upstream's
    own, which never leaves. `holds` tells whether the caller's credential still does. `redacted` is False where findings are only
    reported. `leaving` tells that the connection is to end because the gate does. `whole` tells that each message of the agent stays one message; a terminal's output does not.
    """

    def __init__(
        self,
        *,
        judge: Callable[[Message, float], Ruling],
        turns: Turns,
        outward: Outward,
        record: Record,
        max_message_bytes: int,
        message_timeout_s: float,
        key: Secret | None,
        holds: Callable[[], bool],
        leaving: Callable[[], bool],
        redacted: bool,
        whole: bool,
        now: float,
    ) -> None:
        self._judge = judge
        self._turns = turns
        self._leaving = leaving
        self._wake: Callable[[], None] = lambda: None
        self._waiting: deque[Message] = deque()
        # The message that waits for a slot, and since when; then what was said.
        self._asking: tuple[Message, Ruling] | None = None
        self._asked_at = 0.0
        self._key = key
        self._message_timeout_s = message_timeout_s
        self._begun: float | None = None
        self._outward = outward
        self._record = record
        self._holds = holds
        self._redacted = redacted
        self._caller = Frames(client=True, max_bytes=max_message_bytes)
        self._agent = Frames(client=False, max_bytes=MAX_OUTWARD_BYTES)
        # Whether each message of the agent that waits is text.
        self._kinds: deque[bool] = deque(maxlen=None if whole else 1)
        self._whole = whole
        self._next_look = now + LOOK_EVERY_S
        self._next_ping = now + PING_EVERY_S
        self._asked = False
        self.over = False

    def begin(self, wake: Callable[[], None]) -> None:
        """Hear what to call when there is something to do."""
        self._wake = wake

    def take(self, data: bytes, now: float, *, caller: bool) -> None:
        """Take what one side brought."""
        if self.over:
            return
        if caller:
            self._from_caller(data, now)
        else:
            self._from_agent(data, now)

    def ended(self, now: float, *, caller: bool) -> None:  # noqa: ARG002 - the end has no time of its own
        """End the other side too."""
        if not self.over:
            self._finish(_GONE, by_agent=not caller)

    def collect(self, *, caller: bool) -> bytes:
        """Hand over what is to be written to one side."""
        return self._caller.take() if caller else self._agent.take()

    def deadline(self) -> float | None:
        """Tell when `tick` must be called."""
        due = [self._next_look, self._next_ping]
        if self._begun is not None:
            due.append(self._begun + self._message_timeout_s)
        if self._asking is not None:
            due.append(self._asked_at + MAX_WAIT_S)
        if (outward := self._outward.deadline()) is not None:
            due.append(outward)
        return min(due)

    def tick(self, now: float) -> None:
        """Release what waits too long, ask the caller for a sign of life, and ask whether it may still be here."""
        self._send_out(self._outward.tick(now))
        self._go_on(now)
        if self.over:
            return
        if self._asking is not None and now >= self._asked_at + MAX_WAIT_S:
            self._record.code = "herma.store.unavailable"
            self._finish(_FAILED)
            return
        if self._begun is not None and now >= self._begun + self._message_timeout_s:
            self._record.code = "herma.body.timeout"
            self._finish(_BROKE_POLICY)
            return
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY_S
            if not self._holds():
                self._record.code = "herma.auth.expired"
                self._finish(_LAPSED)
                return
            if self._leaving():
                self._finish(_GONE)
                return
        if now >= self._next_ping:
            self._next_ping = now + PING_EVERY_S
            if self._asked and not self._caller.answered:
                self._finish(_FAILED)
                return
            self._asked, self._caller.answered = True, False
            self._caller.ping()

    def _from_caller(self, data: bytes, now: float) -> None:
        messages = self._caller.feed(data)
        if messages or not self._caller.halfway:
            self._begun = None
        if self._caller.halfway and self._begun is None:
            self._begun = now
        self._waiting += messages
        self._go_on(now)
        if self.over:
            return
        if len(self._waiting) > MAX_WAITING:
            self._record.code = "herma.limit.rate"
            self._finish(_BROKE_POLICY)
        elif self._caller.closed:
            self._finish(self._caller.closed)

    def _go_on(self, now: float) -> None:
        """Judge what waits, up to a message that has to wait itself."""
        while self._waiting and self._asking is None and not self.over:
            message = self._waiting.popleft()
            self._record.bytes_in += len(message.data)
            ruling = self._judge(message, now)
            if ruling.starting is None:
                self._obey(message, ruling)
            else:
                self._asking, self._asked_at = (message, ruling), now
                self._turns.ask(ruling.starting, self._answered)

    def _answered(self, denied: Deny | None) -> bool:
        """Take what was said of the turn that the message starts; what waits behind it is looked at on waking."""
        asking, self._asking = self._asking, None
        if asking is None or self.over:
            return False
        message, ruling = asking
        self._obey(message, ruling.settled(denied))
        self._wake()
        return denied is None

    def _obey(self, message: Message, ruling: Ruling) -> None:
        if ruling.passes:
            self._agent.send(message)
        if ruling.reply:
            self._caller.send(Message(ruling.reply))
        if ruling.close:
            self._finish(ruling.close)

    def _from_agent(self, data: bytes, now: float) -> None:
        try:
            for message in self._agent.feed(data):
                self._turns.hear(message.data)
                judged = self._outward.feed(message.data, now)
                if self._redacted:
                    self._kinds.append(message.text)
                    self._send_out(judged)
                else:
                    self._note_findings()
                    self._send(message)
        except StreamRefused as refused:
            self._record.outcome, self._record.code = "failed", refused.code
            self._finish(_BROKE_POLICY)
            return
        if self._agent.closed:
            self._finish(self._agent.closed, by_agent=True)

    def _send_out(self, messages: list[bytes]) -> None:
        self._note_findings()
        if self._redacted:
            for data in messages:
                self._send(Message(data, self._kinds.popleft() if self._whole else self._kinds[-1]))

    def _send(self, message: Message) -> None:
        data = withheld(message.data, self._key)
        self._record.bytes_out += len(data)
        self._caller.send(Message(data, message.text))

    def _note_findings(self) -> None:
        findings = self._outward.take_findings()
        self._record.redactions += len(findings)
        self._record.add(findings)

    def _finish(self, code: int, *, by_agent: bool = False) -> None:
        """Close both sides; what the agent said to its end still leaves, judged as it stands."""
        if by_agent:
            self._send_out(self._outward.finish())
        self._caller.close(code)
        self._agent.close(code)
        self.over = True
