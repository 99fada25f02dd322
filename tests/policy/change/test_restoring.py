"""Masked values are put back where they were shown, and nowhere else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.change.restoring import restored

MASK, OTHER = "[password:7f3a91c2]", "[api_key:0badcafe]"
HELD: dict[str, Any] = {
    "model": {"key": "s3cret", "url": "https://a.example.com"},
    "plain": "x",
    "ends": [{"name": "one", "key": "s3cret"}, {"name": "two", "key": "0ther"}],
    "args": ["--token", "s3cret"],
}
SHOWN: dict[str, Any] = {
    "model": {"key": MASK, "url": "https://a.example.com"},
    "plain": "x",
    "ends": [{"name": "one", "key": MASK}, {"name": "two", "key": OTHER}],
    "args": ["--token", MASK],
}


def test_a_page_that_is_saved_as_it_came_is_as_it_was() -> None:
    """Nothing of it is masked any more."""
    assert restored(SHOWN, SHOWN, HELD).value == HELD


def test_what_was_edited_beside_a_masked_value_stays_edited() -> None:
    """And the masked value is put back all the same; the place is told."""
    model = {"key": MASK, "url": "https://b.example.com"}
    found = restored({"model": model, "plain": "y"}, SHOWN, HELD)
    assert found.value == {"model": {"key": "s3cret", "url": "https://b.example.com"}, "plain": "y"}
    assert found.places == ("/model/key",)


def test_items_may_move_within_their_list() -> None:
    """Taking the first one out does not lose the secret of the second."""
    found = restored({"ends": [SHOWN["ends"][1]]}, SHOWN, HELD)
    assert found.value == {"ends": [HELD["ends"][1]]}


@pytest.mark.parametrize(
    "new",
    [
        {"stolen": MASK},
        {"plain": MASK},
        {"model": {"url": MASK}},
        {"model": {"key": f"{MASK}x"}},
        {"model": {"key": f" {MASK}"}},
        {"model": {"key": OTHER}},
        {"model": MASK},
        {"model": {"key": [MASK]}},
        {"ends": {"0": {"key": MASK}}},
        {"ends": [{"name": "three", "key": OTHER}]},
        {"mcp_servers": {"x": {"url": "https://evil.example.com", "headers": {"k": MASK}}}},
        [MASK],
        MASK,
    ],
)
def test_a_secret_does_not_travel(new: Any) -> None:
    """What was shown at one place is put back at no other."""
    found = restored(new, SHOWN, HELD)
    assert found.value == new
    assert found.places == ()
    assert "s3cret" not in repr(found)


PLAIN = st.recursive(
    st.none() | st.text("ab", max_size=2) | st.just(MASK),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["model", "key", "ends", "args"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_where_nothing_was_masked_nothing_is_put_back(value: Any) -> None:
    """A literal placeholder in the upstream's own file stays one."""
    assert restored(value, SHOWN, SHOWN) == (value, ())


def secrets(value: Any, place: str = "") -> set[str]:
    if isinstance(value, dict):
        return {found for name, child in value.items() for found in secrets(child, f"{place}/{name}")}
    if isinstance(value, list):
        return {found for child in value for found in secrets(child, f"{place}/*")}
    return {place} if value in {"s3cret", "0ther"} else set()


@given(PLAIN)
def test_secrets_only_stand_where_they_are_held(value: Any) -> None:
    """Whatever is written; items of one list are one place."""
    assert secrets(restored(value, SHOWN, HELD).value) <= secrets(HELD)
