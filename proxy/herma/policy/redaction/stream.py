"""Redaction of plain text that arrives in pieces: terminal output, a pipe."""

from herma.policy.decision import Finding
from herma.policy.redaction.channel import Channel
from herma.policy.redaction.redactor import Redactor

__all__ = ["StreamRedactor"]


class StreamRedactor:
    """A channel for plain text: what goes in comes out masked, at once or within the deadline."""

    def __init__(self, redactor: Redactor) -> None:
        self._channel = Channel(redactor)
        self._held = ""
        self._start = 0

    def feed(self, text: str, now: float) -> str:
        """Take the next piece; return what may leave."""
        self._held += text
        self._channel.append(text, now)
        return self._release()

    def deadline(self) -> float | None:
        """Tell when `tick` must be called, if nothing comes before."""
        return self._channel.deadline()

    def tick(self, now: float) -> str:
        """Release what has been held too long, masked where it is still open."""
        deadline = self._channel.deadline()
        if deadline is None or now < deadline:
            return ""
        self._channel.force()
        return self._release()

    def finish(self) -> str:
        """Release the rest: the text ended."""
        self._channel.finish()
        return self._release()

    def take_findings(self) -> tuple[Finding, ...]:
        """Hand over what was found since the last call."""
        return self._channel.take_findings()

    def _release(self) -> str:
        count = self._channel.decided - self._start
        ready, self._held = self._held[:count], self._held[count:]
        self._start += count
        return self._channel.render(ready, self._start - count)
