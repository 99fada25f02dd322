"""What leaves over a WebSocket: every message once and in order, no secret however it is cut."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.channel import DEADLINE_S
from herma.policy.socket.outward import MessageRedactor, Outward, TerminalRedactor
from herma.policy.sse.parser import StreamRefused
from support.redactor import GITHUB, redactor

LINE = f"$ echo {GITHUB} # grüße ⚕ 𝄞\r\n"


def notification(kind: str, **payload: object) -> bytes:
    return json.dumps(
        {
            "jsonrpc": "2.0",
            "method": "event",
            "params": {"type": kind, "session_id": "s", "payload": payload},
        }
    ).encode()


def left(outward: Outward, messages: list[bytes]) -> list[bytes]:
    out = [written for message in messages for written in outward.feed(message, 0.0)]
    return out + outward.finish()


def test_clean_messages_leave_as_they_came() -> None:
    """Byte for byte: odd blanks, an answer to a call, text that is no JSON."""
    messages = [
        b'{"jsonrpc":"2.0",  "id": "w1", "result": {}}',
        notification("tool.start", name="x"),
        b"hello",
    ]
    assert left(MessageRedactor(redactor()), messages) == messages


def test_a_secret_in_a_message_is_masked_and_told() -> None:
    """The message stays JSON."""
    outward = MessageRedactor(redactor())
    (written,) = outward.feed(notification("approval.request", command=f"echo {GITHUB}"), 0.0)
    assert GITHUB.encode() not in written
    assert json.loads(written)["params"]["payload"]["command"].startswith("echo ")
    assert outward.take_findings()


@given(st.integers(1, len(GITHUB) - 1))
def test_a_secret_over_two_deltas_is_masked(cut: int) -> None:
    """Both messages leave, neither with a part of it that is worth anything."""
    messages = [
        notification("message.delta", text=f"use {GITHUB[:cut]}"),
        notification("message.delta", text=f"{GITHUB[cut:]} now"),
    ]
    out = left(MessageRedactor(redactor()), messages)
    assert len(out) == 2
    told = "".join(json.loads(message)["params"]["payload"]["text"] for message in out)
    assert told.startswith("use ")
    assert told.endswith(" now")
    assert not any(GITHUB[at : at + 12] in told for at in range(len(GITHUB) - 11))


def test_what_waits_leaves_after_the_deadline() -> None:
    """Masked, for it could still have become a secret."""
    outward = MessageRedactor(redactor())
    assert outward.feed(notification("message.delta", text=f"use {GITHUB[:30]}"), 5.0) == []
    due = outward.deadline()
    assert due == 5.0 + DEADLINE_S
    assert outward.tick(5.0) == []
    (written,) = outward.tick(due)
    assert GITHUB[:16].encode() not in written
    assert outward.deadline() is None


def test_text_that_hides_a_secret_in_its_line_ends_ends_the_connection() -> None:
    """Masking its lines would leave the parts."""
    with pytest.raises(StreamRefused):
        MessageRedactor(redactor()).feed(f"{GITHUB[:8]}\n{GITHUB[8:]}".encode(), 0.0)


@given(st.lists(st.integers(0, len(LINE.encode())), max_size=8))
def test_terminal_output_is_one_text_however_it_is_cut(cuts: list[int]) -> None:
    """Also in the middle of a character; what is no secret leaves as it came."""
    data = LINE.encode()
    bounds = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(bounds)]
    out = b"".join(left(TerminalRedactor(redactor()), pieces))
    assert out.startswith(b"$ echo ")
    assert out.endswith(" # grüße ⚕ 𝄞\r\n".encode())
    assert GITHUB[:16].encode() not in out


@given(st.lists(st.binary(max_size=6), max_size=8))
def test_bytes_that_are_no_text_pass(pieces: list[bytes]) -> None:
    """A terminal may send anything; nothing is lost or changed."""
    assert b"".join(left(TerminalRedactor(redactor()), pieces)) == b"".join(pieces)


def test_terminal_output_that_waits_leaves_after_the_deadline() -> None:
    """A prompt without a line end is shown at once, what may become a secret a moment later and masked."""
    outward = TerminalRedactor(redactor())
    assert outward.feed(b"$ ", 0.0) == [b"$ "]
    assert outward.deadline() is None
    outward.feed(f"echo {GITHUB[:30]}".encode(), 1.0)
    due = outward.deadline()
    assert due is not None
    assert outward.tick(due - 0.1) == []
    assert GITHUB[:16].encode() not in b"".join(outward.tick(due))
    assert outward.take_findings()


DRAWN = "\x1b[?2026h\r\r\n\x1b[1C\x1b[38;2;255;215;0m██╗\x1b[2C\x1b[0mHermes\x1b[K\x1b]0;Hermes\x07\x1b[0'z\x1b[?2029l\x1b[?1016l\x1b[?1015l\x1b[10;2H> "


@given(st.lists(st.integers(0, len(DRAWN.encode())), max_size=8))
def test_what_a_terminal_draws_passes_as_it_is(cuts: list[int]) -> None:
    """Modes in a row look drawn, and are no text."""
    data = DRAWN.encode()
    bounds = [0, *sorted(cuts), len(data)]
    outward = TerminalRedactor(redactor())
    out = b""
    for number, (start, end) in enumerate(pairwise(bounds)):
        out += b"".join(outward.feed(data[start:end], float(number)))
        out += b"".join(outward.tick(number + 0.2))
    assert out + b"".join(outward.finish()) == data


@pytest.mark.parametrize("between", ["\x1b[1m", "\x1b[0m\x1b[31m", "\x1b[?25l", "\x1b]0;x\x07"])
@given(at=st.integers(1, len(GITHUB) - 1))
def test_colours_inside_a_secret_do_not_hide_it(between: str, at: int) -> None:
    """A person sees one word."""
    (written,) = left(TerminalRedactor(redactor()), [f"echo {GITHUB[:at]}{between}{GITHUB[at:]}\n".encode()])
    for start in range(len(GITHUB) - 11):
        assert GITHUB[start : start + 12].encode() not in written
    assert written.startswith(b"echo [")
    assert between.encode() in written


def test_the_text_of_a_sequence_is_judged_by_itself() -> None:
    """A title, or what is copied."""
    outward = TerminalRedactor(redactor())
    (written,) = outward.feed(f"\x1b]0;use {GITHUB} now\x07$ ".encode(), 0.0)
    assert GITHUB.encode() not in written
    assert written.startswith(b"\x1b]0;use [")
    assert written.endswith(b" now\x07$ ")
    assert outward.take_findings()


def test_a_sequence_that_does_not_end_is_text_after_the_deadline() -> None:
    """Nothing hides in one."""
    outward = TerminalRedactor(redactor())
    assert outward.feed(f"\x1b]0;token={GITHUB}".encode(), 1.0) == []
    assert outward.deadline() == 1.0 + DEADLINE_S
    assert outward.tick(1.1) == []
    out = b"".join(outward.tick(1.0 + DEADLINE_S) + outward.finish())
    assert out.startswith(b"\x1b]0;token=")
    assert GITHUB[:16].encode() not in out


def test_a_sequence_that_goes_on_and_on_gets_no_more_time() -> None:
    """The deadline counts from its first sign; one behind another begins anew."""
    outward = TerminalRedactor(redactor())
    outward.feed(b"\x1b]0;a", 1.0)
    outward.feed(b"b", 1.2)
    assert outward.deadline() == 1.0 + DEADLINE_S
    outward.feed(b"\x07\x1b[3", 1.25)
    assert outward.deadline() == 1.25 + DEADLINE_S
