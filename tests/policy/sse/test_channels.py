"""What an event says of its stream."""

import pytest

from herma.policy.sse.channels import (
    Approval,
    Ending,
    approval,
    channel_key,
    ended_item,
    ending,
    event_name,
    texts,
)

CHAT = {
    "id": "c1",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "a",
                "tool_calls": [{"index": 1, "id": "t", "function": {"arguments": "b"}}],
            },
        }
    ],
}
PIECES = [
    ("message.delta", {"run_id": "r", "delta": "a"}, "/delta"),
    ("assistant.delta", {"message_id": "m", "delta": "a"}, "/delta"),
    ("response.output_text.delta", {"item_id": "i", "delta": "a"}, "/delta"),
    ("", CHAT, "/choices/0/delta/content"),
    ("", CHAT, "/choices/0/delta/tool_calls/0/function/arguments"),
    ("content_block_delta", {"index": 0, "delta": {"text": "a"}}, "/delta/text"),
    ("tool.progress", {"run_id": "r", "text": "a"}, "/text"),
    ("text_delta", {"type": "text_delta", "text": "a"}, "/text"),
    ("message.delta", {"method": "event", "params": {"payload": {"text": "a"}}}, "/params/payload/text"),
]


@pytest.mark.parametrize(("name", "value", "pointer"), PIECES)
def test_a_delta_is_a_piece_of_a_longer_text(name: str, value: object, pointer: str) -> None:
    """In every dialect, known or not."""
    assert channel_key(name, value, pointer) is not None


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("tool.started", "/preview"),
        ("message.delta", "/run_id"),
        ("", "/choices/0/delta/role"),
        ("x", ""),
        ("tool.progress", "/a/text"),
        ("tool.progress", "/params/text"),
    ],
)
def test_other_strings_are_complete(name: str, pointer: str) -> None:
    """Names, ids and whole fields are judged by themselves."""
    assert channel_key(name, {"run_id": "r"}, pointer) is None


def test_texts_of_different_items_are_different() -> None:
    """Runs, choices and tool calls do not run into each other."""
    one = channel_key("message.delta", {"run_id": "a", "delta": "x"}, "/delta")
    two = channel_key("message.delta", {"run_id": "b", "delta": "x"}, "/delta")
    assert one != two
    call = {
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]}}]
    }
    later = {
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": "x"}}]}}]
    }
    pointer = "/choices/0/delta/tool_calls/0/function/arguments"
    assert channel_key("", call, pointer) != channel_key("", later, pointer)


def test_the_id_that_only_the_first_piece_carries_does_not_cut_a_text() -> None:
    """A tool call's index is its identity."""
    first = {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "id": "call_1", "function": {"arguments": "x"}}]},
            }
        ]
    }
    second = {
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "y"}}]}}]
    }
    pointer = "/choices/0/delta/tool_calls/0/function/arguments"
    assert channel_key("", first, pointer) == channel_key("", second, pointer)


def test_without_an_index_the_place_in_the_list_counts() -> None:
    """Two parts of one event are two texts."""
    value = {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}
    assert channel_key("", value, "/choices/0/delta/content") != channel_key(
        "", value, "/choices/1/delta/content"
    )


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"event": "a", "type": "b"}, "a"),
        ({"type": "b"}, "b"),
        ({"type": 1}, "field"),
        ([], "field"),
        ({"method": "event", "params": {"type": "c"}}, "c"),
        ({"method": "event", "params": {"type": 1}}, "field"),
        ({"method": "event", "params": "c"}, "field"),
    ],
)
def test_the_payload_names_the_event_before_its_field(value: object, name: str) -> None:
    """Runs name their events in the payload."""
    assert event_name("field", value) == name


def test_endings_are_told_with_their_run() -> None:
    """The slot of a run is returned at its end, not at the end of a response."""
    assert ending("run.completed", {"run_id": "r"}) == Ending("r", run=True)
    assert ending("run.failed", {"run_id": 7}) == Ending("", run=True)
    assert ending("response.completed", []) == Ending()
    assert ending("message.delta", {}) is None


def test_a_complete_item_is_named() -> None:
    """Its text is over, and is judged as it stands."""
    assert ended_item("response.output_text.done", {"item_id": "i", "x": 1}) == {("item_id", "i")}
    assert ended_item("message.delta", {"item_id": "i"}) == frozenset()
    assert ended_item("a.done", []) == frozenset()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        (
            "approval.request",
            {"run_id": "r", "choices": ["once", 1, "deny"]},
            Approval("r", ("once", "deny")),
        ),
        ("approval.request", {"run_id": "r"}, None),
        ("approval.request", {"choices": []}, None),
        ("approval.request", [], None),
        ("other", {"run_id": "r", "choices": []}, None),
    ],
)
def test_an_approval_request_is_read(name: str, value: object, expected: Approval | None) -> None:
    """Only what was offered can be answered."""
    assert approval(name, value) == expected


def test_every_string_of_an_event_has_its_pointer() -> None:
    """Keys with slashes and tildes are escaped."""
    assert list(texts({"a/b": ["x", {"c~d": "y"}, 1], "n": 1})) == [("/a~1b/0", "x"), ("/a~1b/1/c~0d", "y")]
