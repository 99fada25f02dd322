"""The subset of regular expressions that rules may use."""

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from herma.policy.pattern import (
    MAX_PATTERN_CHARS,
    PatternError,
    compile_branches,
    compile_pattern,
    examine_pattern,
)

GOOD = {
    "bounded repeat": "a{1,64}",
    "possessive": "[a-z]++x",
    "possessive from a minimum": "a{3,}+",
    "atomic": "(?>ab|a)c",
    "one-character look-behind": "(?<![A-Za-z0-9_-])sk-",
    "one-character look-ahead": r"x(?!\d)",
    "look-ahead for a class with a bracket": r"x(?=[\]a])",
    "flags": "(?i)abc",
    "flagged group": "(?i:abc)d",
    "named group": "(?P<secret>a{1,3})",
    "literal brace": "a{x}",
    "lazy": "a{0,5}?b",
    "optional": "(?:ab)?c",
    "exact": "[0-9a-f]{32}",
    "class that begins with a bracket": "[]a]{1,2}",
    "negated class": r"[^\]]{1,3}",
    "property": r"\p{L}{1,4}",
}
BAD = {
    "star": "a*",
    "plus": "a+b",
    "open bound": "a{3,}",
    "back-reference": r"(a)\1",
    "back-reference by name": "(?P<x>a)(?P=x)",
    "long look-behind": "(?<=ab)c",
    "look-ahead for two": "a(?=bc)",
    "look-ahead for a repeat": "a(?=b{2})",
    "comment group": "(?#x)",
    "conditional": "(a)?(?(1)b|c)",
    "recursion": "(?R)",
    "unfinished flags": "(?i",
    "nested repeats": "(?:a{1,100}){1,100}",
    "lone backslash": "a\\",
    "open class": "[a",
    "open group": "(a",
    "closed too often": "a)",
    "reset": r"a\Kb",
    "unicode name cut": r"\p{L",
    "too long": "a" * (MAX_PATTERN_CHARS + 1),
}


@pytest.mark.parametrize("pattern", GOOD.values(), ids=GOOD.keys())
def test_a_pattern_of_the_subset_is_accepted(pattern: str) -> None:
    """What is linear, and the constant-time boundary tests, may be used."""
    examine_pattern(pattern)


@pytest.mark.parametrize("pattern", BAD.values(), ids=BAD.keys())
def test_a_pattern_outside_the_subset_is_refused_with_its_place(pattern: str) -> None:
    """What can be slow or means different things to engines is refused."""
    with pytest.raises(PatternError) as refused:
        examine_pattern(pattern)
    assert refused.value.column >= 1


def test_word_characters_are_ascii() -> None:
    """A key beside CJK text has a boundary."""
    assert compile_pattern(r"\bsk-x").search("请把sk-x") is not None


@given(st.text(alphabet="ab(){}[]|?*+\\<!=:Pi0,1-^$", max_size=24))
@example("{0i<")
@settings(max_examples=300)
def test_examining_never_fails_otherwise_and_what_passes_compiles(pattern: str) -> None:
    """Any text is either refused with a PatternError or compiles."""
    try:
        examine_pattern(pattern)
    except PatternError:
        return
    assert compile_pattern(pattern) is not None


@pytest.mark.parametrize(
    ("pattern", "branches"),
    [
        ("a", ["a"]),
        ("a|b", ["a", "b"]),
        (r"a\|b", [r"a\|b"]),
        ("[|]a|b", ["[|]a", "b"]),
        ("(?:a|b)c|d{1,2}|(?P<x>e|f)", ["(?:a|b)c", "d{1,2}", "(?P<x>e|f)"]),
        ("(?i)a|b", ["(?i)a|b"]),
        ("(?i:a)|b", ["(?i:a)", "b"]),
    ],
)
def test_a_pattern_parts_at_its_outermost_alternatives(pattern: str, branches: list[str]) -> None:
    """Never inside a group, a class or an escape, and not where flags reach over the bar."""
    assert [branch.pattern for branch in compile_branches(pattern)] == branches


@given(
    st.lists(st.sampled_from([*GOOD.values(), "|"]), max_size=6).map("".join),
    st.text(alphabet="abcdfsk-x]{}0 ", max_size=40),
)
def test_a_branch_is_found_where_the_pattern_is(pattern: str, text: str) -> None:
    """And nowhere else."""
    try:
        whole = compile_pattern(pattern)
        branches = compile_branches(pattern)
    except (PatternError, regex.error):
        return
    assert any(branch.search(text) for branch in branches) == (whole.search(text) is not None)


def test_a_pattern_outside_the_subset_has_no_branches() -> None:
    """It is refused like everywhere."""
    with pytest.raises(PatternError):
        compile_branches("a*|b")
