"""Redaction of events, however they are framed: whole, in order, each with its own bytes unless a secret was in it.

Complete strings are masked at once. Pieces of a longer text go through a channel each; an event waits in the queue until its
pieces are decided, and everything behind it waits with it, so that no event is lost, doubled or moved.
"""

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from herma.policy.decision import Finding
from herma.policy.redaction.channel import Channel
from herma.policy.redaction.document import literal, rewrites, spans, unjudged_document
from herma.policy.redaction.glance import Look
from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import Work
from herma.policy.sse.channels import Approval, approval, channel_key, ended_item, ending, event_name, texts
from herma.policy.sse.parser import MAX_EVENT_BYTES, Event, StreamRefused
from herma.policy.sse.shape import Shapes
from herma.policy.sse.tails import Tails

__all__ = ["EventQueue", "Saw"]

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


class EventQueue:
    """The events of one stream on their way to the client.

    `judge_lines` refuses text that is no JSON and hides a secret in its line ends. An `endless` stream is not over when an
    event of it says so: it is a connection on which one run follows another.
    """

    def __init__(
        self,
        redactor: Redactor,
        judge_lines: Callable[[list[bytes]], None],
        *,
        endless: bool = False,
    ) -> None:
        self._redactor = redactor
        self._judge_lines = judge_lines
        self._endless = endless
        self._tails = Tails(redactor)
        self._channels: OrderedDict[tuple[object, ...], Channel] = OrderedDict()
        self._shapes = Shapes()
        self._queue: deque[_Waiting] = deque()
        self._queued_bytes = 0
        self._findings: list[Finding] = []
        self._approvals: list[Approval] = []
        self.saw = Saw()

    def __len__(self) -> int:
        """Count the events that wait."""
        return len(self._queue)

    def take(self, event: Event, now: float) -> None:
        """Take the next event; it leaves by `release`.

        Raises:
            StreamRefused: a bound is exceeded, or a secret is spread so that masking would leave its parts.
        """
        waiting = _Waiting(event)
        if event.data is not None:
            self._judge(waiting, event.data, now)
        self._queue.append(waiting)
        self._queued_bytes += len(event.raw)
        if len(self._queue) > MAX_WAITING_EVENTS or self._queued_bytes > MAX_WAITING_BYTES:
            for channel in self._channels.values():
                channel.force()

    def follow(self, raw: bytes) -> bool:
        """Let bytes that are no event leave behind the last one that waits; tell whether one does."""
        if not self._queue:
            return False
        self._queue[-1].suffix += raw
        return True

    def release(self) -> list[bytes]:
        """Hand over the events that are decided, each by itself."""
        out: list[bytes] = []
        while self._queue and self._queue[0].decided():
            waiting = self._queue.popleft()
            self._queued_bytes -= len(waiting.event.raw)
            out.append(waiting.render() + waiting.suffix)
        return out

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        if not self._queue:
            return None
        return min((d for c in self._channels.values() if (d := c.deadline()) is not None), default=None)

    def force(self, now: float) -> None:
        """Decide what has waited too long."""
        for channel in self._channels.values():
            deadline = channel.deadline()
            if deadline is not None and deadline <= now:
                channel.force()

    def finish(self) -> None:
        """Decide everything: the stream ended cleanly."""
        self._close_texts()

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

    def _judge(self, waiting: _Waiting, data: bytes, now: float) -> None:
        piece = None if self.saw.completed else self._shapes.piece(waiting.event.name, data)
        if piece is not None:
            waiting.data = piece.data
            self._continue(waiting, piece.key, piece.text, piece.pointer, now)
            return
        if data.strip() == b"[DONE]" and not self._endless:
            self.saw.completed = True
            self._close_texts()
            return
        # Clients replace a byte that is no UTF-8 and read on; here it is kept as it is.
        text = data.decode("utf-8", "surrogateescape")
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            self._judge_lines(data.split(b"\n"))
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
        end = None if self._endless else ending(name, value)
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
