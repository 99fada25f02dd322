"""Claims about `herma.policy.indicator.literal`."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator.literal import MAX_REPEAT, bounded_pattern, required_literal

LITERALS = {
    r"pgrep -x unicorn\b.*base64 -d\s*\|\s*(ba)?sh": "pgrep -x unicorn",
    r"evil\.example": "evil.example",
    "abcd|efgh": "",
    "(abcd|efgh)x": "x",
    "[abcdef]x": "x",
    "abc?d": "ab",
    "abcd{2}ef": "abc",
    "(?:abcd)?ef": "ef",
    "(?x)a b": "",
    "(?i)ABcd": "abcd",
    "a.b": "a",
    "(?<=x)yz": "yz",
    r"ab\dcde": "cde",
    "ab)": "ab",
    "": "",
}


@pytest.mark.parametrize(("pattern", "literal"), LITERALS.items(), ids=LITERALS.keys())
def test_a_literal_is_taken_only_where_none_can_do_without(pattern: str, literal: str) -> None:
    """Groups, classes, alternatives and repeats give none."""
    assert required_literal(pattern) == literal


@given(st.from_regex(r"[ab.|()?*\[\]\\{}1,]{0,12}", fullmatch=True), st.text("ab1", max_size=12))
def test_every_match_holds_the_literal(pattern: str, text: str) -> None:
    """A first look by it never misses."""
    try:
        found = regex.compile(bounded_pattern(pattern)).search(text)
    except (ValueError, regex.error):
        return
    if found is not None:
        assert required_literal(pattern) in found[0].lower()


BOUNDED = {
    "a*b": f"a{{0,{MAX_REPEAT}}}b",
    "a+?b": f"a{{1,{MAX_REPEAT}}}?b",
    "a{3,}b": f"a{{3,{MAX_REPEAT}}}b",
    "a{,}b": f"a{{0,{MAX_REPEAT}}}b",
    "a{900,}+b": "a{900,900}+b",
    "[*+]a?": "[*+]a?",
    r"\*a": r"\*a",
    "a?+b": "a?+b",
}


@pytest.mark.parametrize(("pattern", "bounded"), BOUNDED.items(), ids=BOUNDED.keys())
def test_every_repeat_gets_an_end(pattern: str, bounded: str) -> None:
    """What has one, or is no repeat, stays."""
    assert bounded_pattern(pattern) == bounded


@pytest.mark.parametrize("pattern", ["(a+)+$", "(", "[", "a" * 5000, r"(a)\1", "(?=ab)c", "\\"])
def test_what_could_be_slow_or_broken_is_refused(pattern: str) -> None:
    """Nests of repeats, back-references, wide look-around, half a pattern, a book."""
    with pytest.raises(ValueError, match=r"\w"):
        bounded_pattern(pattern)
