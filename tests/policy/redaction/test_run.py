"""Runs of token characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.run import Alphabet, plain

RUN = re.compile(r"[ab_]{3,}", re.ASCII)


@given(st.text(alphabet="ab_ .é你\ud800", max_size=40))
def test_a_run_is_what_a_pattern_would_find(text: str) -> None:
    """Every maximal run of three or more, at its place in the text."""
    assert Alphabet("ab_", 3).runs(plain(text)) == [found.span() for found in RUN.finditer(text)]


@given(st.text(max_size=40))
def test_every_character_keeps_its_place(text: str) -> None:
    """One byte a character, whatever the character."""
    written = plain(text)
    assert len(written) == len(text)
    assert all(
        chr(byte) == character for byte, character in zip(written, text, strict=True) if character.isascii()
    )


@pytest.mark.parametrize(("characters", "at_least"), [("", 3), ("a", 0), ("a?", 3)])
def test_an_alphabet_that_finds_the_wrong_runs_is_refused(characters: str, at_least: int) -> None:
    """Nothing, everywhere, and what is not ASCII are no runs."""
    with pytest.raises(ValueError, match="run"):
        Alphabet(characters, at_least)
