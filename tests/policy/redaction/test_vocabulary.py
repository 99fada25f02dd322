"""Words that are no secrets."""

import pytest

from herma.policy.redaction.vocabulary import DULL, PROSE


@pytest.mark.parametrize("words", [DULL, PROSE], ids=["dull", "prose"])
def test_words_are_written_as_they_are_looked_up(words: frozenset[str]) -> None:
    """Lower-case, one by one, without the marks that the look-up takes off."""
    assert words
    assert all(word == word.lower().strip("?!;:,.") for word in words)


def test_words_are_told_apart_from_values() -> None:
    """A type stands for a value; a word that a person chose does not."""
    assert {"string", "null", "bearer", "scram-sha-256", "current-password"} <= DULL
    assert {"the", "must"} <= PROSE
    assert "tulip" not in DULL | PROSE
