"""Decoded views."""

import re

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.decode import DECODERS
from herma.policy.redaction.hit import Hit
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.view import MAX_AFTER, MAX_BEFORE, View
from herma.policy.redaction.work import Work


def test_a_view_holds_only_the_surroundings_of_what_changed() -> None:
    """A large text with one escape is not read twice."""
    text = "x" * 10 * MAX_AFTER + "\\u0041" + "y" * 10 * MAX_AFTER
    view = View(text).derive(re.compile(r"(\\u0041)"), lambda _: "A")
    assert view is not None
    assert len(view.text) <= MAX_BEFORE + MAX_AFTER + 4
    at = view.text.index("A")
    assert view.spans(at, at + 1) == [(10 * MAX_AFTER, 10 * MAX_AFTER + 6)]


def test_a_gap_between_near_matches_is_copied_once() -> None:
    """What lies between two matches on one long line is in the view, whole."""
    between = "b" * (MAX_BEFORE + 88)
    view = View(f"%41{between}%42").derive(re.compile("(%4[12])"), lambda _: "x")
    assert view is not None
    assert view.text == f"x{between}x"


def test_what_spans_the_border_of_far_pieces_has_no_place() -> None:
    """The line ends between them are the view's own."""
    gap = "c\n" * MAX_AFTER
    view = View(f"%41{gap}%42").derive(re.compile("(%4[12])"), lambda _: "x")
    assert view is not None
    at = view.text.index("\n\n")
    assert view.spans(at + 1, at + 2) == []
    assert list(Redactor._mapped(view, 1, [Hit(at + 1, at + 2, "token", "x")])) == []


@given(st.text(alphabet="a\\u0041\"'%2\n\x1b[m&;x\u200b$IFS", max_size=80), st.data())
def test_every_place_of_a_view_maps_into_the_text(text: str, data: st.DataObject) -> None:
    """Spans are in order, inside the source, and never overlap."""
    for decode in DECODERS:
        view = decode(View(text), Work(len(text)))
        if view is None:
            continue
        start = data.draw(st.integers(0, len(view.text)))
        end = data.draw(st.integers(start, len(view.text)))
        spans = view.spans(start, end)
        flat = [place for span in spans for place in span]
        assert flat == sorted(flat)
        assert all(0 <= first < last <= len(text) for first, last in spans)


def test_what_is_not_decoded_for_want_of_work_is_named_piece_by_piece() -> None:
    """Pieces without anything to decode are none of them."""
    words = "words\n" * 4000
    text = f"a&amp;b\nc&amp;d\n{words}e&amp;f\n{words}g&amp;h\n{words}"
    view = View(text)
    assert view.derive(re.compile(r"(&amp;)"), lambda _: "&", Work(0, base=1)) is not None
    assert [text[hit.start : hit.end].count("&amp;") for hit in view.unseen] == [1, 1]
