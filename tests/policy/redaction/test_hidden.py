"""Characters that show nothing, that take others back, or that are letters in another dress."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.hidden import (
    HIDING,
    may_hide,
    may_overprint,
    may_smuggle,
    overprinted,
    smuggled,
    visible,
)
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work

NOTHING = {
    "a control character": "\x01",
    "a bell": "\x07",
    "a step back": "\x08",
    "a delete": "\x7f",
    "a soft hyphen": "\u00ad",
    "a direction": "\u202e",
    "a selector": "\ufe0f",
    "a selector of the supplement": "\U000e0100",
    "a tag": "\U000e0041",
    "a mark": "\u0332",
    "a filler": "\u1160",
    "a blank of Braille": "\u2800",
    "what stands for no text": "\ufffd",
    "half a pair": "\udcff",
    "a private character": "\ue000",
    "a mark of shorthand": "\U0001bca0",
    "a colour": "\x1b[31m",
    "a colour in eight bits": "\x9b31m",
    "a title": "\x1b]0;x\x07",
}
DRESSED = {
    "wide": "\uff41\uff22\uff11\uff3f",
    "in circles": "\u24d0\u24b7\u2460_",
    "in brackets": "\u249c\U0001f111\u2474_",
    "in black squares": "a\U0001f1711_",
    "of flags": "a\U0001f1e71_",
    "mathematical": "\U0001d41a\U0001d401\U0001d7cf_",
    "raised": "\u1d43\u1d2e\u00b9_",
    "below the line": "\u2090B\u2081_",
    "of scripts": "a\u212c1\ufe33",
    "a tie": "aB1\u203f",
}


def _shown(text: str) -> str:
    view = visible(View(text))
    return text if view is None else view.text


@pytest.mark.parametrize("sign", NOTHING.values(), ids=NOTHING.keys())
def test_what_shows_nothing_is_dropped(sign: str) -> None:
    """A word stays one word, whatever stands in it that nobody sees."""
    assert may_hide(f"ab{sign}cd")
    assert _shown(f"ab{sign}cd") == "abcd"


@pytest.mark.parametrize("text", DRESSED.values(), ids=DRESSED.keys())
def test_letters_are_undressed(text: str) -> None:
    """What is read as a letter of ASCII is one."""
    assert _shown(text) == "aB1_"


@pytest.mark.parametrize("text", ["plain\ttext\r\n", "Größe 你好 – “x” €", "A=1\0B=2", "पासवर्ड यहाँ"])
def test_other_text_is_shown_as_it_is(text: str) -> None:
    """Blanks, letters of any script and the zero byte of an environment."""
    assert not may_hide(text)
    assert visible(View(text)) is None


@given(st.text())
def test_the_look_for_hidden_characters_is_exact(text: str) -> None:
    """It says yes where one stands, and nowhere else."""
    assert may_hide(text) is (re.search(HIDING, text) is not None)


OVERPRINTED = {
    "bold": ("a\bab\bb", "ab"),
    "underlined": ("_\ba_\bb", "ab"),
    "bold and underlined": ("_\ba\ba_\bb\bb", "ab"),
    "a mistype": ("axy\b\bb", "ab"),
    "deleted": ("axy\x7f\x7fb", "ab"),
    "twice": ("xy\b\bxy\b\bab", "ab"),
    "to the beginning": ("xy\b\b\b\bab", "ab"),
    "over what was taken back": ("xyz\bq\b\b\bab", "ab"),
    "at the end": ("abx\b", "ab"),
}


@pytest.mark.parametrize(("text", "left"), OVERPRINTED.values(), ids=OVERPRINTED.keys())
def test_a_terminal_that_goes_back_shows_what_is_left(text: str, left: str) -> None:
    """Every step takes one character, and those that were taken are no characters any more."""
    view = overprinted(View(text))
    assert may_overprint(text)
    assert view is not None
    assert view.text == left


def test_the_letter_that_was_written_twice_is_masked_twice() -> None:
    """The place of a letter holds what it was written over."""
    view = overprinted(View("x a\bab\bb"))
    assert view is not None
    assert view.spans(2, 4) == [(2, 8)]


def test_no_more_steps_are_read_than_are_paid_for() -> None:
    """What was not read is told."""
    view = View("x\b" * 500)
    overprinted(view, Work(1, 8))
    assert view.unseen


def test_a_text_that_never_goes_back_has_no_view() -> None:
    """There is nothing to take back."""
    assert not may_overprint("abc")
    assert overprinted(View("abc")) is None


@pytest.mark.parametrize("first", [0xE0000, 0xE00F0], ids=["tags", "selectors"])
def test_characters_that_carry_others_are_read(first: int) -> None:
    """A whole text stands in characters that nobody sees."""
    carried = "x" + "".join(chr(first + ord(sign)) for sign in "a b~")
    view = smuggled(View(carried))
    assert may_smuggle(carried)
    assert view is not None
    assert view.text == "xa b~"


@pytest.mark.parametrize("text", ["abc", "é", "\U0001f600\ufe0f"])
def test_most_texts_carry_nothing(text: str) -> None:
    """A selector behind an emoji says how it is drawn."""
    assert not may_smuggle(text)
    assert smuggled(View(text)) is None


def test_without_work_nothing_is_taken_back() -> None:
    """What is not looked at is given up, and nothing breaks."""
    view = View("pass\x08\x08word\x7f")
    assert overprinted(view, Work(0, 0)) is None
    assert view.unseen
