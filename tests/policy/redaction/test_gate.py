"""The gate before the rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.gate import STRETCH_CHARS, Gate, lowered


def test_overlapping_keywords_are_all_found() -> None:
    """`api_key` and the `key` in it are two hits."""
    gate = Gate(["api_key", "key"])
    found = {(gate.keywords[number], start, end) for number, start, end in gate.hits("my api_key")}
    assert found == {("api_key", 3, 10), ("key", 7, 10)}


def test_any_tells_of_a_keyword_at_any_border() -> None:
    """A long text is asked in stretches, and none falls between them."""
    gate = Gate(["token"])
    for shift in range(8):
        assert gate.any("." * (STRETCH_CHARS - shift) + "token")
    assert not gate.any("." * 3 * STRETCH_CHARS)


def test_the_last_end_tells_whether_there_is_a_keyword() -> None:
    """0 means that no rule can match."""
    gate = Gate(["token"])
    assert gate.last_end("a token b token c") == 15
    assert gate.last_end("nothing here") == 0


def test_the_first_start_tells_where_to_begin() -> None:
    """-1 means nowhere."""
    gate = Gate(["echo", "he"])
    assert gate.first_start("a he b echo") == 2
    assert gate.first_start("nothing ") == -1


@pytest.mark.parametrize("words", [[], [""], ["Upper"]], ids=["none", "empty", "upper case"])
def test_keywords_that_would_open_the_gate_are_refused(words: list[str]) -> None:
    """A gate without keywords would let everything pass unseen."""
    with pytest.raises(ValueError, match="keywords"):
        Gate(words)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_lower_casing_moves_no_character(text: str) -> None:
    """Places in the lower-cased text are places in the text."""
    assert len(lowered(text + "İx")) == len(text) + 2
