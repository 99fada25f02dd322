"""What of a growing text must wait."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.hold import _PIECES, _SUM, Hold, _first_quote, last_word
from herma.policy.redaction.watch import Watch
from support.redactor import GITHUB, redactor

FINDER = redactor().finder
_BREAK = re.compile(r"[ \t]|(?<![A-Za-z0-9_-])\r|\r(?=\n)|(?<!\\)\n")


def held(text: str) -> str:
    """Give what of a text has to wait."""
    watch = Watch(FINDER)
    watch.take(text)
    return text[Hold(FINDER, watch).start(text, 0, 0) :]


@given(st.text(alphabet="ab \t\n\r\\", max_size=16))
def test_the_last_word_begins_behind_the_last_break(text: str) -> None:
    """A line end that a backslash continues is none, nor is a return behind a letter."""
    assert last_word(text) == max((found.end() for found in _BREAK.finditer(text)), default=0)


@given(st.lists(st.text(alphabet="aZ9=&#2 \n\\\u200b", max_size=6), max_size=8))
def test_what_waits_does_not_depend_on_how_often_it_was_asked(pieces: list[str]) -> None:
    """A word that grows is searched only where it has grown, and nothing in it is overlooked."""
    watch = Watch(FINDER)
    hold = Hold(FINDER, watch)
    text = ""
    for piece in pieces:
        text += piece
        watch.take(piece)
        assert hold.start(text, 0, 0) == Hold(FINDER, watch).start(text, 0, 0)


@given(
    st.lists(st.sampled_from(["'aa'", '"bb"', "'", '"', " + ", " ", "\n", "aa", "."]), max_size=40).map(
        "".join
    )
)
def test_open_pieces_begin_among_the_last_quotes(text: str) -> None:
    """The search for them may begin there."""
    for pattern in (_PIECES, _SUM):
        near, all_of_it = pattern.search(text, _first_quote(text, 0)), pattern.search(text)
        assert (near and near.span()) == (all_of_it and all_of_it.span())


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("plain words", ""),
        ("see sk-", "sk-"),
        ("so F4keP4ssx7 is the root", "F4keP4ssx7 is the root"),
        ("so F4keP4ssx7 was here", ""),
        ("so F4keP4ssx7 <- the admin", "F4keP4ssx7 <- the admin"),
        ("so version12 is the", ""),
        ("so F4keP4ssx7 (ad", "F4keP4ssx7 (ad"),
        ("so F4keP4ssx7 (admin pass", "F4keP4ssx7 (admin pass"),
        ("so F4keP4ssx7 (who else", "F4keP4ssx7 (who else"),
        ("so F4keP4ssx7 (see) and", ""),
        ("password: 'tulip anchor", "tulip anchor"),
        ("curl -u 'editor:46Vf c6Ee", "editor:46Vf c6Ee"),
        ("see\nnet use Z: \\\\nas\\share x", "net use Z: \\\\nas\\share x"),
        ("Recovery codes for kim:\n8fe9e-74b8c\n", "Recovery codes for kim:\n8fe9e-74b8c\n"),
        (f"x; A={GITHUB[:12]}; echo ", f"{GITHUB[:12]}; echo "),
        ('token = (\n    "F4keK3yF"\n    ', '"F4keK3yF"\n    '),
        ('data: {"content":"token="}\n\ndata: {"content":"F4k"}\n\n', 'F4k"}\n\n'),
        ("data: token\n\ndata: x ", ""),
        ("bot 1234567890", "1234567890"),
    ],
)
def test_what_could_become_a_secret_waits(text: str, waits: str) -> None:
    """A word, a quoted value, a line, a list, a variable, a value in several lines; the rest leaves."""
    assert held(text) == waits


def test_the_words_of_events_are_one_word() -> None:
    """What ends one event and begins the next waits together."""
    text = 'data: {"content":"token F4k"}\n\ndata: {"content":"eK3"}\n\n'
    assert held(text) == text[text.index("F4k") :]
