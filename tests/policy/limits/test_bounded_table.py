"""A table that never forgets early and never grows."""

import hypothesis.strategies as st
from hypothesis import given

from herma.policy.limits.bounded_table import BoundedTable


def table(limit: int) -> BoundedTable[float]:
    """A table of times until which a value is needed."""
    return BoundedTable(limit, lambda until, now: until <= now)


def test_value_is_found_under_its_name_only() -> None:
    """While there is room every name has a place of its own."""
    values = table(2)
    values.put("a", 5.0, 0.0)
    assert values.get("a", 0.0) == 5.0
    assert values.get("b", 0.0) is None


def test_needed_value_is_not_pushed_out() -> None:
    """Newcomers share a place when all others are needed, and everybody unknown is judged by it."""
    values = table(2)
    for name in "abcd":
        values.put(name, 10.0, 0.0)
    assert len(values) == 2
    assert values.get("a", 0.0) == 10.0
    assert values.get("never seen", 0.0) == 10.0


def test_idle_value_makes_room() -> None:
    """What is not needed any more is forgotten for a newcomer."""
    values = table(2)
    values.put("old", 1.0, 0.0)
    values.put("needed", 10.0, 0.0)
    values.put("new", 10.0, 2.0)
    assert [values.get(name, 2.0) for name in ("old", "needed", "new")] == [None, 10.0, 10.0]


def test_idle_value_is_found_behind_many_needed_ones() -> None:
    """One look is short, but the looks of several newcomers together reach every value."""
    values = table(40)
    for number in range(40):
        values.put(str(number), 1.0 if number == 35 else 100.0, 0.0)
    for _ in range(3):
        values.put("new", 100.0, 2.0)
        values._shared = None  # as if the shared place had fallen idle
    assert values.get("35", 2.0) is None
    assert values.get("new", 2.0) == 100.0


def test_shared_place_is_left_when_it_is_idle() -> None:
    """The crowd's record does not outlive its reason."""
    values = table(1)
    values.put("a", 10.0, 0.0)
    values.put("b", 5.0, 0.0)
    assert values.get("b", 4.0) == 5.0
    assert values.get("b", 5.0) is None


def test_newcomer_stays_with_the_crowd_while_the_shared_place_is_needed() -> None:
    """Room that appears is no way out of a record that still counts."""
    values = table(1)
    values.put("a", 1.0, 0.0)
    values.put("b", 9.0, 0.0)
    values.put("b", 9.5, 2.0)
    assert values.get("c", 2.0) == 9.5


@given(
    limit=st.integers(1, 20),
    puts=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=120),
)
def test_size_is_bounded_and_no_needed_value_is_ever_lost(limit: int, puts: list[tuple[int, int]]) -> None:
    """Whatever is put, the table stays small and each name is judged at least as long as it has to be."""
    values = table(limit)
    needed: dict[str, float] = {}
    for now, (name, lasts) in enumerate(puts):
        known = values.get(str(name), now)
        until = max(known or 0.0, float(now + lasts))
        values.put(str(name), until, now)
        needed[str(name)] = until
        assert len(values) <= limit
        for other, end in needed.items():
            if end > now:
                assert (values.get(other, now) or 0.0) >= end
