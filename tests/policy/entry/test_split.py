"""Claims about `herma.policy.entry.split`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.split import filled, joined_parts

TOGETHER = {
    "two options": (["x", "--host", "a", "--tld", "b"], {}, "a.b"),
    "options with their values": (["x", "--host=a", "--tld=.b"], {}, "a.b"),
    "four numbers": (["x", "--ip=1", "--ip=2", "--ip=3", "--ip=4"], {}, "1.2.3.4"),
    "halves": (["x", "1.2.", "3.4"], {}, "1.2.3.4"),
    "a host and a path": (["x", "--host", "a.b", "--repo", "c/d"], {}, "a.b/c/d"),
    "variables": (["x"], {"A": "a", "B": "b"}, "a.b"),
    "variables in the other order": (["x"], {"B": "b", "A": "a"}, "a.b"),
}


@pytest.mark.parametrize(("words", "env", "joined"), TOGETHER.values(), ids=TOGETHER.keys())
def test_neighbours_are_joined_in_each_usual_way(words: list[str], env: dict[str, str], joined: str) -> None:
    """What a program may make of its words is among what is asked for."""
    assert joined in list(joined_parts(words, env))


FILLED = {
    "braces": ("https://${A}.${env:B}/", "https://a.b/"),
    "a dollar": ("$A.$B", "a.b"),
    "percent signs": ("%A%.{{ B }}", "a.b"),
    "what is not known": ("${C}", "${C}"),
    "nothing to fill": ("a", "a"),
}


@pytest.mark.parametrize(("text", "whole"), FILLED.values(), ids=FILLED.keys())
def test_variables_are_filled_in(text: str, whole: str) -> None:
    """Those of the entry, in the ways of those who start servers."""
    assert filled(text, {"A": "a", "B": "b"}) == whole


@given(
    st.lists(st.text(max_size=8), max_size=8),
    st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=4),
)
def test_any_words_can_be_joined(words: list[str], env: dict[str, str]) -> None:
    """Nothing makes it fail, and nothing is filled in from nowhere."""
    assert all(isinstance(text, str) for text in joined_parts(words, env))
    assert filled("".join(words), {}) == "".join(words)
