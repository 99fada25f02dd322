"""Which strings of an event are pieces of a longer text, and what the event says of its stream.

A piece is recognised by where it stands, in every dialect at once: a dialect that is not known yet still says `delta`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "IDENTITY",
    "Approval",
    "Ending",
    "approval",
    "channel_key",
    "ended_item",
    "ending",
    "event_name",
    "texts",
]

# Members of a `delta` object that name something and are no text; every other string below it is a piece.
_LABELS: Final = frozenset(
    {
        "call_id",
        "event",
        "finish_reason",
        "id",
        "item_id",
        "message_id",
        "model",
        "name",
        "object",
        "role",
        "status",
        "tool_call_id",
        "type",
    }
)
# What the text of an event that calls itself a delta, progress or chunk is called.
_TEXT_MEMBERS: Final = frozenset(
    {
        "arguments",
        "content",
        "input",
        "output",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "refusal",
        "text",
        "thinking",
        "transcript",
    }
)
_DELTA_EVENT: Final = re.compile(r"(?:^|[._])(?:delta|progress|chunk)$")
# Where a JSON-RPC notification has what an event of another stream has at its top.
_NOTIFIED: Final = ["params", "payload"]
IDENTITY: Final = (
    "run_id",
    "session_id",
    "response_id",
    "message_id",
    "item_id",
    "tool_call_id",
    "toolCallId",
    "call_id",
    "output_index",
    "content_index",
    "summary_index",
    "index",
)
_ITEM: Final = ("item_id", "message_id", "call_id", "toolCallId", "tool_call_id")
_ENDED: Final = frozenset({"run.completed", "run.failed", "run.cancelled"})
_COMPLETED: Final = _ENDED | {
    "response.completed",
    "response.failed",
    "response.incomplete",
    "response.cancelled",
    "done",
    "error",
    "message_stop",
}


@dataclass(frozen=True, slots=True)
class Approval:
    """A run waits for an answer, and these are the answers it takes."""

    run_id: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ending:
    """The stream says that it is complete; `run_id` is set when a run ended."""

    run_id: str = ""
    run: bool = False


def event_name(name: str, value: Any) -> str:
    """Find the event's name: in the payload (`event`, `type`), else in the event's own field.

    A JSON-RPC notification `event` carries the event in its `params`.
    """
    if isinstance(value, dict):
        inner = value.get("params")
        if value.get("method") == "event" and isinstance(inner, dict) and isinstance(inner.get("type"), str):
            return str(inner["type"])
        for key in ("event", "type"):
            if isinstance(value.get(key), str):
                return str(value[key])
    return name


def ending(name: str, value: Any) -> Ending | None:
    """Tell whether the event ends its stream."""
    if name not in _COMPLETED:
        return None
    run_id = value.get("run_id") if isinstance(value, dict) else None
    return Ending(run_id if isinstance(run_id, str) else "", name in _ENDED)


def ended_item(name: str, value: Any) -> frozenset[tuple[str, object]]:
    """Tell which item is complete, as the parts of a channel's key; nothing when the event completes none."""
    if not name.endswith((".done", ".completed")) or not isinstance(value, dict):
        return frozenset()
    return frozenset((key, value[key]) for key in _ITEM if isinstance(value.get(key), str))


def approval(name: str, value: Any) -> Approval | None:
    """Read an approval request."""
    if name != "approval.request" or not isinstance(value, dict):
        return None
    choices = value.get("choices")
    run_id = value.get("run_id")
    if not isinstance(run_id, str) or not isinstance(choices, list):
        return None
    return Approval(run_id, tuple(choice for choice in choices if isinstance(choice, str)))


def channel_key(name: str, value: Any, pointer: str) -> tuple[object, ...] | None:
    """Name the text that the string at `pointer` continues; None when the string is complete in itself."""
    steps = pointer.split("/")[1:]
    if not steps:
        return None
    last = steps[-1]
    if not _is_piece(name, steps[2:] if steps[:2] == _NOTIFIED else steps, last):
        return None
    return (name, last, *_identity(value, steps))


def _is_piece(name: str, steps: list[str], last: str) -> bool:
    if last == "delta" or ("delta" in steps[:-1] and last not in _LABELS):
        return True
    if steps[:1] == ["choices"]:
        # Text completions have no delta: each event is the next piece.
        return last == "text" and len(steps) == 3
    return len(steps) == 1 and last in _TEXT_MEMBERS and _DELTA_EVENT.search(name) is not None


def texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string value of an event with its JSON Pointer, in the order of the document."""
    match value:
        case str():
            yield pointer, value
        case dict():
            for key, member in value.items():
                if isinstance(member, str | dict | list):
                    yield from texts(member, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
        case list():
            for index, item in enumerate(value):
                yield from texts(item, f"{pointer}/{index}")
        case _:
            pass


def _identity(value: Any, steps: list[str]) -> Iterator[object]:
    """Walk to the string and collect what tells one text from another on the way."""
    for step in steps:
        if isinstance(value, dict):
            yield from _own(value)
            value = value.get(step)
        else:
            position = int(step)
            value = value[position]
            # Without an index of its own, the place in the list is the identity.
            if not (isinstance(value, dict) and isinstance(value.get("index"), int)):
                yield position


def _own(value: Mapping[str, Any]) -> Iterator[object]:
    # A bare `id` names the event as often as the text, and that of a tool call comes with its first piece only.
    for key in IDENTITY:
        if key in value and isinstance(value[key], str | int):
            yield (key, value[key])
