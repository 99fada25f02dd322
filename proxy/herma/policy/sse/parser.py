r"""Server-sent events on bytes, as the WHATWG HTML standard (section 9.2.6) cuts them.

Lines end with LF, CRLF or CR; an empty line ends an event; a line that begins with a colon is a comment. Every byte that comes
in goes out in exactly one frame, so that what is forwarded unchanged is byte for byte what came.
"""

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "MAX_EVENT_BYTES",
    "Event",
    "Frame",
    "Passing",
    "Splitter",
    "StreamRefused",
    "field_of",
    "lines_of",
]

# `response.completed` and `run.completed` repeat a whole turn with its tool results. The longest recorded turn is 0.3 MiB, the
# upstream takes bodies of 10 MB; what is longer than 8 MiB cannot be judged in time and ends the stream.
MAX_EVENT_BYTES: Final = 8 * 1024 * 1024
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
# An event as most are written: a name and one line of data, or the data alone.
_USUAL: Final = re.compile(rb"(?:event:[ ]?([^\r\n]*+)\n)?data:[ ]?([^\r\n]*+)\n\n")
_BOM: Final = b"\xef\xbb\xbf"


class StreamRefused(Exception):  # noqa: N818 - it refuses, as Deny does; nothing has gone wrong here
    """The stream cannot be judged; the caller aborts it, and never ends it cleanly."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Passing:
    """Bytes that carry no event: comments, and empty lines between events."""

    raw: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its bytes, its name, and its data without the framing; no data means that nothing is dispatched."""

    raw: bytes = field(repr=False)
    name: str
    data: bytes | None = field(repr=False)

    def with_data(self, data: bytes) -> bytes:
        """Write the event with other data of at most as many lines, everything else as it was."""
        lines = data.split(b"\n")
        out: list[bytes] = []
        for line, ending in lines_of(self.raw):
            if field_of(line)[0] != b"data":
                out += (line, ending)
                continue
            if not lines:
                continue
            # The prefix (`data: `, a BOM) stays as it was written.
            prefix = line[: len(line) - len(field_of(line)[1])]
            out += (prefix, lines.pop(0), ending)
        return b"".join(out)


type Frame = Passing | Event


class Splitter:
    """Cuts a stream into frames, however the network cut it."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._buffer = b""
        # Bytes of `_buffer` that belong to complete lines of the open event, and where the search goes on.
        self._taken = 0
        self._seen = 0
        self._after_cr = False
        self._first = True

    @property
    def at_boundary(self) -> bool:
        """Tell whether no event is open."""
        return not self._buffer

    def feed(self, data: bytes) -> list[Frame]:
        """Take the next bytes.

        Raises:
            StreamRefused: an event is longer than the bound.
        """
        frames: list[Frame] = []
        if self._after_cr and data[:1] == b"\n":
            # The second half of a CRLF whose line was already taken.
            data = self._second_half(data, frames)
        if data:
            self._after_cr = False
            self._buffer += data
            self._cut(frames)
        return frames

    def _second_half(self, data: bytes, frames: list[Frame]) -> bytes:
        self._after_cr = False
        if self._buffer:
            self._buffer += b"\n"
            self._taken = self._seen = len(self._buffer)
        else:
            frames.append(Passing(b"\n"))
        return data[1:]

    def finish(self) -> list[Event]:
        """Hand over what is left; the standard drops an event that was not ended, its bytes are still judged."""
        rest, self._buffer = self._buffer, b""
        self._taken = self._seen = 0
        return [_event(rest)] if rest else []

    def _usual(self, frames: list[Frame]) -> int:
        """Take the events at the front of the buffer that are written as most are; return where they end."""
        done = 0
        while (found := _USUAL.match(self._buffer, done)) is not None:
            frames.append(Event(found.group(), (found[1] or b"").decode("utf-8", "replace"), found[2]))
            done = found.end()
            self._first = False
        return done

    def _cut(self, frames: list[Frame]) -> None:
        buffer = self._buffer
        done = 0 if self._seen else self._usual(frames)
        taken = done or self._taken
        for found in _LINE_END.finditer(buffer, max(done, self._seen)):
            line = buffer[taken : found.start()]
            if self._first:
                line = line.removeprefix(_BOM)
                self._first = False
            taken = found.end()
            if taken == len(buffer) and found.group() == b"\r":
                self._after_cr = True
            if not line:
                raw = buffer[done:taken]
                frames.append(
                    Passing(raw) if not buffer[done : found.start()].removeprefix(_BOM) else _event(raw)
                )
                done = taken
            elif line[:1] == b":" and not buffer[done : found.start() - len(line)].removeprefix(_BOM):
                # A comment before an event is a heartbeat: it does not wait for the event.
                frames.append(Passing(buffer[done:taken]))
                done = taken
        self._buffer = buffer[done:]
        self._taken = taken - done
        self._seen = len(self._buffer)
        if len(self._buffer) > self._max:
            raise StreamRefused("herma.stream.event_too_large")


def lines_of(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Cut bytes into lines, each with the line end that was written."""
    lines: list[tuple[bytes, bytes]] = []
    at = 0
    for found in _LINE_END.finditer(raw):
        lines.append((raw[at : found.start()], found.group()))
        at = found.end()
    if at < len(raw):
        lines.append((raw[at:], b""))
    return lines


def field_of(line: bytes) -> tuple[bytes, bytes]:
    """Return the name and the value of a line; a comment has an empty name."""
    name, _, value = line.removeprefix(_BOM).partition(b":")
    return name, value.removeprefix(b" ")


def _event(raw: bytes) -> Event:
    name = ""
    data: list[bytes] = []
    for line, _ in lines_of(raw):
        match field_of(line):
            case (b"event", value):
                name = value.decode("utf-8", "replace")
            case (b"data", value):
                data.append(value)
            case _:
                pass
    return Event(raw, name, b"\n".join(data) if data else None)
