"""A first look at a text, which never misses what the pattern finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy import address
from herma.policy.prompt import cipher, strewn
from herma.policy.prompt import forms as module
from herma.policy.text.shape import LOWER, Shape

PAIRS = [
    (module._APART_SHAPE, module._APART),
    (module._CUT_SHAPE, module._CUT),
    (module._HUMPED_SHAPE, module._HUMPED),
    (cipher._LEET_SHAPE, cipher._LEET_SIGN),
    (cipher._CAPITAL_SHAPE, cipher._CAPITAL_LAST),
    (module._TAG_SHAPE, module._TAGGED),
]


def test_a_row_of_classes_is_found_anywhere() -> None:
    """And only where its letters stand side by side."""
    shape = Shape({"a": LOWER, "0": "0123456789"}, "a0a", "00")
    assert shape.may_match("x7y")
    assert shape.may_match(".. 42")
    assert not shape.may_match("x7 y")
    assert not shape.may_match("")


def test_a_text_that_is_not_ascii_may_match_anything() -> None:
    """It is left to the pattern."""
    assert Shape({"a": LOWER}, "aa").may_match("é")


def test_words_that_hang_together_are_a_long_one() -> None:
    """The look at the length of words comes first; below it nothing is searched."""
    assert strewn._LONG_WORD.may_match("send-the-report-to-the-whole-team")
    assert not strewn._LONG_WORD.may_match("up-to-date and well-known")


def test_a_shape_of_ascii_only_is_told_beside_anything_else() -> None:
    """Its pattern matches nothing else."""
    shape = Shape({"a": LOWER}, "aa", ascii_only=True)
    assert shape.may_match("é aa")
    assert not shape.may_match("aéa é")
    assert address._LONG_NUMBER.may_match("é 12345678")
    assert not address._LONG_NUMBER.may_match("é 1234567é8")


@pytest.mark.parametrize(("shape", "pattern"), PAIRS, ids=lambda item: getattr(item, "pattern", ""))
@given(
    text=st.text("aZbQ19 .-_*|,/~+^'\"`$@!8{}\n", max_size=12)
    | st.text(st.characters(max_codepoint=127))
    | st.text()
)
def test_what_a_pattern_finds_has_its_shape(shape: Shape, pattern: object, text: str) -> None:
    """For every shape that is used."""
    assert isinstance(pattern, type(module._APART))
    assert shape.may_match(text) or pattern.search(text) is None
