"""The way back from a view."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.places import BLOCK_PARTS, Block, Places

PARTS = st.lists(st.sampled_from(["", "a", "\\x41", "bcd"]), min_size=1, max_size=9)
READ = st.lists(st.sampled_from(["", "a", "bc"]), min_size=1, max_size=9)


def whole(parts: list[str], read: list[str], far: list[int]) -> Block:
    """Draw the map in one piece."""
    at = list(accumulate(map(len, read), initial=0))
    start = list(accumulate(map(len, parts), initial=0))
    end = [start[n] if n in far else start[n + 1] for n in range(len(parts))]
    return Block(at, start[:-1], end)


@given(PARTS, READ, st.data())
def test_a_map_in_blocks_says_what_the_whole_map_says(
    parts: list[str], read: list[str], data: st.DataObject
) -> None:
    """Wherever the borders of the blocks are, and whatever they consist of."""
    # What repeats is longer than a block, and its border falls elsewhere each time.
    count = 2 * BLOCK_PARTS + data.draw(st.integers(1, 9))
    parts = (parts * count)[:count]
    read = (read * count)[:count]
    far = data.draw(st.lists(st.integers(0, count - 1), max_size=3))
    one, blocks = whole(parts, read, far), Places(parts, read, far)
    chars = sum(map(len, read))
    for _ in range(20):
        start = data.draw(st.integers(0, chars))
        end = data.draw(st.integers(start, chars))
        assert list(blocks.spans(start, end)) == list(one.spans(start, end))
        assert blocks.reach(start, end) == one.reach(start, end)


def test_only_what_is_asked_for_is_drawn() -> None:
    """A long map costs next to nothing until somebody looks for a place."""
    places = Places(["ab", "\\x41"] * 4 * BLOCK_PARTS, ["ab", "A"] * 4 * BLOCK_PARTS)
    assert places._drawn == {}
    assert places.reach(3, 4) == (6, 7)
    assert list(places._drawn) == [0]
