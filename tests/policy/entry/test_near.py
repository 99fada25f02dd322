"""Claims about `herma.policy.entry.near`."""

import random
import time

import pytest

from herma.policy.entry.near import Near
from herma.policy.pattern import compile_branches, compile_pattern
from support.guard_content import rules

FETCH_RUN = r"\b(?:curl|wget)\b[^\n]{0,20}(?:;|&&) ?sh "
_GLUE = (" ", "", "\n", " | ", ";", " && ", "-", "a", "$", "/", "_", "x" * 90, " " * 200)


def _near(pattern: str) -> Near:
    near = Near.of(pattern)
    assert near is not None
    return near


def _parted() -> list[tuple[str, Near]]:
    branches = [branch.pattern for rule in rules("mcp") for branch in compile_branches(rule.pattern)]
    return [(branch, near) for branch in branches if (near := Near.of(branch)) is not None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("curl a; sh b", True),
        ("wget&&sh b", True),
        ("wget; ls; sh b", True),
        ("curl " + "a" * 19 + ";sh b", True),
        ("curl " + "a" * 20 + ";sh b", False),
        ("curl " + "a" * 20 + " wget ;sh b", True),
        ("curl a\n;sh b", False),
        ("curl a\nwget ;sh b", True),
        (";sh b curl a", False),
        ("curls ;sh b", False),
        ("curl a", False),
        ("sh b", False),
    ],
)
def test_two_things_are_near_each_other_as_in_the_pattern(text: str, found: bool) -> None:
    """In this order, on one line, and no further apart than the pattern says; the nearest counts."""
    assert _near(FETCH_RUN).found(text, 1.0) is found
    assert (compile_pattern(FETCH_RUN).search(text) is not None) is found


@pytest.mark.parametrize(
    "pattern",
    [
        "curl",
        r"cur[lL][^\n]{0,20}sh",
        r"curl[^\n]{0,20}",
        r"curl[^\n]{0,20}+sh",
        r"curl[^\n]{0,20}?sh",
        r"curl[^;]{0,20}sh",
        r"curl[^\n]{0,20}(?i:sh)",
        r"\b(?:lwp|lwp-download)\b[^\n]{0,20}sh",
        r"(?:get|gets)[^\n]{0,20}sh",
    ],
)
def test_other_patterns_stay_whole(pattern: str) -> None:
    """A first thing that may end at two places is one of them."""
    assert Near.of(pattern) is None


def test_a_word_that_goes_on_in_a_longer_one_ends_where_the_longer_one_does() -> None:
    """At the edge of a word there is only one of them."""
    near = _near(r"\b(?:http|https)\b[^\n]{0,4}x")
    assert near.found("https x", 1.0)
    assert not near.found("httpss x", 1.0)


def test_the_rules_find_the_same_as_their_patterns() -> None:
    """Whatever text is made of the words of a pattern and what may lie between."""
    chance = random.Random(20261202)
    examples = [example for rule in rules("mcp") for example in rule.examples.match]
    assert len(_parted()) > 50
    for pattern, near in _parted():
        words = [word for word in pattern.replace("\\", "|").replace("(?:", "|").split("|") if word]
        for _ in range(40):
            parts = chance.choices([*words, chance.choice(examples)], k=chance.randrange(2, 14))
            text = "".join(part + chance.choice(_GLUE) for part in parts)
            assert near.found(text, 1.0) == (compile_pattern(pattern).search(text) is not None), (
                pattern,
                text,
            )


def test_a_first_thing_without_number_costs_no_more_than_the_text_is_long() -> None:
    """Each of them once, what comes second once."""
    near = _near(r"\b(?:curl|wget)\b[^\n]{0,300}(?:;|&&) ?(?:sh|perl) ")
    text = "curl -u " * 8000
    start = time.process_time()
    assert not near.found(text, 1.0)
    assert time.process_time() - start < 0.1
