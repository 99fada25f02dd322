"""Values in quotes: their ends, and the ones a text leaves open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.judgement import Value
from herma.policy.redaction.quote import (
    LAST_QUOTES,
    MAX_JOINT_CHARS,
    MAX_VALUE_CHARS,
    QUOTED,
    open_argument,
    open_quote,
    open_windows,
    past_bound,
    quoted_value,
)
from support.redactor import redactor


def read(text: str) -> Value:
    """Read the value behind the first quote of a text."""
    quoted = QUOTED.search(text)
    assert quoted is not None
    return quoted_value(text, quoted)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a b" c', "a b"),
        ("f'a' c", "a"),
        ("“a” c", "a"),
        ("\u2018a\u2019 c", "a"),
        ("«a» c", "a"),
        ("&quot;a&quot; c", "a"),
        ('"""a\nb""" c', "a\nb"),
        (r'"a\"b" c', r"a\"b"),
        (r'"a\\" c"', r"a\\"),
        (r"'a\' c", "a\\"),
        ('"" c', ""),
    ],
)
def test_a_value_ends_at_the_quote_that_closes_it(text: str, value: str) -> None:
    """An escaped quote closes nothing, unless it is a shell's, where a backslash between single quotes is a letter."""
    found = read(text)
    assert (found.text, found.closed) == (value, True)


@pytest.mark.parametrize("quote", ['"', "'", "`", "“", "«"])
def test_a_value_that_nothing_closes_ends_with_its_line(quote: str) -> None:
    """What follows on the next line is another matter."""
    found = read(f"{quote}a b\nc")
    assert (found.text, found.closed) == ("a b", False)


def test_a_value_whose_last_quote_is_escaped_is_open() -> None:
    """The end of the text is not the end of the value."""
    found = read(r'"a\"')
    assert (found.text, found.closed) == (r"a\"", False)


@given(st.text(alphabet="a\\\"'`\n “”«»&quot;", max_size=60))
def test_a_value_of_any_text_lies_behind_its_quote(text: str) -> None:
    """It is a part of the text, and a quote stands behind it where it is closed."""
    found = read('"' + text)
    assert text.startswith('""') or found.start == 1
    assert found.text == ('"' + text)[found.start : found.end]
    assert not found.closed or ('"' + text).startswith(found.quote, found.end)


@pytest.mark.parametrize(
    ("opening", "behind"),
    [('"', '" b'), ('"', "\nb"), ('"', ""), ('"""', '\n""" b'), ("“", "” b")],
    ids=["quote", "line", "end", "three quotes", "curly quote"],
)
def test_a_value_beyond_the_bound_is_followed_to_its_end(opening: str, behind: str) -> None:
    """It is judged by its beginning only, but nothing of it is left behind."""
    text = f"{opening}{'a' * (MAX_VALUE_CHARS + 50)}{behind}"
    found = read(text)
    assert found.end - found.start == MAX_VALUE_CHARS
    inside = len(text) - len(behind) + (opening == '"""')
    assert past_bound(text, found) == inside


@pytest.mark.parametrize("text", ['"a" b"', '"a\nb"'], ids=["closed", "short"])
def test_a_value_within_the_bound_ends_where_it_was_read_to(text: str) -> None:
    """A later quote belongs to something else."""
    found = read(text)
    assert past_bound(text, found) == found.end == len('"a')


@given(st.text(alphabet="a \"'`“«\n", max_size=80), st.integers(0, 80))
def test_windows_are_apart_in_order_and_behind_the_start(text: str, start: int) -> None:
    """No part of the text is searched twice, and each holds the quote it ends with."""
    start = min(start, len(text))
    windows = open_windows(text, start)
    flat = [place for window in windows for place in window]
    assert flat == sorted(set(flat))
    assert all(start <= place <= len(text) for place in flat)
    assert bool(windows) is any(quote in text[start:] for quote in "\"'`“«")


def test_windows_hold_the_last_quotes_only() -> None:
    """A text full of quotes is searched in a few places."""
    gap = "a" * 2 * MAX_JOINT_CHARS
    windows = open_windows(f'{gap}"' * 10 * LAST_QUOTES, 0)
    assert len(windows) == LAST_QUOTES
    assert all(last - first == MAX_JOINT_CHARS + 1 for first, last in windows)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('password = "tulip an', "tulip an"),
        ("password: 'tulip", "tulip"),
        ('password = """tulip\nan', "tulip\nan"),
        ('password = "tulip"', None),
        ('password = "tulip\nan', None),
        ("password = tulip", None),
        ("password", None),
        ('greeting = "tulip', None),
    ],
)
def test_a_value_is_open_when_the_text_ends_in_it(text: str, value: str | None) -> None:
    """Only beside a name that tells of a secret, and only in a quote that the rest of the text could close."""
    last = len(text.split(" ", 1)[0].rstrip(":"))
    at = open_quote(text, 0, last, redactor().finder.names)
    assert (text[at:] if at >= 0 else None) == value


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('tool "tulip an', "tulip an"),
        ("tool 'a' `tulip", "tulip"),
        ("it's a 'tulip", "tulip"),
        ("tool 'a\n\"tulip", "tulip"),
        ('tool "a\' b" c', ""),
        ("tool 'a\nb' 'c'", ""),
        ("tool 'a\nb", ""),
        ("tool tulip", ""),
    ],
)
def test_an_argument_is_open_when_neither_quote_nor_line_ends_it(text: str, rest: str) -> None:
    """An apostrophe within a word opens nothing."""
    assert text[open_argument(text, 0) :] == rest
