"""What the two processes say to each other."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.egress.line import (
    MAX_LINE_BYTES,
    Counts,
    Failed,
    LineError,
    Message,
    Note,
    Ready,
    Sent,
    Told,
    decode,
    encode,
    key_line,
    read_key,
)
from herma.policy.decision import Finding
from support.redactor import KEY

TEXT = st.text(max_size=50)
NUMBER = st.integers(0, 1 << 40)
MESSAGES = st.one_of(
    st.builds(Ready, TEXT),
    st.builds(Failed, TEXT, TEXT),
    st.builds(Note, TEXT, TEXT),
    st.builds(Counts, NUMBER, NUMBER),
    st.builds(
        Sent,
        TEXT,
        NUMBER,
        NUMBER,
        host=TEXT,
        status=NUMBER,
        findings=st.tuples(st.builds(Told, TEXT, TEXT, TEXT)),
    ),
)


@given(MESSAGES)
def test_what_is_said_is_heard(message: Message) -> None:
    """On one line."""
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message


@given(st.binary(max_size=100))
def test_anything_else_is_an_error_that_repeats_nothing(line: bytes) -> None:
    """Never another kind of error."""
    with pytest.raises(LineError):
        decode(line)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"is": "ready"},
        {"is": "ready", "address": 1},
        {"is": "ready", "address": "a", "more": 1},
        {"is": "counts", "connections": True, "held_bytes": 0},
        {"is": "counts", "connections": -1, "held_bytes": 0},
        {"is": "counts", "connections": 1.0, "held_bytes": 0},
        {"is": "unknown"},
        {"is": ["ready"]},
        {"is": "sent", "findings": 1},
        {"is": "sent", "findings": [1]},
    ],
)
def test_a_message_with_other_fields_is_none(body: object) -> None:
    """A field too many is as wrong as one too few."""
    with pytest.raises(LineError):
        decode(json.dumps(body).encode())


@pytest.mark.parametrize(
    "line",
    [b'{"is": "ready", "address": "a", "address": "b"}', b'{"is": "note", "is": "ready", "address": "a"}'],
)
def test_a_field_that_is_there_twice_is_an_error(line: bytes) -> None:
    """Two readers could each see a different value."""
    with pytest.raises(LineError):
        decode(line)


def test_a_line_has_a_bound() -> None:
    """In both directions."""
    with pytest.raises(LineError):
        encode(Note("a", "b" * MAX_LINE_BYTES))
    with pytest.raises(LineError):
        decode(b"[" * (MAX_LINE_BYTES + 1))


def test_the_key_is_the_first_line() -> None:
    """A short one is none."""
    assert read_key(key_line(KEY)).reveal() == KEY.reveal()
    for line in (b"", b"\n", b"c2hvcnQ=\n", b"no base64!\n"):
        with pytest.raises(LineError):
            read_key(line)


def test_a_finding_is_told_by_its_place() -> None:
    """And its level."""
    assert Told.of(Finding("a", place="body", attack="T1041")).attack == "T1041"
