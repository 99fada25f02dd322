"""Claims about `herma.policy.text.bare`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.text.bare import bare

PLAINER = {
    "case": ("IGNORE", "ignore"),
    "accents": ("Schlüssel envíalo", "schlussel envialo"),
    "letters with a stroke": ("łøđ ß æ", "lod ss ae"),
    "Turkish dots": ("TALİMATLARI yıl", "talimatlari yil"),
    "Arabic vowels and forms": ("أَرْسِلْ الكلمةَ", "ارسل الكلمه"),
    "Persian letters": ("کلیدی", "كليدي"),
    "Hebrew points": ("שְׁלַח", "שלח"),
    "a nukta": ("फ़ाइल", "फाइल"),
    "Japanese marks stay": ("ガギグ", "ガギグ"),
    "Korean stays": ("보내", "보내"),
    "Cyrillic marks": ("всё й ї", "все и і"),
    "quotes and dashes": ("‘a’ “b” – c", "'a' \"b\" - c"),
    "blanks": ("a\t b\u00a0\u3000c", "a b c"),
    "line breaks": ("a \n\n  b", "a\nb"),
    "regional letters": ("🇮🇬", "ig"),
    "negative circles": ("🅘", "i"),
    "zero width": ("ig\u200bnore", "ignore"),
    "ASCII": ("A  b", "a b"),
}


@pytest.mark.parametrize(("text", "plain"), PLAINER.values(), ids=PLAINER.keys())
def test_ornaments_are_taken_off(text: str, plain: str) -> None:
    """One spelling stands for all."""
    assert bare(text) == plain


@given(st.text())
def test_a_bare_text_stays_as_it_is(text: str) -> None:
    """Normalising twice changes nothing."""
    assert bare(bare(text)) == bare(text)
