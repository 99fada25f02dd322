"""Cutting an event stream."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.sse.parser import Event, Passing, Splitter, StreamRefused

STREAM = (
    b"\xef\xbb\xbf: hello\n\nevent: a\ndata: 1\n\ndata: x\r\ndata: y\r\n\r\n: keepalive\n\n"
    b"event: b\rdata\rid: 7\r\rretry: 10\n\ndata:no space\n\n\n: between\ndata: z\n: inside\ndata: w\n\ndata: open"
)
EXPECTED = [
    ("a", b"1"),
    ("", b"x\ny"),
    ("b", b""),
    ("", None),
    ("", b"no space"),
    ("", b"z\nw"),
    ("", b"open"),
]


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    places = sorted({min(place, len(stream)) for place in at} | {0, len(stream)})
    return [stream[a:b] for a, b in pairwise(places)] or [stream]


def run(pieces: list[bytes]) -> tuple[bytes, list[tuple[str, bytes | None]]]:
    splitter = Splitter()
    frames = [frame for piece in pieces for frame in splitter.feed(piece)] + splitter.finish()
    events = [(frame.name, frame.data) for frame in frames if isinstance(frame, Event)]
    return b"".join(frame.raw for frame in frames), events


@given(st.lists(st.integers(0, len(STREAM)), max_size=40))
def test_events_and_bytes_do_not_depend_on_the_cuts(at: list[int]) -> None:
    """However the network cuts a stream, the same events come out and no byte is lost."""
    assert run(cut(STREAM, at)) == (STREAM, EXPECTED)


@given(
    st.lists(
        st.sampled_from([b"data: a", b"\n", b"\r", b"\r\n", b": c", b"event: e", b"\xef\xbb\xbf", b"x"]),
        max_size=30,
    ),
    st.data(),
)
def test_any_stream_goes_through_byte_for_byte(parts: list[bytes], data: st.DataObject) -> None:
    """Frames partition the bytes, for every stream and every cut."""
    stream = b"".join(parts)
    at = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert run(cut(stream, at))[0] == stream


def test_a_heartbeat_does_not_wait_for_its_empty_line() -> None:
    """A comment leaves as soon as its line is complete."""
    assert Splitter().feed(b": keepalive\n") == [Passing(b": keepalive\n")]


def test_the_boundary_is_known() -> None:
    """Bytes of one's own may be written only between events."""
    splitter = Splitter()
    splitter.feed(b"data: 1\n")
    assert not splitter.at_boundary
    splitter.feed(b"\n")
    assert splitter.at_boundary


def test_an_event_beyond_the_bound_is_refused() -> None:
    """What cannot be held cannot be judged."""
    splitter = Splitter(max_event_bytes=10)
    splitter.feed(b"data: 1234")
    with pytest.raises(StreamRefused) as refused:
        splitter.feed(b"5")
    assert refused.value.code == "herma.stream.event_too_large"


@pytest.mark.parametrize(
    ("raw", "data", "expected"),
    [
        (b"event: a\ndata: 1\n\n", b"2", b"event: a\ndata: 2\n\n"),
        (b"data:1\r\ndata: 2\r\n\r\n", b"x\ny", b"data:x\r\ndata: y\r\n\r\n"),
        (b"data: 1\ndata: 2\nid: 3\n\n", b"x", b"data: x\nid: 3\n\n"),
        (b"data: cut off", b"x", b"data: x"),
    ],
    ids=["one line", "two lines", "a line less", "not ended"],
)
def test_new_data_keeps_the_rest_of_the_event(raw: bytes, data: bytes, expected: bytes) -> None:
    """Only the data changes; names, ids, line ends and prefixes stay."""
    splitter = Splitter()
    (event,) = (frame for frame in [*splitter.feed(raw), *splitter.finish()] if isinstance(frame, Event))
    assert event.with_data(data) == expected


def test_a_frame_does_not_print_its_bytes() -> None:
    """A secret in an event or a comment does not reach a log through repr."""
    assert "hunter2" not in repr(Event(b"data: hunter2\n\n", "", b"hunter2"))
    assert "hunter2" not in repr(Passing(b": hunter2\n"))


def test_a_line_end_cut_in_two_is_one() -> None:
    """Inside an event as between events."""
    splitter = Splitter()
    assert splitter.feed(b"data: 1\r") == []
    assert splitter.feed(b"\n") == []
    assert splitter.feed(b"\r\n") == [Event(b"data: 1\r\n\r\n", "", b"1")]


@given(st.lists(st.sampled_from([b"event: e\n", b"data: a\n", b"data:b\n", b"\n", b"id: 1\n"]), max_size=12))
def test_events_written_as_most_are_read_as_any_other(lines: list[bytes]) -> None:
    """The short way and the long one give the same frames."""
    stream = b"".join(lines)
    bytewise = Splitter()
    assert Splitter().feed(stream) == [
        frame for at in range(len(stream)) for frame in bytewise.feed(stream[at : at + 1])
    ]
