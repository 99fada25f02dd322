"""The one in the middle of a WebSocket, without any network: two peers that write frames, a clock that is told."""

import json

import pytest
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side

from herma.ingress.record import Record
from herma.ingress.socket_caller import Ruling
from herma.ingress.socket_gate import LOOK_EVERY_S, MAX_WAIT_S, MAX_WAITING, PING_EVERY_S, SocketGate
from herma.ingress.socket_turns import Answer, Starting
from herma.policy.decision import Deny
from herma.policy.redaction.channel import DEADLINE_S
from herma.policy.routing.route import Turn
from herma.policy.secret import Secret
from herma.policy.socket.outward import MessageRedactor, TerminalRedactor
from herma.wire import Message
from support.redactor import GITHUB, redactor

PASSES = Ruling(passes=True)
KEY = Secret(b"zz-upstream-zz")


class Middle:
    """A gate between a caller and an agent; `ruling` is what is said of the caller's messages."""

    def __init__(self, *, terminal: bool = False, redacted: bool = True) -> None:
        self.caller = Protocol(Side.CLIENT, max_size=1 << 24)
        self.agent = Protocol(Side.SERVER, max_size=1 << 24)
        self.ruling = PASSES
        self.holds = True
        self.judged: list[Message] = []
        self.record = Record("x", 0.0)
        self.leaving = False
        self.asked: list[tuple[Starting, Answer]] = []
        self.heard: list[bytes] = []
        self.woken = 0
        self.gate = SocketGate(
            judge=self._judge,
            turns=self,
            outward=TerminalRedactor(redactor()) if terminal else MessageRedactor(redactor()),
            record=self.record,
            max_message_bytes=1000,
            message_timeout_s=60.0,
            key=KEY,
            holds=lambda: self.holds,
            leaving=lambda: self.leaving,
            redacted=redacted,
            whole=not terminal,
            now=0.0,
        )

    def ask(self, starting: Starting, answer: Answer) -> None:
        """Keep who asks."""
        self.asked.append((starting, answer))

    def hear(self, message: bytes) -> None:
        """Keep what the agent said."""
        self.heard.append(message)

    def _judge(self, message: Message, _now: float) -> Ruling:
        self.judged.append(message)
        return self.ruling

    def to_agent(self, data: bytes, now: float = 0.0) -> list[Frame]:
        """Let the caller send; return what reaches the agent."""
        self.caller.send_text(data)
        self.pump(now)
        return [event for event in self.agent.events_received() if isinstance(event, Frame)]

    def to_caller(self, *messages: bytes | str, now: float = 0.0) -> list[Frame]:
        """Let the agent send; return what reaches the caller."""
        for data in messages:
            if isinstance(data, str):
                self.agent.send_text(data.encode())
            else:
                self.agent.send_binary(data)
        self.pump(now)
        return self.received()

    def pump(self, now: float = 0.0) -> None:
        """Carry bytes until nobody has any."""
        for _ in range(3):
            if sent := b"".join(self.caller.data_to_send()):
                self.gate.take(sent, now, caller=True)
            if sent := b"".join(self.agent.data_to_send()):
                self.gate.take(sent, now, caller=False)
            if got := self.gate.collect(caller=True):
                self.caller.receive_data(got)
            if got := self.gate.collect(caller=False):
                self.agent.receive_data(got)

    def received(self) -> list[Frame]:
        """Return what reached the caller."""
        return [event for event in self.caller.events_received() if isinstance(event, Frame)]

    def codes(self) -> tuple[int | None, int | None]:
        """Return the codes that caller and agent were closed with."""
        received = (self.caller.close_rcvd, self.agent.close_rcvd)
        first, second = (int(close.code) if close is not None else None for close in received)
        return first, second


def test_what_passes_reaches_the_agent_as_it_was_sent() -> None:
    """And is counted."""
    middle = Middle()
    (frame,) = middle.to_agent(b"hello")
    assert (frame.opcode, frame.data) == (Opcode.TEXT, b"hello")
    assert middle.judged == [Message(b"hello")]
    assert middle.record.bytes_in == 5


def test_what_is_refused_is_answered_and_does_not_reach_the_agent() -> None:
    """The connection stays."""
    middle = Middle()
    middle.ruling = Ruling(passes=False, reply=b"no")
    assert middle.to_agent(b"hello") == []
    assert [frame.data for frame in middle.received()] == [b"no"]
    assert not middle.gate.over


def test_a_ruling_may_end_both_sides() -> None:
    """What the caller sent behind it is not judged any more."""
    middle = Middle()
    middle.ruling = Ruling(passes=False, close=1008)
    middle.caller.send_text(b"one")
    middle.caller.send_text(b"two")
    middle.pump()
    assert [message.data for message in middle.judged] == [b"one"]
    assert middle.codes() == (1008, 1008)
    assert middle.gate.over
    middle.gate.take(b"more", 0.0, caller=True)
    middle.gate.ended(0.0, caller=True)


def test_a_message_that_is_too_long_is_not_judged() -> None:
    """Its bytes are not kept."""
    middle = Middle()
    assert middle.to_agent(b"x" * 1001)[-1].opcode is Opcode.CLOSE
    assert middle.judged == []
    assert middle.codes()[0] == 1009


def test_a_secret_of_the_agent_is_masked() -> None:
    """Text stays text, bytes stay bytes, order stays order."""
    middle = Middle()
    first, second = middle.to_caller(json.dumps([GITHUB]), json.dumps({"a": GITHUB}).encode())
    assert (first.opcode, second.opcode) == (Opcode.TEXT, Opcode.BINARY)
    assert GITHUB.encode() not in bytes(first.data) + bytes(second.data)
    assert middle.record.redactions == 2
    assert middle.record.bytes_out == len(first.data) + len(second.data)


def test_what_waits_leaves_by_the_clock() -> None:
    """Masked, in its own kind of frame."""
    middle = Middle(terminal=True)
    out = middle.to_caller(f"echo {GITHUB[:30]}".encode(), now=1.0)
    due = middle.gate.deadline()
    assert due == 1.0 + DEADLINE_S
    middle.gate.tick(due)
    middle.pump()
    out += middle.received()
    assert out
    assert all(frame.opcode is Opcode.BINARY for frame in out)
    assert GITHUB[:16].encode() not in b"".join(bytes(frame.data) for frame in out)


def test_where_findings_are_only_told_everything_passes() -> None:
    """In the mode `monitor`."""
    middle = Middle(redacted=False)
    (frame,) = middle.to_caller(json.dumps([GITHUB]))
    assert frame.data == json.dumps([GITHUB]).encode()
    assert not middle.gate._kinds
    assert middle.record.redactions == 1


def test_what_cannot_be_judged_ends_the_connection() -> None:
    """Neither part of it leaves."""
    middle = Middle()
    (frame,) = middle.to_caller(f"{GITHUB[:8]}\n{GITHUB[8:]}")
    assert frame.opcode is Opcode.CLOSE
    assert middle.codes() == (1008, 1008)
    assert (middle.record.outcome, middle.record.code) == ("failed", "herma.stream.secret_spread")


@pytest.mark.parametrize("by_caller", [True, False])
def test_a_close_ends_the_other_side_with_its_code(*, by_caller: bool) -> None:
    """Without its reason, which may quote anything."""
    middle = Middle()
    (middle.caller if by_caller else middle.agent).send_close(4400, GITHUB)
    middle.pump()
    other = (middle.agent if by_caller else middle.caller).close_rcvd
    assert other == Close(4400, "")
    assert middle.gate.over


@pytest.mark.parametrize("caller", [True, False])
def test_a_side_that_hangs_up_ends_the_other(*, caller: bool) -> None:
    """What the agent had said by then still leaves."""
    middle = Middle(terminal=True)
    middle.to_caller(b"password: hun")
    middle.gate.ended(1.0, caller=caller)
    middle.pump()
    assert middle.codes()[0] == 1001
    told = b"".join(bytes(frame.data) for frame in middle.received() if frame.opcode is Opcode.BINARY)
    assert bool(told) is not caller


def test_a_caller_whose_credential_lapses_is_sent_away() -> None:
    """Within seconds, though nothing moves."""
    middle = Middle()
    assert middle.gate.deadline() == LOOK_EVERY_S
    middle.gate.tick(LOOK_EVERY_S)
    assert not middle.gate.over
    middle.holds = False
    middle.gate.tick(2 * LOOK_EVERY_S)
    middle.pump()
    assert middle.codes() == (4401, 4401)
    assert middle.record.code == "herma.auth.expired"


def test_a_caller_that_gives_no_sign_of_life_is_let_go() -> None:
    """One that answers stays."""
    middle = Middle()
    for beat in (1, 2, 3):
        middle.gate.tick(beat * PING_EVERY_S)
        middle.pump()
        assert not middle.gate.over
    middle.gate.tick(4 * PING_EVERY_S)
    middle.gate.tick(5 * PING_EVERY_S)
    middle.pump()
    assert middle.gate.over
    assert middle.codes() == (1011, 1011)


def test_a_message_that_does_not_end_is_not_waited_for() -> None:
    """However lively the caller is beside it; one that ends in time is none of these."""
    middle = Middle()
    middle.caller.send_text(b"whole")
    middle.pump(1.0)
    middle.gate.tick(70.0)
    assert not middle.gate.over
    middle.caller.send_text(b"{", fin=False)
    middle.pump(100.0)
    middle.caller.send_continuation(b" ", fin=False)
    middle.pump(130.0)
    middle.gate.tick(159.0)
    assert not middle.gate.over
    middle.gate.tick(160.0)
    middle.pump(160.0)
    assert middle.codes() == (1008, 1008)
    assert middle.record.code == "herma.body.timeout"


def test_the_upstreams_key_does_not_leave() -> None:
    """Whatever quotes it."""
    middle = Middle()
    (frame,) = middle.to_caller(json.dumps({"error": "no such key: zz-upstream-zz"}))
    assert b"held-by-the-gate" in frame.data
    assert KEY.reveal() not in frame.data


START = Starting(1, Turn.OPEN, "turn")
BUSY = Deny(429, "herma.limit.concurrency", "Too many.")


def _settled(denied: Deny | None) -> Ruling:
    return PASSES if denied is None else Ruling(passes=False, reply=b"busy")


WAITS = Ruling(passes=False, starting=START, settled=_settled)


def test_a_message_that_starts_a_turn_waits_and_what_is_behind_it_too() -> None:
    """Nothing overtakes it; when it may start, both pass in their order."""
    middle = Middle()
    middle.gate.begin(lambda: middle.gate.tick(0.0))
    middle.ruling = WAITS
    assert middle.to_agent(b"start") == []
    middle.ruling = PASSES
    assert middle.to_agent(b"behind") == []
    ((starting, answer),) = middle.asked
    assert starting is START
    assert answer(None)
    middle.pump()
    assert [f.data for f in middle.agent.events_received() if isinstance(f, Frame)] == [b"start", b"behind"]
    assert [message.data for message in middle.judged] == [b"start", b"behind"]


def test_a_turn_that_may_not_start_is_answered_in_its_place() -> None:
    """The connection goes on."""
    middle = Middle()
    middle.gate.begin(lambda: middle.gate.tick(0.0))
    middle.ruling = WAITS
    middle.to_agent(b"start")
    assert not middle.asked[0][1](BUSY)
    middle.pump()
    assert [frame.data for frame in middle.received()] == [b"busy"]
    middle.ruling = PASSES
    assert [frame.data for frame in middle.to_agent(b"next")] == [b"next"]


def test_a_caller_who_leaves_while_it_waits_starts_nothing() -> None:
    """Whoever gave the slot hears that it was not used."""
    middle = Middle()
    middle.ruling = WAITS
    middle.to_agent(b"start")
    middle.gate.ended(0.0, caller=True)
    assert not middle.asked[0][1](None)
    assert not middle.asked[0][1](None)


def test_nobody_waits_for_ever() -> None:
    """Where nothing is said of the slot the connection ends."""
    middle = Middle()
    middle.ruling = WAITS
    middle.to_agent(b"start")
    assert middle.gate.deadline() == min(MAX_WAIT_S, LOOK_EVERY_S, PING_EVERY_S)
    middle.gate.tick(MAX_WAIT_S - 0.1)
    assert not middle.gate.over
    middle.gate.tick(MAX_WAIT_S)
    assert middle.gate.over
    assert middle.record.code == "herma.store.unavailable"


def test_not_more_waits_than_a_page_sends_at_once() -> None:
    """What is beyond ends the connection, and is not judged."""
    middle = Middle()
    middle.ruling = WAITS
    middle.to_agent(b"start")
    for _ in range(MAX_WAITING):
        middle.to_agent(b"x")
    assert not middle.gate.over
    middle.to_agent(b"x")
    assert middle.gate.over
    assert middle.record.code == "herma.limit.rate"
    assert len(middle.judged) == 1


def test_what_the_agent_says_is_heard_before_it_is_masked() -> None:
    """The end of a turn may stand in it."""
    middle = Middle()
    middle.to_caller('{"a": 1}')
    assert middle.heard == [b'{"a": 1}']


def test_a_gate_that_stops_ends_what_is_idle() -> None:
    """With the code for that (RFC 6455 section 7.4.1)."""
    middle = Middle()
    middle.gate.tick(LOOK_EVERY_S)
    assert not middle.gate.over
    middle.leaving = True
    middle.gate.tick(2 * LOOK_EVERY_S)
    middle.pump()
    assert middle.codes() == (1001, 1001)
