"""Redaction of an event stream: whole events, in order, each with its own bytes unless a secret was in it.

Comments do not wait for the events before them.
"""

import json
from dataclasses import replace

from herma.policy.decision import Finding
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.route import Dialect
from herma.policy.sse.framing import Framing
from herma.policy.sse.parser import Passing, Splitter
from herma.policy.sse.queue import EventQueue, Saw

__all__ = ["SseRedactor", "error_event"]


class SseRedactor:
    """One event stream on its way to the client."""

    def __init__(self, redactor: Redactor, dialect: Dialect | None = None) -> None:
        self.dialect = dialect
        self._splitter = Splitter()
        self._framing = Framing(redactor)
        self._queue = EventQueue(redactor, self._framing.judge_lines)
        self._findings: list[Finding] = []

    @property
    def saw(self) -> Saw:
        """What the stream has said about itself so far."""
        return self._queue.saw

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
            if not isinstance(frame, Passing):
                self._queue.take(replace(frame, raw=raw) if raw is not frame.raw else frame, now)
                out += self._queue.release()
            # A heartbeat overtakes what waits; the end of a line stays behind its event.
            elif frame.raw.lstrip(b"\xef\xbb\xbf").startswith(b":") or not self._queue.follow(raw):
                out.append(raw)
        return b"".join(out)

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        return self._queue.deadline()

    def tick(self, now: float) -> bytes:
        """Decide what has waited too long."""
        self._queue.force(now)
        return b"".join(self._queue.release())

    def finish(self, now: float) -> bytes:
        """Release the rest: the upstream ended the stream cleanly."""
        for event in self._splitter.finish():
            self._queue.take(replace(event, raw=self._framing.clean(event.raw, self._findings)), now)
        self._queue.finish()
        return b"".join(self._queue.release())

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        found, self._findings = tuple(self._findings), []
        return (*found, *self._queue.take_findings())

    def take_approvals(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Hand over the approval requests seen since the last call, as (run id, offered choices)."""
        return self._queue.take_approvals()


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
