"""Promises in the arguments of tools."""

import json

import pytest

from herma.policy.shape.promise import NOTE, Promises, promises

CALL = {"command": "make", "background": True}
PROMISING = {
    "an object": {"tool_name": "terminal", "args": CALL},
    "written as text": {"item": {"type": "function_call", "arguments": json.dumps(CALL)}},
    "in a transcript": {
        "messages": [{"tool_calls": [{"function": {"arguments": '{"notify_on_complete": true}'}}]}]
    },
    "a word to watch for": {"args": {"watch_patterns": ["ready"]}},
    "below the arguments": {"args": {"tasks": [{"background": True}]}},
}
SILENT = {
    "no call": {"delta": "hello"},
    "a foreground call": {"args": {"command": "make", "background": False, "watch_patterns": []}},
    "an answer in the background": {"response": {"id": "r", "background": True}},
    "a text about it": {"delta": 'use "background" for that', "args": {"q": 'say "background"'}},
    "arguments that are no JSON": {"arguments": '"background": true'},
    "no object": ["notify_on_complete"],
}


@pytest.mark.parametrize("value", PROMISING.values(), ids=PROMISING)
def test_a_promise_is_seen(value: object) -> None:
    """However the call is written."""
    assert promises(json.dumps(value).encode())


@pytest.mark.parametrize("value", SILENT.values(), ids=SILENT)
def test_nothing_else_is_taken_for_one(value: object) -> None:
    """The same words elsewhere promise nothing."""
    assert not promises(json.dumps(value).encode())


def test_what_cannot_be_read_promises_nothing() -> None:
    """It is only told, so a guess would be of no use."""
    assert not promises(b'{"args": {"background": true}')
    assert not promises(b'{"args": {"background": ' + b"[" * 100_000)


def _event(value: object, end: str = "\n\n") -> bytes:
    return f"event: tool.started\ndata: {json.dumps(value)}{end}".encode()


def test_a_stream_is_told_once() -> None:
    """However many calls promise something."""
    told = Promises()
    assert told.take() == b""
    told.read(_event({"args": CALL}) + b": heartbeat\n\n")
    told.read(_event({"args": CALL}))
    assert told.take() == NOTE
    told.read(_event({"args": CALL}))
    assert told.take() == b""


@pytest.mark.parametrize("end", ["", "\n"])
def test_half_an_event_is_not_followed_by_a_comment(end: str) -> None:
    """It would become part of it."""
    told = Promises()
    told.read(_event({"args": CALL}) + _event({"args": CALL}, end))
    assert told.take() == b""


def test_events_without_a_call_are_not_told() -> None:
    """The words alone, and comments with them, are nothing."""
    told = Promises()
    told.read(b'data: [DONE]\n\n: "background"\n\nevent: "background"\n\n')
    assert told.take() == b""
