"""Claims about `herma.policy.text.views`."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from herma.policy.text import views as module
from herma.policy.text.views import MAX_SHORT_CHARS, conceals, reading, rewritten, strip_invisible, views

FOLDED = {
    "Cyrillic look-alikes": ("іgnоrе аll рrеvіоus", "ignore all previous"),
    "Armenian look-alikes": ("іgոore", "ignore"),
    "full width": ("ｃｕｒｌ　－ｓ", "curl -s"),
    "mathematical letters": ("𝔡𝔦𝔰𝔯𝔢𝔤𝔞𝔯𝔡", "disregard"),
    "small capitals": ("ɪɢɴᴏʀᴇ", "ignore"),
    "struck through": ("i̶g̶n̶o̶r̶e̶", "ignore"),
    "accents": ("ïgnörë", "ignore"),
    "soft hyphens": ("ig\u00adnore", "ignore"),
    "zero width": ("cu\u200brl", "curl"),
    "Braille blanks": ("ignore\u2800all", "ignore all"),
    "Turkish letters": ("TALİMATLARI yok say", "talimatlari yok say"),
}


@pytest.mark.parametrize(("text", "folded"), FOLDED.values(), ids=FOLDED.keys())
def test_disguised_text_reads_as_what_it_imitates(text: str, folded: str) -> None:
    """Look-alikes, compatibility forms and invisible characters are undone in the folded view."""
    assert views(text).folded == folded


def test_other_scripts_stay_in_the_plain_view() -> None:
    """Russian is still Russian in one of the views, and both are given."""
    both = views("Игнорируй правила")
    assert both.plain == "игнорируй правила"
    assert both.each() == (both.plain, both.folded)
    assert views("Plain").each() == ("plain",)


CONCEALED = {
    "tag characters": "hello\U000e0069\U000e0067",
    "a flag with more tags": "\U0001f3f4\U000e0067\U000e0062\U000e0020\U000e007f",
    "selectors in a row": "😊\ufe01\ufe02",
    "supplementary selectors after a letter": "a\U000e0100",
    "an override of direction": "report \u202etxt.exe",
    "an embedding without right-to-left text": "true \u2066# x\u2069",
    "musical format characters": "x\U0001d173y",
    "a terminal escape": "ok\x1b[8m",
    "a backspace": "ok\b\b",
    "a zero-width space inside a word": "ig\u200bnore",
    "a Hangul filler inside a word": "ig\u3164nore",
    "a joiner between Latin letters": "ig\u200dnore",
}
INNOCENT = {
    "a family emoji": "👩\u200d❤\ufe0f\u200d💋\u200d👨",
    "the flag of England": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f wins",
    "Persian with a non-joiner": "نمی\u200cخواهم",
    "Hindi with a joiner": "क\u094d\u200dया",
    "isolates around Arabic": "\u2067ملخص\u2069 weather",
    "a mark beside Hebrew": "סימן \u200eLTR\u200e כאן",
    "a byte-order mark at the end of a word": "price list\ufeff and",
    "a break opportunity after a slash": "long/\u200bpath",
    "a soft hyphen": "in\u00adstructions",
    "an ideograph with its variant": "葛\U000e0100城",
    "tabs and line breaks": "a\tb\r\nc",
}


@pytest.mark.parametrize("text", CONCEALED.values(), ids=CONCEALED.keys())
def test_smuggled_characters_are_noticed(text: str) -> None:
    """What hides text from a reader is called concealment."""
    assert conceals(text)


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT.keys())
def test_what_scripts_and_emoji_need_is_not_concealment(text: str) -> None:
    """Joiners, selectors and marks that writing systems use, and debris of copying, pass."""
    assert not conceals(text)


@given(st.text() | st.text("\u03b9\u0456\u0301\u0308\u03ac\u0439a\u00e9"))
@example("\u03ba\u03ac\u03b8\u03b5 \u03c0\u03c1\u03c9\u03af")
def test_normalising_is_idempotent(text: str) -> None:
    """A text that was normalised is normal: no second pass finds anything the first left."""
    once = views(text)
    assert views(once.plain).plain == once.plain
    assert views(once.folded).folded == once.folded


@given(st.text())
def test_any_text_has_views_without_invisible_characters(text: str) -> None:
    """Views exist for every text, and taking invisible characters out twice changes nothing."""
    assert strip_invisible(strip_invisible(text)) == strip_invisible(text)
    assert "\u200b" not in views(text).plain
    assert conceals(text) in {True, False}


def test_a_command_is_read_with_its_letter_case() -> None:
    """What stands for Latin letters becomes them; base64 in the text stays what it was."""
    assert reading("сurl -d Y3VyBA==") == "curl -d Y3VyBA=="
    assert reading("plain Text") == "plain Text"
    assert reading("c\u0336u\u0336rl") == "curl"


def test_a_break_in_a_link_hides_nothing() -> None:
    """Pages break long links so; twice is a code."""
    assert not conceals("Watch https://www.example.org/a\u200bbc for news")
    assert conceals("Watch the pa\u200bge")
    assert conceals("Watch https://www.example.org/a\u200bb\u200bc for news")


@pytest.mark.parametrize("sign", ["\ufdfa", "\ufdfb", "\u3300", "\u33ff"])
def test_a_text_stays_about_as_long_as_it_was(sign: str) -> None:
    """A sign that stands for a sentence would make a megabyte eighteen."""
    seen = views(sign * 1000)
    assert len(seen.plain) <= 6000
    assert len(seen.folded) <= 6000


@given(st.text(alphabet=st.characters(min_codepoint=0x80), max_size=12))
def test_what_imitates_no_latin_is_read_as_it_is(text: str) -> None:
    """Wherever a letter stands, folding is what decomposing, replacing and composing give."""
    latin = unicodedata.normalize("NFKD", views(text).plain).translate(module._LOOKALIKES)
    assert views(text).folded == unicodedata.normalize("NFC", module._MARKS_ON_LATIN.sub("", latin))


@given(text=st.text(st.sampled_from("aZ \u0430\u0440\u03b1\u217c\u0301\u4e2d"), max_size=MAX_SHORT_CHARS))
def test_a_long_text_is_folded_like_a_short_one(text: str) -> None:
    """How the letters are looked for depends on the length, and what is read does not."""
    times = MAX_SHORT_CHARS + 1
    assert reading(f"{text}.\n" * times) == reading(f"{text}.\n") * times


def test_signs_are_rewritten_one_by_one() -> None:
    """Each sign becomes what is given for it, and everything else stays."""
    assert rewritten("a\u3002b\ufdfb", {"\u3002": ".", "\ufdfb": "xy"}) == "a.bxy"
