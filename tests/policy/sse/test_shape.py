"""Events that are alike."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction.document import spans
from herma.policy.sse.shape import MAX_BARREN, MAX_FRAME_CHARS, MAX_SHAPES, Shapes

KEY = ("a text",)


def event(text: object = "x", index: int = 0, created: object = 1, **more: object) -> str:
    return json.dumps({"created": created, "index": index, "delta": {"content": text}, "more": more})


def learned(text: str, pointer: str = "/delta/content") -> Shapes:
    shapes = Shapes()
    shapes.learn("", KEY, pointer, text, spans(text)[pointer])
    return shapes


@given(
    text=st.text(max_size=20), created=st.integers(0, 10**12) | st.floats(0, 1e12), ascii_only=st.booleans()
)
def test_a_piece_is_read_as_json_reads_it(text: str, created: float, *, ascii_only: bool) -> None:
    """Whatever the text, however it is written, with another number beside it."""
    data = json.dumps(json.loads(event(text, created=created)), ensure_ascii=ascii_only)
    piece = learned(event("first")).piece("", data.encode("utf-8", "surrogatepass"))
    assert piece is not None
    assert (piece.key, piece.pointer, piece.text, piece.data) == (KEY, "/delta/content", text, data)


@given(st.binary(max_size=3), st.integers(0, 60), st.integers(0, 3))
@settings(max_examples=300)
def test_what_is_recognised_is_json_with_the_same_other_strings(new: bytes, at: int, cut: int) -> None:
    """An event with any bytes changed is of the shape only if nothing but the piece and a number changed."""
    first = event("first")
    data = first.encode()[:at] + new + first.encode()[at + cut :]
    piece = learned(first).piece("", data)
    if piece is None:
        return
    value = json.loads(data)
    assert value["delta"]["content"] == piece.text
    value["delta"]["content"] = "first"
    value["created"] = 1
    assert value == json.loads(first)


@pytest.mark.parametrize(
    "data",
    [
        event(index=1).encode(),
        event(password="x").encode(),
        event(created="1").encode(),
        event(created=True).encode(),
        event().encode() + b" ",
        event()[:-1].encode(),
        event().replace('"x"', '"\\q"').encode(),
        event().replace('"x"', '"x", "content": "y"').encode(),
        event().replace('"x"', '"\t"').encode(),
        event().replace('"x"', '"').encode() + b'"',
        event().encode().replace(b'"x"', b'"\xff"'),
        event().replace(": 1", ": 01").encode(),
        event().replace(": 1", ": " + "1" * 400).encode(),
        b"",
    ],
)
def test_another_event_is_not_recognised(data: bytes) -> None:
    """Another index, another string, another type, and what is no JSON."""
    assert learned(event()).piece("", data) is None


def test_an_event_of_another_name_is_not_recognised() -> None:
    """The name may be part of what tells a text."""
    assert learned(event()).piece("other", event().encode()) is None


@pytest.mark.parametrize("text", ['{"index": 7, "delta": "x"}', '{"inde\\u0078": 7, "delta": "x"}'])
def test_a_number_that_may_name_a_text_is_no_hole(text: str) -> None:
    """Also when the name of its member is written in escapes."""
    assert learned(text, "/delta").piece("", text.replace("7", "8").encode()) is None
    assert learned(text, "/delta").piece("", text.replace('"x"', '"y"').encode()) is not None


def test_a_number_in_a_string_is_no_hole() -> None:
    """Only the tokens of a document are numbers."""
    text = '{"a": "b", "c": ": 5, ", "delta": "x"}'
    assert learned(text, "/delta").piece("", text.replace("5", "6").encode()) is None


def test_the_number_of_shapes_is_bounded_and_the_last_used_stays() -> None:
    """A stream has a few texts at a time."""
    shapes = Shapes()
    for index in range(MAX_SHAPES):
        shapes.learn("", (index,), "/delta/content", event(index=index), spans(event())["/delta/content"])
    assert shapes.piece("", event(index=0).encode()) is not None
    shapes.learn("", (99,), "/delta/content", event(index=99), spans(event(index=99))["/delta/content"])
    known = [index for index in (*range(MAX_SHAPES), 99) if shapes.piece("", event(index=index).encode())]
    assert known == [0, *range(2, MAX_SHAPES), 99]


def test_long_frames_and_ever_new_ones_are_not_learned() -> None:
    """Learning costs time, which only pays when it is of use."""
    long = event(note="x" * MAX_FRAME_CHARS)
    assert learned(long).piece("", long.encode()) is None
    shapes = Shapes()
    for number in range(MAX_BARREN + 1):
        text = event(number=str(number))
        shapes.learn("", KEY, "/delta/content", text, spans(text)["/delta/content"])
    assert shapes.piece("", event(number=str(MAX_BARREN)).encode()) is None
    assert shapes.piece("", event(number=str(MAX_BARREN - 1)).encode()) is not None


def test_a_piece_does_not_print_its_text() -> None:
    """A secret does not reach a log through repr."""
    piece = learned(event()).piece("", event("hunter2").encode())
    assert piece is not None
    assert piece.text == "hunter2"
    assert "hunter2" not in repr(piece)
