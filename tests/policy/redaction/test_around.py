"""What stands around masks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.around import REACH_CHARS, around, placed


def test_places_move_with_what_was_replaced_before_them() -> None:
    """A placeholder may be longer or shorter than what it stands for, or empty."""
    text, edits = "aa bbbb c ddd", [(0, 2, "[x]"), (3, 7, "[y]"), (8, 9, ""), (10, 13, "[zzz]")]
    written = "[x] [y]  [zzz]"
    assert [written[start:end] for start, end in placed(edits)] == ["[x]", "[y]", "", "[zzz]"]
    assert text[3:7] == "bbbb"


def test_a_short_text_is_taken_whole() -> None:
    """Most of it is around the mask."""
    text = "x" * 100 + "\n" + "y" * 100
    assert around(text, [(10, 20)]) == [(0, len(text))]


def test_the_lines_of_a_mask_are_taken_whole() -> None:
    """What may tell of a value stands on its lines, or a few hundred characters before."""
    lines = [f"line {number} of many words\n" for number in range(2000)]
    text = "".join(lines)
    at = text.index("line 900")
    ((start, end),) = around(text, [(at, at + 4)])
    assert start < at - REACH_CHARS
    assert end > at + REACH_CHARS
    assert text[start - 1] == text[end - 1] == "\n"


def test_near_masks_share_a_part_and_far_ones_do_not() -> None:
    """No character is looked at twice."""
    text = "a few words\n" * 10_000
    parts = around(text, [(10_000, 10_010), (10_050, 10_060), (10_900, 10_910), (60_000, 60_010)])
    assert [start // 1000 for start, _ in parts] == [9, 59]
    assert parts[0][1] > 10_910 + REACH_CHARS


def test_a_part_does_not_begin_in_a_word() -> None:
    """In one very long line, what is cut off in front would be another word; a word without end is cut."""
    text = "word " * 20_000
    ((start, _),) = around(text, [(50_001, 50_010)])
    assert text[start - 1 : start + 4] == " word" or text[start : start + 5] == " word"
    ((start, _),) = around("a" * 100_000, [(50_000, 50_010)])
    assert 40_000 < start < 50_000


@given(
    st.lists(st.integers(min_value=0, max_value=99_990), max_size=20), st.sampled_from(["a", "ab ", "abc\n"])
)
def test_every_mask_lies_in_a_part(starts: list[int], unit: str) -> None:
    """Parts are in order and apart, and around each mask is text to both sides."""
    text = unit * (100_000 // len(unit))
    chars = len(text)
    places = [(start, min(chars, start + 8)) for start in sorted(starts) if start < chars]
    parts = around(text, places)
    assert all(left[1] < right[0] for left, right in pairwise(parts))
    for start, end in places:
        assert any(
            first <= max(0, start - REACH_CHARS // 2) and last >= min(chars, end + REACH_CHARS)
            for first, last in parts
        )
