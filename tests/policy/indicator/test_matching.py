"""Claims about `herma.policy.indicator.matching`."""

import pytest

from herma.policy.indicator import matching as module
from herma.policy.indicator.indicator import Action, Indicator, Matching
from herma.policy.indicator.matching import TEXTUAL, finder, whole


def _indicator(value: str, matching: Matching) -> Indicator:
    return Indicator("x", value, matching, Action.ALERT, "x")


FOUND = {
    Matching.EXACT: ("value1", "a value1 b", "a value12 b"),
    Matching.SUBSTRING: ("value1", "avalue1b", "aVALUE1b"),
    Matching.CASEFOLD: ("value1", "aVALUE1b", "avalue b"),
    Matching.WORD: ("value1", "a-VALUE1-b", "avalue1"),
    Matching.PREFIX: ("value1", "(value12", "xvalue1"),
    Matching.REGEX: ("value[0-9]", "a value1", "a value"),
    Matching.EMAIL: ("a@b.example", "to A@b.example.", "to a@b.example.org"),
}


@pytest.mark.parametrize("matching", sorted(TEXTUAL))
def test_texts_are_compared(matching: Matching) -> None:
    """Each way finds the place of its value, and nothing where there is none."""
    value, yes, no = FOUND[matching]
    find = finder(_indicator(value, matching))
    assert find(yes) == yes.lower().index(value[:3].lower())
    assert find(no) == -1


def test_a_value_that_stands_in_no_other_word_needs_no_bounds() -> None:
    """A worker's name behind a wallet, a digest in capitals."""
    wallet = finder(_indicator("4" + "aB" * 20, Matching.EXACT))
    assert wallet("xmr:4" + "aB" * 20 + "_rig") == 4
    assert wallet("4" + "ab" * 20) == -1
    assert finder(_indicator("0f" * 32, Matching.EXACT))("x 0F" + "0F" * 31) == 2


def test_a_whole_value_is_nothing_more() -> None:
    """Names are compared from end to end, as text or as a pattern."""
    assert whole(_indicator("a.b", Matching.EXACT))("a.b")
    assert not whole(_indicator("a.b", Matching.EXACT))("axb")
    assert whole(_indicator("a.b", Matching.REGEX))("axb")
    assert not whole(_indicator("a.b", Matching.REGEX))("axbc")


def test_a_text_that_makes_a_pattern_slow_counts_as_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be judged in time is not innocent."""
    monkeypatch.setattr(module, "MAX_SEARCH_S", 1e-9)
    find = finder(_indicator("(?:a{0,60}){0,60}b{0,60}c{0,60}!", Matching.REGEX))
    assert find("a" * 3000) == 0
