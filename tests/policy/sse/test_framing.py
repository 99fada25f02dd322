"""The lines of an event stream that are no data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Finding
from herma.policy.sse.framing import MAX_FIELDS, MAX_KNOWN, MAX_KNOWN_BYTES, Framing
from herma.policy.sse.parser import StreamRefused
from support.redactor import GITHUB, redactor

KEY = GITHUB.encode()


def _clean(raw: bytes) -> tuple[bytes, list[Finding]]:
    findings: list[Finding] = []
    return Framing(redactor()).clean(raw, findings), findings


@pytest.mark.parametrize(
    "raw",
    [
        b"data: {}\n\n",
        b"event: message\ndata: {}\n\n",
        b": keepalive\n\n",
        b"\n",
        b"id: 7\r\nretry: 5\r\ndata: a\r\ndata: b\r\n\r\n",
        b"data: a\rdata: b\r\r",
        b"",
    ],
)
def test_framing_without_a_secret_is_left_alone(raw: bytes) -> None:
    """The same object comes back, whatever the line ends."""
    cleaned, findings = _clean(raw)
    assert cleaned is raw
    assert not findings


@pytest.mark.parametrize(
    "start", [b"event: ", b"id: ", b": ", b":", b"retry: ", b"unknown: ", b"", b'{"key": "']
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_secret_in_any_line_is_masked(start: bytes, end: bytes) -> None:
    """Only the secret goes: field names, line ends and the data stay."""
    raw = start + KEY + end + b"data: {}" + end + end
    cleaned, findings = _clean(raw)
    assert KEY not in cleaned
    assert cleaned.startswith(start + b"[")
    assert cleaned.endswith(end + b"data: {}" + end + end)
    assert len(findings) == 1


def test_a_secret_in_the_data_is_not_looked_at_here() -> None:
    """Data is judged as data."""
    assert _clean(b"event: x\ndata: " + KEY + b"\n\n")[0] == b"event: x\ndata: " + KEY + b"\n\n"


@pytest.mark.parametrize("at", [6, 12, 20])
def test_a_secret_over_several_lines_ends_the_stream(at: int) -> None:
    """Its parts are no secrets by themselves, so they cannot be masked one by one."""
    with pytest.raises(StreamRefused, match="secret_spread"):
        _clean(b"id: " + KEY[:at] + b"\nevent: " + KEY[at:] + b"\ndata: {}\n\n")


def test_lines_of_text_that_are_a_secret_together_end_the_stream() -> None:
    """A client that glues them has the secret; one that shows them shows all of it."""
    with pytest.raises(StreamRefused, match="secret_spread"):
        Framing(redactor()).judge_lines([b"here", KEY[:9], KEY[9:]])


@pytest.mark.parametrize(
    "lines",
    [
        [b"password:", b"see below"],
        [b"password=hunter2hunter2", b"The next line"],
        [b"one line"],
        [b""],
        [b"a", b"b", b""],
    ],
)
def test_ordinary_lines_of_text_are_left_alone(lines: list[bytes]) -> None:
    """What one line says is not read into the next; what is masked by itself is no reason to end the stream."""
    Framing(redactor()).judge_lines(lines)


def test_what_was_clean_is_remembered_within_bounds() -> None:
    """Neither many different lines nor long ones make the memory grow."""
    framing = Framing(redactor())
    for number in range(MAX_KNOWN + 10):
        framing.clean(f"event: e{number}\ndata: {{}}\n\n".encode(), [])
    framing.clean(b": " + b"x" * MAX_KNOWN_BYTES + b"\n\n", [])
    assert len(framing._known) == MAX_KNOWN


@given(st.binary(max_size=200))
def test_any_bytes_are_cleaned_or_refused(raw: bytes) -> None:
    """No framing raises anything else, and clean framing is not changed."""
    try:
        cleaned, findings = _clean(raw)
    except StreamRefused:
        return
    assert findings or cleaned == raw


def test_a_secret_over_the_same_field_of_two_events_ends_the_stream() -> None:
    """Ids that a client keeps one behind the other are one text."""
    framing = Framing(redactor())
    framing.clean(b"id: " + KEY[:12] + b"\ndata: {}\n\n", [])
    with pytest.raises(StreamRefused, match="secret_spread"):
        framing.clean(b"id: " + KEY[12:] + b"\ndata: {}\n\n", [])


def test_fields_are_followed_within_bounds() -> None:
    """A stream with a new field in each event does not make the memory grow."""
    framing = Framing(redactor())
    for number in range(MAX_FIELDS + 5):
        framing.clean(f"f{number}: x\ndata: {{}}\n\n".encode(), [])
    assert len(framing._last) == MAX_FIELDS
