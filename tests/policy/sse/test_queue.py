"""Events on their way to the client: bounds of what waits, and streams that have no end of their own."""

import json

import pytest

from herma.policy.sse import queue as module
from herma.policy.sse.framing import Framing
from herma.policy.sse.parser import Event, StreamRefused
from herma.policy.sse.queue import EventQueue
from support.redactor import GITHUB, redactor


def queue(*, endless: bool = False) -> EventQueue:
    return EventQueue(redactor(), Framing(redactor()).judge_lines, endless=endless)


def event(value: object) -> Event:
    data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return Event(b"data: " + data + b"\n\n", "", data)


def test_bounds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts, waiting events and approvals that nobody takes are bounded."""
    monkeypatch.setattr(module, "MAX_CHANNELS", 2)
    monkeypatch.setattr(module, "MAX_WAITING_EVENTS", 3)
    monkeypatch.setattr(module, "MAX_APPROVALS", 1)
    events = queue()
    out = []
    for n in range(8):
        events.take(event({"event": "message.delta", "run_id": f"r{n}", "delta": "password: hun"}), 0.0)
        out += events.release()
    assert out
    assert len(events._channels) <= 2
    assert len(events) <= 3
    ask = event({"event": "approval.request", "run_id": "r", "choices": []})
    events.take(ask, 0.0)
    with pytest.raises(StreamRefused):
        events.take(ask, 0.0)


def test_too_many_waiting_events_decide_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A held text does not hold the stream's memory."""
    monkeypatch.setattr(module, "MAX_WAITING_EVENTS", 3)
    events = queue()
    events.take(event({"event": "message.delta", "run_id": "r", "delta": 'password: "tulip'}), 0.0)
    for _ in range(4):
        events.take(event({"event": "tool.completed", "run_id": "r"}), 0.0)
    out = events.release()
    assert len(out) == 5
    assert b"tulip" not in b"".join(out)


def test_what_is_no_event_leaves_behind_the_one_before_it() -> None:
    """Where nothing waits, the caller sends it."""
    events = queue()
    assert not events.follow(b"x")
    events.take(event({"event": "message.delta", "run_id": "r", "delta": "password: hun"}), 0.0)
    assert events.follow(b"x")
    events.finish()
    (left,) = events.release()
    assert left.endswith(b"x")


@pytest.mark.parametrize("end", [{"event": "run.completed", "run_id": "r"}, "[DONE]"])
def test_an_endless_stream_does_not_end_by_an_event(end: object) -> None:
    """Behind the end of a run another run's text is followed as before."""
    events = queue(endless=True)
    events.take(event(end), 0.0)
    out = events.release()
    for piece in (GITHUB[:20], GITHUB[20:]):
        events.take(event({"event": "message.delta", "run_id": "r", "delta": piece}), 0.0)
        out += events.release()
    events.finish()
    out += events.release()
    assert len(out) == 3
    assert GITHUB[:20].encode() not in b"".join(out)
    assert not events.saw.completed


def test_a_stream_with_an_end_knows_that_it_was_there() -> None:
    """Then its texts are complete as they stand."""
    events = queue()
    events.take(event("[DONE]"), 0.0)
    assert events.saw.completed
