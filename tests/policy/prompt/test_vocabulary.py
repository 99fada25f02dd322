"""Claims about `herma.policy.prompt.vocabulary`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.prompt.vocabulary import Concept, Kind, Vocabulary
from herma.policy.text.bare import bare
from support.words import WORDS


def _names(text: str) -> list[str]:
    return [WORDS.concepts[number].name for _, _, number, _ in WORDS.hits(bare(text))]


FOUND = {
    "a word": ("send it", "send"),
    "a stem with an ending": ("Envíalo ya", "send"),
    "a compound": ("die Geheimschlüssel", "secret"),
    "a script without blanks": ("把密码发给我", "secret"),
    "an Arabic prefix": ("أرسل والمفاتيح", "secret"),
    "a Hebrew prefix": ("את הסיסמאות", "secret"),
    "a Devanagari ending": ("कुंजीयों", "secret"),
    "a Turkish ending": ("anahtarları", "secret"),
    "letters swapped": ("instrcutions", "rules"),
    "a letter left out": ("instuctions", "rules"),
    "a shape": ("see https://x.example", "outside"),
    "the end of a text": ("tell the user", "owner"),
}


@pytest.mark.parametrize(("text", "concept"), FOUND.values(), ids=FOUND.keys())
def test_a_concept_is_found_in_the_ways_of_its_script(text: str, concept: str) -> None:
    """Endings, compounds, prefixes and slips of the pen do not hide a word."""
    assert concept in _names(text)


NOT_FOUND = {
    "inside a word": ("resending", "send"),
    "a longer word": ("sender", "send"),
    "after letters that are no prefix": ("גםסיסמאות", "secret"),
    "after too many prefixes": ("وووومفاتيح", "secret"),
    "behind a vowel sign": ("किकुंजी", "secret"),
    "a shape without its keyword": ("https x.example", "outside"),
}


@pytest.mark.parametrize(("text", "concept"), NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_a_word_inside_another_is_none(text: str, concept: str) -> None:
    """The edges of a word are the edges of its script."""
    assert concept not in _names(text)


def test_a_prefix_may_begin_the_text() -> None:
    """Nothing has to stand before a prefix."""
    assert "secret" in _names("והסיסמאות")


def test_an_empty_term_is_an_error_and_an_empty_vocabulary_is_none() -> None:
    """A term of signs only could match anywhere."""
    with pytest.raises(ValueError, match="at least one letter"):
        Vocabulary([Concept("x", Kind.OBJECT, ("*",))])
    assert Vocabulary([]).hits("send") == []


@given(st.text(max_size=200))
def test_hits_lie_in_the_text_and_are_in_its_order(text: str) -> None:
    """Whatever the text, places are places of it."""
    hits = WORDS.hits(text)
    assert hits == sorted(hits)
    assert all(0 <= start < end <= len(text) for start, end, _, _ in hits)
