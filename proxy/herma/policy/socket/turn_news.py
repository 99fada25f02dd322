"""What the messages of an agent say of turns: that one began, or ended, or how a call that starts one was answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from herma.policy.jsondoc import find
from herma.policy.routing.turn_events import TurnEvents

__all__ = ["MAX_TURN_NAME_CHARS", "Answered", "Fact", "News", "Told", "named"]

# Names are ids of the upstream's, some 8 characters long; what is longer names nothing.
MAX_TURN_NAME_CHARS: Final = 128


class Fact(StrEnum):
    """What an event says of a turn; see `TurnEvents`."""

    BEGIN = "begin"
    DONE = "done"
    END = "end"
    FAIL = "fail"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a turn."""

    fact: Fact
    name: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a call."""

    call_id: str | int
    failed: bool
    value: dict[str, Any] = field(repr=False)


class News:
    """Reads the messages of an agent as it means them: leniently, the last of two members with one name."""

    def __init__(self, events: TurnEvents) -> None:
        self._events = events
        self._facts: Mapping[str, Fact] = {
            kind: fact
            for fact, kinds in (
                (Fact.BEGIN, events.begin),
                (Fact.DONE, events.done),
                (Fact.END, events.end),
                (Fact.FAIL, events.fail),
            )
            for kind in kinds
        }
        # Most messages are pieces of text, which are not parsed for this: JSON writes these words in one way only.
        words = (*self._facts, *([events.idle.rpartition("/")[2]] if events.idle else []))
        self._marks = tuple(json.dumps(word).encode() for word in words)

    def read(self, message: bytes, *, answers: bool) -> Answered | Told | None:
        """Tell what a message says of a turn; of answers only if some are waited for."""
        if not answers and not any(mark in message for mark in self._marks):
            return None
        try:
            value = json.loads(message)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        return _answer(value) if "method" not in value else self._event(value)

    def _event(self, value: dict[str, Any]) -> Told | None:
        events = self._events
        name = next((name for pointer in events.names if (name := named(value, pointer))), "")
        if not name:
            return None
        # A member that is not there is not False.
        if events.idle and any(held is False for _, held in find(value, events.idle)):
            return Told(Fact.IDLE, name)
        for _, kind in find(value, events.kind):
            if isinstance(kind, str) and (fact := self._facts.get(kind)) is not None:
                return Told(fact, name)
        return None


def _answer(value: dict[str, Any]) -> Answered | None:
    call_id = value.get("id")
    if isinstance(call_id, bool) or not isinstance(call_id, str | int):
        return None
    return Answered(call_id, value.get("error") is not None, value)


def named(value: Any, pointer: str) -> str:
    """Return the name that stands at a pointer; empty where there is none."""
    if not pointer:
        return ""
    names = [held for _, held in find(value, pointer) if isinstance(held, str)]
    return names[0] if len(names) == 1 and len(names[0]) <= MAX_TURN_NAME_CHARS else ""
