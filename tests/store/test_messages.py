"""What workers and the coordinator say to each other."""

import json
import struct
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.store.messages import (
    MAX_MESSAGE_BYTES,
    Answer,
    Call,
    Decoder,
    Message,
    MessageError,
    Notice,
    encode,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = (
    st.builds(Call, st.integers(), st.text(), st.lists(JSON, max_size=3))
    | st.builds(Answer, st.integers(), JSON)
    | st.builds(Notice, st.text(), JSON)
)


def framed(form: Any) -> bytes:
    body = form if isinstance(form, bytes) else json.dumps(form).encode()
    return struct.pack(">I", len(body)) + body


@given(messages=st.lists(MESSAGES, max_size=6), cuts=st.lists(st.integers(0, 2000), max_size=12))
def test_messages_arrive_however_the_stream_is_cut(messages: list[Message], cuts: list[int]) -> None:
    """What was sent is received, in order, whatever a read returns."""
    stream = b"".join(encode(message) for message in messages)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    decoder = Decoder()
    received: list[Message] = []
    for start, end in pairwise(edges):
        received += decoder.feed(stream[start:end])
    assert received == messages


@given(st.binary(max_size=300))
def test_any_bytes_give_messages_or_are_refused(data: bytes) -> None:
    """A stream that makes no sense raises the one error that callers expect."""
    for stream in (data, framed(data)):
        try:
            received = list(Decoder().feed(stream))
        except MessageError:
            continue
        assert all(isinstance(message, Call | Answer | Notice) for message in received)


@pytest.mark.parametrize(
    "form",
    [
        b"",
        b"{",
        b"\xff",
        b'[2,1,"\xff"]',
        b"[2,1,NaN]",
        b"[2,1,-Infinity]",
        b"[2,1," + b"9" * 5000 + b"]",
        b"[" * 60_000,
        None,
        {},
        [],
        [1],
        [1, 2, "take"],
        [1, "2", "take", []],
        [1, 2, "take", {}],
        [1, 2, 3, []],
        [2, None, 1],
        [2, 1],
        [2, 1, 2, 3],
        [3, 1, 2],
        [4, 1, 2],
        ["1", 2, "take", []],
    ],
    ids=lambda form: repr(form)[:20],
)
def test_malformed_message_is_refused(form: Any) -> None:
    """Whatever is not exactly one of the three forms ends the connection."""
    with pytest.raises(MessageError, match="malformed"):
        list(Decoder().feed(framed(form)))


def test_announced_length_is_refused_before_anything_is_held() -> None:
    """Four bytes that announce gigabytes do not make anybody wait for them."""
    with pytest.raises(MessageError, match="64 KiB"):
        list(Decoder().feed(b"\xff\xff\xff\xff"))


def test_largest_message_passes_and_one_byte_more_does_not() -> None:
    """The bound counts the message without its length."""
    room = MAX_MESSAGE_BYTES - len('[3,"t",""]')
    (notice,) = Decoder().feed(encode(Notice("t", "x" * room)))
    assert isinstance(notice, Notice)
    with pytest.raises(MessageError, match="64 KiB"):
        encode(Notice("t", "x" * (room + 1)))


@pytest.mark.parametrize("payload", [float("nan"), object(), {1: {2}}], ids=["nan", "object", "set"])
def test_what_json_cannot_hold_is_not_sent(payload: object) -> None:
    """A mistake is told where it is made, not at the other end."""
    with pytest.raises(MessageError, match="JSON"):
        encode(Notice("t", payload))


def test_messages_before_a_malformed_one_still_count() -> None:
    """A release that was sent in full is not lost because of what follows it."""
    messages = Decoder().feed(encode(Notice("a")) + framed([9]))
    assert next(messages) == Notice("a")
    with pytest.raises(MessageError):
        next(messages)


def test_decoder_holds_back_no_more_than_one_message() -> None:
    """What was yielded is not kept."""
    decoder = Decoder()
    list(decoder.feed(encode(Notice("t", "x" * 1000)) * 50 + b"\x00\x00"))
    assert len(decoder._pending) == 2
