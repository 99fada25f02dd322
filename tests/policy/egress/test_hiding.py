"""What stands in watched files is masked in texts for people."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.hiding import WATCHED, Hiding, watched_found
from herma.policy.egress.watched import Watched
from support.redactor import KEY, redactor

VALUE = "k3y-0f-th3-t3st-0001"
QUOTED = 'it "is" n0t h3re'
HIDING = Hiding(redactor(), Watched.of(KEY, [f"A={VALUE}\nB='{QUOTED}'"]))
MASK = redactor().stand_in("watched", VALUE)


@pytest.mark.parametrize("text", ["", "hello", '{"a": "b"}', '{"a": "b', '["a\\nb"]', '"'])
def test_what_holds_none_is_the_same(text: str) -> None:
    """The same object."""
    assert HIDING.text(text) is text
    assert Hiding(redactor(), Watched(KEY)).text(f"{text} {VALUE}") == f"{text} {VALUE}"


def test_a_value_is_masked_in_a_text() -> None:
    """With a placeholder that the redactor leaves alone."""
    assert HIDING.text(f"see {VALUE}, or B='{QUOTED}'").startswith(f"see {MASK}, or B=")
    assert QUOTED not in HIDING.text(f"B='{QUOTED}'")
    assert MASK.startswith("[watched:")
    assert redactor().text(f"see {MASK} A={MASK}").text == f"see {MASK} A={MASK}"


def test_strings_of_json_are_masked_as_they_are_meant() -> None:
    """Names too, and what is JSON in a string; the document stays one."""
    document = {VALUE: 1, "n": [f"a\n{QUOTED}\nb", f"\u00e4 {VALUE}"], "j": json.dumps({"t": [QUOTED, 2]})}
    for ascii_only in (True, False):
        text = HIDING.text(json.dumps(document, ensure_ascii=ascii_only))
        read = json.loads(text)
        assert list(read) == [MASK, "n", "j"]
        assert read["n"][1] == f"\u00e4 {MASK}"
        assert QUOTED not in read["n"][0]
        inner = json.loads(read["j"])
        assert inner["t"][1] == 2
        assert inner["t"][0] != QUOTED
        assert text.isascii() is ascii_only


def test_strings_that_are_somebody_elses_are_left() -> None:
    """By where they stand."""
    text = json.dumps([VALUE, VALUE])
    assert HIDING.text(text, {(2, 2 + len(VALUE))}) == json.dumps([VALUE, MASK])


def test_what_is_told() -> None:
    """A rule and a place, and nothing of the text."""
    assert (watched_found("body").rule_id, watched_found("body").place) == (WATCHED, "body")


@given(
    st.recursive(
        st.just(VALUE) | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            | inner.map(json.dumps)
        ),
        max_leaves=9,
    )
)
def test_json_stays_json_and_loses_the_value(document: object) -> None:
    """Whatever the nesting, up to JSON in JSON in JSON."""
    text = HIDING.text(json.dumps(document))
    json.loads(text)
    assert VALUE not in text
