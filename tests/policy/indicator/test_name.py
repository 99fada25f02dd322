"""Claims about `herma.policy.indicator.name`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator.name import MAX_NAME_CHARS, ascii_name, unicode_name

SAME = [
    "B\u00fccher.Example.",
    "b\u00fccher\u3002example",
    "xn--bcher-kva.example",
    "XN--BCHER-KVA.EXAMPLE.",
    "bu\u0308cher.example",
]


@pytest.mark.parametrize("name", SAME)
def test_spellings_of_a_name_are_one(name: str) -> None:
    """Case, script, kind of dot and a dot at the end make no other host."""
    assert ascii_name(name) == "xn--bcher-kva.example"


def test_names_are_shown_in_their_script() -> None:
    """What is no punycode stays."""
    assert unicode_name("xn--bcher-kva.example") == "b\u00fccher.example"
    assert unicode_name("xn--\u00fc.example") == "xn--\u00fc.example"
    assert unicode_name("xn--" + "a" * 80) == "xn--" + "a" * 80


def test_what_is_no_host_name_is_not_encoded() -> None:
    """Punycode of a book would take forever."""
    long = "\u00fc" * (MAX_NAME_CHARS + 1)
    assert ascii_name(long) == long
    assert ascii_name("\u00fc" * 64 + ".example") == "\u00fc" * 64 + ".example"


@given(st.text(max_size=80))
def test_writing_twice_changes_nothing(name: str) -> None:
    """The one spelling is its own."""
    once = ascii_name(name)
    if once.isascii() and not once.endswith("."):
        assert ascii_name(once) == once
    unicode_name(name)
