"""How the gate speaks to the process that started it: lines on standard output, and never a wait for who does not read them."""

import time
from collections.abc import Callable
from typing import Final, Protocol

from herma.egress.line import MAX_TEXT_CHARS, Failed, Message, Note, Sent, Told, TooLongError, encode
from herma.egress.record import Sending

__all__ = ["MAX_WAITING_BYTES", "Voice", "Writes"]

# Who started the gate reads at once; when it does not, some ten thousand lines wait and further ones are lost, and counted.
MAX_WAITING_BYTES: Final = 4 * 1024 * 1024


class Writes(Protocol):
    """Where the lines go."""

    def write(self, data: bytes, /) -> None:
        """Write, now or later."""
        ...

    def get_write_buffer_size(self) -> int:
        """Say how many bytes wait."""
        ...


class Voice:
    """The sink of all records, and what else is said; never raises."""

    def __init__(
        self,
        out: Writes,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._out = out
        self._clock = clock
        self._now = now
        self._lost = 0
        self._long = 0

    def say(self, message: Message) -> None:
        """Write one message, if there is room."""
        if self._out.get_write_buffer_size() > MAX_WAITING_BYTES:
            self._lost += 1
            return
        self._tell_losses()
        try:
            self._out.write(encode(message))
        except TooLongError:
            self._long += 1

    def _tell_losses(self) -> None:
        lost, long, self._lost, self._long = self._lost, self._long, 0, 0
        if lost:
            self._out.write(encode(Note("egress.lost", f"{lost} records were lost: nobody read them")))
        if long:
            self._out.write(encode(Note("egress.long", f"{long} records were too long to be told")))

    def note(self, code: str, text: str) -> None:
        """Tell an operator something."""
        self.say(Note(code, text[:MAX_TEXT_CHARS]))

    def sent(self, sending: Sending, finished: float) -> None:
        """Write the record of a request, a tunnel or a message."""
        elapsed = max(0.0, finished - sending.started)
        self.say(
            Sent(
                exchange=sending.exchange,
                started_ms=int((self._now() - (self._clock() - sending.started)) * 1000),
                duration_ms=int(elapsed * 1000),
                findings=tuple(map(Told.of, sending.findings)),
                **sending.facts(MAX_TEXT_CHARS),
            )
        )

    def failed(self, hook: str, kind: str) -> None:
        """Say that a hook failed."""
        self.say(Failed(hook, kind))
