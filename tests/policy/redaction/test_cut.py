"""Tokens that something cuts, put together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.cut import (
    may_be_broken,
    may_be_cut,
    may_be_spaced,
    open_row,
    parted,
    unbroken,
    uncut,
    unspaced,
    zeros_dropped,
)
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, PASSWORD, masked


@pytest.mark.parametrize(
    "blank",
    ["\r", "\v", "\f", "\u00a0", "\u1680", "\u2009", "\u2028", "\u202f", "\u3000"],
    ids=ascii,
)
def test_a_blank_that_separates_no_words_cuts_none(blank: str) -> None:
    """Not where a name begins behind it, and not behind words of less than six letters."""
    view = uncut(View(f"see abcdef{blank}ghijkl"))
    assert view is not None
    assert view.text == "see abcdefghijkl"
    for other in (f"abcdef{blank}ghijkl=x", f"abc{blank}ghijkl", f"abcdef{blank}"):
        assert not may_be_cut(other)
        assert uncut(View(other)) is None


ZEROS = {
    "variables": ("A=1\0TOKEN=x\0HOME=/\0", "A=1\0TOKEN=x\0HOME=/"),
    "no name": ("A=1\0%=2", "A=1%=2"),
    "padding": ("K=ab\0cd==", "K=abcd=="),
    "a name that is cut": ("TOK\0EN=x", "TOKEN=x"),
    "letters": ("a\0b\0\0c", "abc"),
    "UTF-16": ("A\0=\0b\0c\0", "A=bc"),
}


@pytest.mark.parametrize(("text", "read"), ZEROS.values(), ids=ZEROS.keys())
def test_zero_bytes_are_dropped_but_between_variables(text: str, read: str) -> None:
    """The end of a list is none between two."""
    view = zeros_dropped(View(text))
    assert (text.rstrip("\0") if view is None else view.text.rstrip("\0")) == read.rstrip("\0")


def test_zero_bytes_separate_arguments() -> None:
    """The command line of a process is read as one."""
    view = parted(View("mysql\0-px\0db"))
    assert view is not None
    assert view.text == "mysql -px db"
    assert parted(View("mysql -px")) is None
    assert zeros_dropped(View("mysql -px")) is None


def test_no_more_zero_bytes_are_read_than_are_paid_for() -> None:
    """What was not read is told."""
    view = View("x\0" * 500)
    zeros_dropped(view, Work(1, 8))
    assert view.unseen


@pytest.mark.parametrize(
    "text",
    [
        f"PATH=/bin\0TOKEN={PASSWORD}\0HOME=/root\0",
        f"sshpass\0-p\0{PASSWORD}\0ssh\0u@h\0",
        f"curl\0-u\0bob:{PASSWORD}\0https://h\0",
    ],
)
def test_of_an_environment_and_a_command_line_the_secret_goes_and_the_rest_stays(text: str) -> None:
    """As `/proc` gives them."""
    before, after = text.split(PASSWORD)
    out = masked(text)
    assert PASSWORD not in out
    assert out.startswith(before)
    assert out.endswith(after)


def test_a_word_that_the_margin_broke_is_one() -> None:
    """The rest on the next line looks drawn."""
    line = f"{'a line that is as long as a terminal is wide, and wider '}then"
    text = f"{line} {GITHUB[:20]}\n{GITHUB[20:]}\n"
    view = unbroken(View(text))
    assert may_be_broken(text)
    assert view is not None
    assert GITHUB in view.text
    assert unbroken(View("two\nlines")) is None


ROWS = [" ", "\t", "\n", ".", ",", "|", "\u00a0", ", ", "', '", '","', '", "']


@pytest.mark.parametrize("between", ROWS, ids=ascii)
def test_letters_that_stand_by_themselves_are_one_word(between: str) -> None:
    """Whatever stands between them, if it is the same everywhere."""
    text = f"see: {between.join('abc_1234567')} end of it"
    view = unspaced(View(text))
    assert may_be_spaced(text)
    assert view is not None
    assert "abc_1234567" in view.text
    assert view.text.endswith("end of it")


@pytest.mark.parametrize("text", ["a b c d e f g", "one two three four five six seven eight nine ten", ""])
def test_fewer_letters_are_no_word(text: str) -> None:
    """Points of a list, answers, the letters of a heading."""
    assert unspaced(View(text)) is None


def test_no_more_rows_are_read_than_are_paid_for() -> None:
    """What was not read is told."""
    view = View("a b c d e f g h i j k\n" * 300)
    unspaced(view, Work(1, 8))
    assert view.unseen


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", 0),
        ("abc", 3),
        ("a", 1),
        ("a b", 3),
        ("a b c", 0),
        ("see a b c ", 4),
        ("see a, b, c, ", 4),
        ("a b cd", 6),
        ("a b c     ", 10),
    ],
)
def test_a_row_is_open_from_its_third_letter_on(text: str, start: int) -> None:
    """In a stream it is held from its first one."""
    assert open_row(text) == start


@given(st.text(alphabet="ab ,'\n", max_size=80))
def test_the_look_before_the_rows_misses_nothing(text: str) -> None:
    """Where it says no, no letters are joined."""
    view = unspaced(View(text), Work(len(text)))
    assert view is None or may_be_spaced(text)
