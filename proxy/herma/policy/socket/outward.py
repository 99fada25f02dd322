"""Redaction of what the agent sends over a WebSocket: messages of JSON, or the output of a terminal."""

from collections import deque
from dataclasses import dataclass
from typing import Final, Protocol, override

from herma.policy.decision import Finding
from herma.policy.redaction.channel import DEADLINE_S, Channel
from herma.policy.redaction.redactor import Redactor
from herma.policy.socket.escapes import Sequence, cut
from herma.policy.sse.framing import Framing
from herma.policy.sse.parser import Event
from herma.policy.sse.queue import EventQueue

__all__ = ["MessageRedactor", "Outward", "TerminalRedactor"]

# No secret is shorter than this with the signs of a sequence around it.
_MIN_SEQUENCE_TEXT: Final = 12


class Outward(Protocol):
    """Judges the messages of one connection; what it is given leaves at once, or masked within the deadline."""

    def feed(self, message: bytes, now: float) -> list[bytes]:
        """Take the next message; return those that may leave.

        Raises:
            StreamRefused: the connection cannot be judged any further; the caller ends it.
        """
        ...

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        ...

    def tick(self, now: float) -> list[bytes]:
        """Release what has been held too long."""
        ...

    def finish(self) -> list[bytes]:
        """Release the rest: the agent ended the connection."""
        ...

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        ...


@dataclass(frozen=True, slots=True)
class _Message(Event):
    """A message: nothing stands around its data."""

    @override
    def with_data(self, data: bytes) -> bytes:
        return data


class MessageRedactor:
    """Messages that are JSON each: answers to calls, events of runs. Texts are followed from one message to the next."""

    def __init__(self, redactor: Redactor) -> None:
        self._queue = EventQueue(redactor, Framing(redactor).judge_lines, endless=True)

    def feed(self, message: bytes, now: float) -> list[bytes]:
        """Take the next message; return those that may leave.

        Raises:
            StreamRefused: the connection cannot be judged any further.
        """
        self._queue.take(_Message(message, "", message), now)
        # They are answered over this connection, by whoever may call for it: no list of offers is kept.
        self._queue.take_approvals()
        return self._queue.release()

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        return self._queue.deadline()

    def tick(self, now: float) -> list[bytes]:
        """Release what has been held too long, masked where it is still open."""
        self._queue.force(now)
        return self._queue.release()

    def finish(self) -> list[bytes]:
        """Release the rest."""
        self._queue.finish()
        return self._queue.release()

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        return self._queue.take_findings()


class TerminalRedactor:
    """The bytes of a terminal, one text over all messages; a message may end inside a character or an escape sequence.

    The text is judged as a person sees it, without its colours; what draws elsewhere parts words. A sequence that holds text of its
    own (a title, a link, what is copied) is judged by itself.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._channel = Channel(redactor)
        # The text that is not decided yet, from offset `_start`; sequences by the offset at which they stand.
        self._held = ""
        self._start = 0
        self._sequences: deque[tuple[int, Sequence]] = deque()
        self._open = b""
        self._begun = ""
        self._begun_at = 0.0
        self._findings: list[Finding] = []

    def feed(self, message: bytes, now: float) -> list[bytes]:
        """Take the next bytes; return what may leave, as one message."""
        data = self._open + message
        end = _whole(data)
        data, self._open = data[:end], data[end:]
        waited = bool(self._begun)
        parts, self._begun = cut(self._begun + data.decode("utf-8", "surrogateescape"))
        if parts or not waited:
            # A sequence that goes on and on gets no more time by it.
            self._begun_at = now
        self._take(parts, now)
        return self._release()

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        due = [self._begun_at + DEADLINE_S] if self._begun else []
        if (decides := self._channel.deadline()) is not None:
            due.append(decides)
        return min(due, default=None)

    def tick(self, now: float) -> list[bytes]:
        """Release what has been held too long, masked where it is still open; a sequence that does not end is text."""
        if self._begun and now >= self._begun_at + DEADLINE_S:
            self._give_up(now)
        deadline = self._channel.deadline()
        if deadline is not None and now >= deadline:
            self._channel.force()
        return self._release()

    def finish(self) -> list[bytes]:
        """Release the rest, the beginning of a character that never ended too."""
        self._give_up(self._begun_at)
        self._channel.finish()
        rest, self._open = self._open, b""
        return [*self._release(), *([rest] if rest else [])]

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        found, self._findings = tuple(self._findings), []
        return (*found, *self._channel.take_findings())

    def _give_up(self, now: float) -> None:
        begun, self._begun = self._begun, ""
        self._take([Sequence("\x1b", "\n"), begun[1:]] if begun else [], now)

    def _take(self, parts: list[str | Sequence], now: float) -> None:
        text: list[str] = []
        at = self._start + len(self._held)
        for part in parts:
            if isinstance(part, Sequence):
                self._sequences.append((at, self._judged(part)))
            piece = part.gap if isinstance(part, Sequence) else part
            text.append(piece)
            at += len(piece)
        joined = "".join(text)
        self._held += joined
        if joined:
            self._channel.append(joined, now)

    def _judged(self, sequence: Sequence) -> Sequence:
        if len(sequence.written) < _MIN_SEQUENCE_TEXT:
            return sequence
        judged = self._redactor.text(sequence.written)
        self._findings.extend(judged.findings)
        return Sequence(judged.text, sequence.gap)

    def _release(self) -> list[bytes]:
        """Write what is decided, each sequence where it stood."""
        out: list[str] = []
        while (
            self._sequences
            and self._sequences[0][0] + len(self._sequences[0][1].gap) <= self._channel.decided
        ):
            at, sequence = self._sequences.popleft()
            out += (self._text(at - self._start), sequence.written)
            if sequence.gap:
                # It stands for the sequence; only what is masked in its place is written.
                gap = self._text(1)
                out.append(gap if gap != sequence.gap else "")
        out.append(self._text(self._channel.decided - self._start))
        written = "".join(out)
        return [written.encode("utf-8", "surrogateescape")] if written else []

    def _text(self, count: int) -> str:
        ready, self._held = self._held[:count], self._held[count:]
        self._start += count
        return self._channel.render(ready, self._start - count)


def _whole(data: bytes) -> int:
    """Tell where the last character that is complete ends (RFC 3629): a tail of one that may go on is 1 to 3 bytes."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
        if byte < 0x80:
            break
    return len(data)
