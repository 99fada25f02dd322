"""What strings say about each other."""

import pytest

from herma.policy.redaction.relation import beside, pair_of, tells
from support.redactor import PASSWORD, redactor

FINDER = redactor().finder


@pytest.mark.parametrize(
    ("key", "text", "secret"),
    [
        ("password", PASSWORD, PASSWORD),
        ("Authorization", f"Bearer {PASSWORD}", PASSWORD),
        ("Cookie", f"session={PASSWORD}; theme=dark", PASSWORD),
    ],
)
def test_a_key_tells_about_the_string_beside_it(key: str, text: str, secret: str) -> None:
    """Names of secrets and headers with a grammar of their own."""
    assert tells(FINDER, key)
    assert [text[hit.start : hit.end] for hit in beside(FINDER, key, text)] == [secret]


@pytest.mark.parametrize(
    ("key", "text"), [("colour", PASSWORD), ("", PASSWORD), ("password", ""), ("token", "$X")]
)
def test_nothing_is_told_of_other_strings(key: str, text: str) -> None:
    """No key, no text, a reference."""
    assert list(beside(FINDER, key, text)) == []


def test_a_key_that_tells_nothing() -> None:
    """Counts of tokens are no tokens."""
    assert not tells(FINDER, "prompt_tokens")


def test_a_pair_is_a_name_and_a_value() -> None:
    """One without the other is none."""
    assert pair_of({"key": 1, "value": 2}) == (1, 2)
    assert pair_of({"value": 2}) is None
    assert pair_of({"name": 1}) is None
