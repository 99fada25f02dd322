"""How the gate speaks."""

from herma.egress.line import MAX_LINE_BYTES, Failed, Note, Sent, decode
from herma.egress.record import Sending
from herma.egress.voice import MAX_WAITING_BYTES, Voice


class Out:
    """Where the lines go."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.waiting = 0

    def write(self, data: bytes, /) -> None:
        """Keep it."""
        self.lines.append(data)

    def get_write_buffer_size(self) -> int:
        """As the test wants it."""
        return self.waiting


def test_a_record_is_told_with_the_time_of_day() -> None:
    """What began two seconds ago and took one."""
    out = Out()
    Voice(out, clock=lambda: 12.0, now=lambda: 1000.0).sent(Sending("1", 10.0, host="a.example"), 11.0)
    said = decode(out.lines[0])
    assert isinstance(said, Sent)
    assert (said.started_ms, said.duration_ms, said.host) == (998_000, 1000, "a.example")


def test_lines_that_nobody_reads_are_counted() -> None:
    """And told when somebody reads again."""
    out = Out()
    voice = Voice(out)
    out.waiting = MAX_WAITING_BYTES + 1
    voice.failed("request", "ValueError")
    assert out.lines == []
    out.waiting = 0
    voice.failed("request", "ValueError")
    first, second = map(decode, out.lines)
    assert isinstance(first, Note)
    assert first.code == "egress.lost"
    assert second == Failed("request", "ValueError")


def test_a_line_that_is_too_long_is_lost() -> None:
    """A note is cut, other texts are not."""
    out = Out()
    voice = Voice(out)
    voice.say(Failed("a" * MAX_LINE_BYTES, "b"))
    voice.note("a", "b" * MAX_LINE_BYTES)
    long, note = map(decode, out.lines)
    assert long == Note("egress.long", "1 records were too long to be told")
    assert isinstance(note, Note)
    assert note.code == "a"
