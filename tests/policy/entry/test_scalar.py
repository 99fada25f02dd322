"""Claims about `herma.policy.entry.scalar`."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.scalar import block, double_quoted, folded, plain, single_quoted


def test_scalars_mean_what_they_look_like() -> None:
    """A word of truth counts in three spellings; an escape without a meaning makes a text unreadable."""
    assert [plain(text) for text in ("on", "On", "ON", "y", "-", "0", "")] == [
        True,
        True,
        True,
        "y",
        "-",
        0,
        None,
    ]
    assert double_quoted("\\z") is None


_WORDS = st.sampled_from(["yes", "No", "OFF", "oN", "true", "False", "~", "null", "nULL", "on", "y"])


@given(
    _WORDS
    | st.from_regex(r"[-+]?(0b[01_]{1,6}|0x[0-9a-f_]{1,6}|0[0-9_]{0,6}|[1-9][0-9_]{0,9})", fullmatch=True)
)
def test_a_plain_word_means_what_the_agents_parser_takes_it_for(text: str) -> None:
    """Truth values, nothing and whole numbers of every base; what that parser cannot convert is not compared."""
    try:
        known = yaml.safe_load(text)
    except ValueError:
        return
    assert plain(text) == known
    assert type(plain(text)) is type(known)


@given(st.text(max_size=60))
def test_any_text_can_be_taken_for_a_scalar(text: str) -> None:
    """None makes it fail, and quotes never make a text longer than it is written."""
    assert plain(text) is None or isinstance(plain(text), (str, int))
    assert len(single_quoted(text)) <= len(text)
    assert len(double_quoted(text) or "") <= len(text)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_what_was_escaped_is_read_back(text: str) -> None:
    """Each letter by its number in eight digits gives the text again."""
    assert double_quoted("".join(f"\\U{ord(letter):08x}" for letter in text)) == text


def test_an_escape_beyond_the_last_letter_is_refused() -> None:
    """The last one that there is can be read."""
    assert double_quoted("\\U0010ffff") == "\U0010ffff"
    assert double_quoted("\\U00110000") is None


def test_an_escaped_break_joins_lines() -> None:
    """Empty lines after it stay; a break without a sign is a blank."""
    assert double_quoted("a\\\n  b") == "ab"
    assert double_quoted("a\\\n\n  b") == "a\nb"
    assert double_quoted("a\n  b") == "a b"


def test_one_break_is_a_blank_and_more_are_one_less() -> None:
    """Blanks around a break go with it, and two quotes are one."""
    assert folded("a \n\t b\n\n\nc") == "a b\n\nc"
    assert single_quoted("it''s\nso") == "it's so"


@pytest.mark.parametrize("head", ["", "a", "|x", "|0", "|+-", "|#x"])
def test_what_is_no_head_of_a_block_is_told(head: str) -> None:
    """Nothing is read below it."""
    assert block(f"{head}\n  x\n", 0, 0) is None


BLOCKS = {
    "lines": ("|\n  a\n  b\nc: d", 0, "a\nb"),
    "folded lines": (">-\n  a\n  b\n\n  c\n", 0, "a b\n\nc"),
    "an indent that is told": ("|+2 # x\n   a\n", 0, " a"),
    "a sign after the indent": ("|2-\n   a\n", 0, " a"),
    "blank lines first": ("|\n\n  a\n", 0, "\na"),
    "the end of a text": ("|\n  a", 0, "a"),
    "nothing": ("|", 0, ""),
    "the top": ("|\n a\n", -1, "a"),
}


@pytest.mark.parametrize(("text", "parent", "value"), BLOCKS.values(), ids=BLOCKS.keys())
def test_a_block_holds_the_lines_that_are_indented(text: str, parent: int, value: str) -> None:
    """It ends before the first line that is not, with the break that belongs to that."""
    read = block(text, 0, parent)
    assert read is not None
    assert read[0] == value
    assert text[read[1] :] in {"", "\nc: d"}


@given(st.sampled_from(["|", ">", "|2", ">-"]), st.text(alphabet="ab \n\t", max_size=40), st.integers(-1, 4))
def test_a_block_ends_within_its_text(head: str, lines: str, parent: int) -> None:
    """Whatever follows its head, it goes forward and holds no more than is there."""
    text = f"{head}\n{lines}"
    read = block(text, 0, parent)
    assert read is not None
    assert len(head) <= read[1] <= len(text)
    assert len(read[0]) <= len(lines)
