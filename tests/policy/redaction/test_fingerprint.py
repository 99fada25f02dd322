"""Placeholders."""

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.fingerprint import PLACEHOLDER, Fingerprinter, without_placeholders
from herma.policy.secret import Secret

MAKER = Fingerprinter(Secret(b"one"))


@given(st.text(max_size=50))
def test_a_placeholder_has_one_form_whatever_the_value(value: str) -> None:
    """Class and eight hex digits in brackets, without anything a shell or JSON would read."""
    assert PLACEHOLDER.fullmatch(MAKER.placeholder("github-pat", value))


def test_equal_values_have_equal_placeholders_under_one_key_only() -> None:
    """Values can be compared within one gate, and not looked up outside it."""
    other = Fingerprinter(Secret(b"two"))
    assert MAKER.placeholder("a", "x") == MAKER.placeholder("a", "x")
    assert MAKER.placeholder("a", "x") != MAKER.placeholder("a", "y")
    assert MAKER.placeholder("a", "x") != other.placeholder("a", "x")


def test_a_lone_surrogate_has_a_placeholder() -> None:
    """JSON escapes can spell characters that no encoding holds."""
    assert PLACEHOLDER.fullmatch(MAKER.placeholder("a", "\ud800"))


def test_placeholders_come_out_of_a_value() -> None:
    """What is left of a value is what was not masked."""
    assert without_placeholders("a[token:01234567]b") == "ab"
    assert without_placeholders("plain") == "plain"
