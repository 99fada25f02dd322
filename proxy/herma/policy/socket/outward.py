"""Redaction of what the agent sends over a WebSocket: messages of JSON, or the output of a terminal."""

from dataclasses import dataclass
from typing import Protocol, override

from herma.policy.decision import Finding
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.stream import StreamRedactor
from herma.policy.sse.framing import Framing
from herma.policy.sse.parser import Event
from herma.policy.sse.queue import EventQueue

__all__ = ["MessageRedactor", "Outward", "TerminalRedactor"]


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
    """The bytes of a terminal, one text over all messages; a message may end inside a character."""

    def __init__(self, redactor: Redactor) -> None:
        self._stream = StreamRedactor(redactor)
        self._open = b""

    def feed(self, message: bytes, now: float) -> list[bytes]:
        """Take the next bytes; return what may leave, as one message."""
        data = self._open + message
        cut = _whole(data)
        data, self._open = data[:cut], data[cut:]
        return _sent(self._stream.feed(data.decode("utf-8", "surrogateescape"), now))

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        return self._stream.deadline()

    def tick(self, now: float) -> list[bytes]:
        """Release what has been held too long, masked where it is still open."""
        return _sent(self._stream.tick(now))

    def finish(self) -> list[bytes]:
        """Release the rest, the beginning of a character that never ended too."""
        rest, self._open = self._open, b""
        return [*_sent(self._stream.finish()), *([rest] if rest else [])]

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        return self._stream.take_findings()


def _sent(text: str) -> list[bytes]:
    return [text.encode("utf-8", "surrogateescape")] if text else []


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
