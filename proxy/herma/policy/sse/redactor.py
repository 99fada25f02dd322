"""Redaction of an event stream: whole events, in order, each with its own bytes unless a secret was in it.

Complete strings are masked at once. Pieces of a longer text go through a channel each; an event waits in the queue until its
pieces are decided, and everything behind it waits with it, so that no event is lost, doubled or moved. Comments do not wait.
"""

import json
from collections import OrderedDict, deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from herma.policy.decision import Finding
from herma.policy.redaction.channel import Channel
from herma.policy.redaction.document import literal, rewrites, spans, unjudged_document
from herma.policy.redaction.glance import Look
from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import Work
from herma.policy.routing.route import Dialect
from herma.policy.sse.channels import Approval, approval, channel_key, ended_item, ending, event_name, texts
from herma.policy.sse.framing import Framing
from herma.policy.sse.parser import MAX_EVENT_BYTES, Event, Passing, Splitter, StreamRefused
from herma.policy.sse.shape import Shapes
from herma.policy.sse.tails import Tails

__all__ = ["Saw", "SseRedactor", "error_event"]

# Texts that are open at once: parallel tool calls of one turn are some ten. The oldest is closed when there are more.
MAX_CHANNELS: Final = 64
# Events that wait for one decision. 300 ms of the fastest stream measured (15,000 events a second) is 4,500.
MAX_WAITING_EVENTS: Final = 8192
MAX_WAITING_BYTES: Final = 2 * MAX_EVENT_BYTES
MAX_APPROVALS: Final = 256


@dataclass(slots=True)
class Saw:
    """What the stream has said about itself so far."""

    completed: bool = False
    run_ended: bool = False
    run_id: str = ""


@dataclass(slots=True)
class _Part:
    """One string of an event that a channel decides; `pointer` is None when it is the whole data."""

    channel: Channel
    start: int
    text: str = field(repr=False)
    pointer: str | None

    def decided(self) -> bool:
        return self.channel.decided >= self.start + len(self.text)


@dataclass(slots=True)
class _Waiting:
    """One event in the queue: what is changed in it already, and what is not decided yet."""

    event: Event
    data: str = field(default="", repr=False)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    suffix: bytes = b""
    # What stands for the whole data, when judging it would have taken too long.
    unjudged: str = ""

    def decided(self) -> bool:
        return all(part.decided() for part in self.parts)

    def render(self) -> bytes:
        for part in self.parts:
            new = part.channel.render(part.text, part.start)
            if new == part.text:
                continue
            if part.pointer is None:
                return self.event.with_data(new.encode("utf-8", "surrogateescape"))
            start, end = spans(self.data)[part.pointer]
            self.edits.append((start, end, literal(new, self.data[start:end])))
        if self.unjudged:
            return self.event.with_data(self.unjudged.encode())
        if not self.edits:
            return self.event.raw
        parts: list[str] = []
        done = 0
        for start, end, written in sorted(self.edits):
            parts += (self.data[done:start], written)
            done = end
        parts.append(self.data[done:])
        return self.event.with_data("".join(parts).encode("utf-8", "surrogateescape"))


class SseRedactor:
    """One event stream on its way to the client."""

    def __init__(self, redactor: Redactor, dialect: Dialect | None = None) -> None:
        self._redactor = redactor
        self.dialect = dialect
        self._splitter = Splitter()
        self._framing = Framing(redactor)
        self._tails = Tails(redactor)
        self._channels: OrderedDict[tuple[object, ...], Channel] = OrderedDict()
        self._shapes = Shapes()
        self._queue: deque[_Waiting] = deque()
        self._queued_bytes = 0
        self._findings: list[Finding] = []
        self._approvals: list[Approval] = []
        self.saw = Saw()

    @property
    def at_boundary(self) -> bool:
        """Tell whether an event of one's own may be written now: nothing waits, and no event is open."""
        return self._splitter.at_boundary and not self._queue

    def feed(self, data: bytes, now: float) -> bytes:
        """Take bytes from the upstream; return what may leave now.

        Raises:
            StreamRefused: a bound is exceeded; the caller aborts the stream.
        """
        out: list[bytes] = []
        for frame in self._splitter.feed(data):
            raw = self._framing.clean(frame.raw, self._findings)
            if isinstance(frame, Passing):
                # A heartbeat overtakes what waits; the end of a line stays behind its event.
                if self._queue and not frame.raw.lstrip(b"\xef\xbb\xbf").startswith(b":"):
                    self._queue[-1].suffix += raw
                else:
                    out.append(raw)
            else:
                self._take(replace(frame, raw=raw) if raw is not frame.raw else frame, now)
                self._release(out)
        return b"".join(out)

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        if not self._queue:
            return None
        return min((d for c in self._channels.values() if (d := c.deadline()) is not None), default=None)

    def tick(self, now: float) -> bytes:
        """Decide what has waited too long."""
        for channel in self._channels.values():
            deadline = channel.deadline()
            if deadline is not None and deadline <= now:
                channel.force()
        out: list[bytes] = []
        self._release(out)
        return b"".join(out)

    def finish(self, now: float) -> bytes:
        """Release the rest: the upstream ended the stream cleanly."""
        out: list[bytes] = []
        for event in self._splitter.finish():
            self._take(replace(event, raw=self._framing.clean(event.raw, self._findings)), now)
        self._close_texts()
        self._release(out)
        return b"".join(out)

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        for channel in self._channels.values():
            self._findings.extend(channel.take_findings())
        found, self._findings = tuple(self._findings), []
        return found

    def take_approvals(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Hand over the approval requests seen since the last call, as (run id, offered choices)."""
        seen, self._approvals = self._approvals, []
        return tuple((one.run_id, one.choices) for one in seen)

    def _take(self, event: Event, now: float) -> None:
        waiting = _Waiting(event)
        if event.data is not None:
            self._judge(waiting, event.data, now)
        self._queue.append(waiting)
        self._queued_bytes += len(event.raw)
        if len(self._queue) > MAX_WAITING_EVENTS or self._queued_bytes > MAX_WAITING_BYTES:
            for channel in self._channels.values():
                channel.force()

    def _judge(self, waiting: _Waiting, data: bytes, now: float) -> None:
        piece = None if self.saw.completed else self._shapes.piece(waiting.event.name, data)
        if piece is not None:
            waiting.data = piece.data
            self._continue(waiting, piece.key, piece.text, piece.pointer, now)
            return
        if data.strip() == b"[DONE]":
            self.saw.completed = True
            self._close_texts()
            return
        # Clients replace a byte that is no UTF-8 and read on; here it is kept as it is.
        text = data.decode("utf-8", "surrogateescape")
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            self._framing.judge_lines(data.split(b"\n"))
            self._continue(waiting, ("text", waiting.event.name), text, None, now)
            return
        name = event_name(waiting.event.name, value)
        ends = self._note(name, value)
        if name != waiting.event.name:
            ends = self._note(waiting.event.name, value) or ends
        if self.saw.completed:
            self._close_texts()
        else:
            ends = self._close_item(name, value) or ends
        waiting.data = text
        pieces = self._pieces(waiting, name, value, now)
        clean = self._strings(waiting, text, pieces)
        clean = not self._carry(waiting, text, value, pieces) and clean
        if clean and not ends and len(pieces) == 1:
            ((pointer, key),) = pieces.items()
            self._shapes.learn(waiting.event.name, key, pointer, text, spans(text)[pointer])

    def _pieces(self, waiting: _Waiting, name: str, value: Any, now: float) -> dict[str, tuple[object, ...]]:
        """Give the pieces of longer texts to their channels; return where they stand, and whose they are."""
        pieces: dict[str, tuple[object, ...]] = {}
        for pointer, written in texts(value):
            key = channel_key(name, value, pointer)
            if key is not None:
                pieces[pointer] = key
                self._continue(waiting, key, written, pointer, now)
        return pieces

    def _strings(self, waiting: _Waiting, text: str, pieces: Collection[str]) -> bool:
        """Mask the strings that are no pieces; tell whether they were all clean."""
        look = Look(Work(len(text)), sure=False)
        # It has been read once: an error means that it is nested at the very bound, and its strings are looked at one by one.
        with suppress(ValueError, RecursionError):
            look = self._redactor.glance.look(text, 0, look.work)
            if look.clean:
                return True
        # Of two equal keys the client reads the last one; the first is judged as a string of its own.
        places = spans(text) if pieces else {}
        edits = rewrites(self._redactor, text, look, but={places[pointer] for pointer in pieces})
        if look.work.spent:
            self._findings.append(Finding(UNJUDGED_ID))
            waiting.unjudged = unjudged_document(self._redactor, text)
            return False
        for edit in edits:
            self._findings.extend(edit.findings)
            waiting.edits.append((edit.start, edit.end, edit.written))
        return not waiting.edits

    def _carry(self, waiting: _Waiting, text: str, value: Any, pieces: Collection[str]) -> bool:
        """Mask what goes on with a secret that began at the same place of an event before; tell whether there was any."""
        carried = {
            pointer: count
            for pointer, written in texts(value)
            if pointer not in pieces and (count := self._tails.carried(waiting.event.name, pointer, written))
        }
        if not carried:
            return False
        for pointer, (start, end) in spans(text).items():
            if pointer in carried:
                # A string that holds another secret as well goes whole.
                others = [edit for edit in waiting.edits if not start <= edit[0] < end]
                alone = len(others) == len(waiting.edits)
                rest = json.loads(f'"{text[start:end]}"')[carried[pointer] :] if alone else ""
                waiting.edits = [*others, (start, end, literal(rest, text[start:end]))]
        self._findings.append(Finding("secret-over-events"))
        return True

    def _continue(
        self, waiting: _Waiting, key: tuple[object, ...], text: str, pointer: str | None, now: float
    ) -> None:
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = Channel(self._redactor)
            if len(self._channels) > MAX_CHANNELS:
                self._drop(next(iter(self._channels)))
        waiting.parts.append(_Part(channel, channel.total, text, pointer))
        channel.append(text, now)
        self._channels.move_to_end(key)

    def _drop(self, key: tuple[object, ...]) -> None:
        channel = self._channels.pop(key)
        channel.force()
        self._findings.extend(channel.take_findings())

    def _close_item(self, name: str, value: Any) -> bool:
        """Close the texts of an item that the event repeats whole; tell whether it ends one."""
        item = ended_item(name, value)
        for key, channel in self._channels.items() if item else ():
            if not item.isdisjoint(key):
                channel.finish()
        return bool(item)

    def _close_texts(self) -> None:
        for channel in self._channels.values():
            channel.finish()

    def _note(self, name: str, value: Any) -> bool:
        """Keep what the event says of its stream; tell whether it says anything."""
        end = ending(name, value)
        if end is not None:
            self.saw.completed = True
            self.saw.run_ended = self.saw.run_ended or end.run
            self.saw.run_id = end.run_id or self.saw.run_id
        asked = approval(name, value)
        if asked is not None:
            if len(self._approvals) >= MAX_APPROVALS:
                raise StreamRefused("herma.stream.too_many_approvals")
            self._approvals.append(asked)
        return end is not None or asked is not None

    def _release(self, out: list[bytes]) -> None:
        while self._queue and self._queue[0].decided():
            waiting = self._queue.popleft()
            self._queued_bytes -= len(waiting.event.raw)
            out += (waiting.render(), waiting.suffix)


def error_event(dialect: Dialect | None, code: str, message: str) -> bytes:
    """Write an error into a stream, in the form that its clients raise on.

    `data: {"error": {…}}` without an event name is the one form on which every OpenAI SDK tried raises; with `event: error` two of
    them end silently. The caller aborts the connection behind it: the abort reaches the clients that ignore the event.
    """
    error = {"message": message, "type": "server_error", "param": None, "code": code}
    match dialect:
        case Dialect.HERMES_RUN:
            # The upstream's own form for a run, whose `error` is text.
            payload: dict[str, object] = {"event": "run.failed", "error": message, "code": code}
            return b"data: " + json.dumps(payload).encode() + b"\n\n"
        case Dialect.HERMES_SESSION:
            return (
                b"event: error\ndata: " + json.dumps({"message": message, "error": error}).encode() + b"\n\n"
            )
        case _:
            return b"data: " + json.dumps({"error": error}).encode() + b"\n\n"
