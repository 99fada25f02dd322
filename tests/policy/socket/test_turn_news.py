"""What the messages of an agent say of turns."""

import json

import pytest

from herma.policy.routing.turn_events import TurnEvents
from herma.policy.socket.turn_news import MAX_TURN_NAME_CHARS, Answered, Fact, News, Told, named

EVENTS = TurnEvents(
    kind="/params/type",
    names=("/params/payload/task_id", "/params/session_id"),
    call="/session_id",
    begin=frozenset({"message.start"}),
    done=frozenset({"message.complete"}),
    end=frozenset({"background.complete"}),
    fail=frozenset({"error"}),
    idle="/params/payload/running",
)
NEWS = News(EVENTS)


def event(kind: object, session: object = "s1", **payload: object) -> bytes:
    params = {"type": kind, "session_id": session, "payload": payload}
    return json.dumps({"jsonrpc": "2.0", "method": "event", "params": params}).encode()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (event("message.start"), Told(Fact.BEGIN, "s1")),
        (event("message.complete", text="x"), Told(Fact.DONE, "s1")),
        (event("background.complete", task_id="bg_1"), Told(Fact.END, "bg_1")),
        (event("error", message="x"), Told(Fact.FAIL, "s1")),
        (event("session.info", running=False), Told(Fact.IDLE, "s1")),
        (event("session.info", running=True), None),
        (event("session.info"), None),
        (event("message.delta", text="message.start"), None),
        (event("message.delta", text='"message.start"'), None),
        (event("message.start", session=5), None),
        (event("message.start", session="x" * (MAX_TURN_NAME_CHARS + 1)), None),
        (event(["message.start"]), None),
        (b'"message.start"', None),
        (b'{"message.start"', None),
        (b'["message.start", ' + b"[" * 100_000, None),
        (b'{"id": 1, "result": "message.start"}', Answered(1, failed=False, value={})),
        (b'{"id": true, "result": "message.start"}', None),
    ],
)
def test_an_event_tells_of_a_turn_by_what_it_is(message: bytes, told: object) -> None:
    """Not by words in a text; what cannot be read tells nothing."""
    found = NEWS.read(message, answers=False)
    if isinstance(told, Answered):
        assert isinstance(found, Answered)
        assert found.call_id == told.call_id
    else:
        assert found == told


def test_answers_are_read_only_when_some_are_waited_for() -> None:
    """They are looked for in every message then."""
    good, bad = b'{"id": "a", "result": {"task_id": "t"}}', b'{"id": 7, "error": {"code": 1}}'
    assert NEWS.read(good, answers=False) is None
    found = NEWS.read(good, answers=True)
    assert isinstance(found, Answered)
    assert (found.call_id, found.failed, named(found.value, "/result/task_id")) == ("a", False, "t")
    failed = NEWS.read(bad, answers=True)
    assert isinstance(failed, Answered)
    assert failed.failed


def test_without_idle_nothing_is_idle() -> None:
    """Only the events tell then."""
    news = News(TurnEvents("/type", ("/name",), "/name", end=frozenset({"end"})))
    assert news.read(b'{"method": "x", "type": "end", "name": "n"}', answers=False) == Told(Fact.END, "n")
    assert news.read(b'{"method": "x", "type": "other", "name": "n"}', answers=True) is None


@pytest.mark.parametrize(
    ("value", "pointer", "name"),
    [
        ({"a": "x"}, "/a", "x"),
        ({"a": "x"}, "", ""),
        ({"a": 1}, "/a", ""),
        ({"a": ["x", "y"]}, "/a/*", ""),
        ({}, "/a", ""),
    ],
)
def test_a_name_is_one_text(value: object, pointer: str, name: str) -> None:
    """Of several none is meant."""
    assert named(value, pointer) == name
