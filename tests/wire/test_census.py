"""Counting connections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.wire.census import Census


def test_the_cap_in_all_counts_everybody() -> None:
    """Addresses do not matter to it; zero means no cap."""
    census = Census(2, 0)
    first = census.admit("192.0.2.1")
    assert first is not None
    assert census.admit("192.0.2.1") is not None
    assert census.admit("192.0.2.2") is None
    census.leave(first)
    assert census.admit("192.0.2.2") is not None
    assert all(Census(0, 0).admit("192.0.2.1") is not None for _ in range(3))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%lo", "fe80::2%eth0", True),
        ("", "", False),
    ],
)
def test_who_counts_as_one_address(first: str, second: str, same: bool) -> None:
    """A subscriber owns a whole /64; a mapped address is the IPv4 one; unix peers have none."""
    census = Census(0, 1)
    assert census.admit(first) is not None
    assert (census.admit(second) is None) is same


@given(st.lists(st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1", ""]), max_size=30))
def test_nothing_is_left_when_all_have_left(addresses: list[str]) -> None:
    """The table of addresses does not grow with the addresses ever seen."""
    census = Census(20, 5)
    keys = [key for key in map(census.admit, addresses) if key is not None]
    assert census.connections == len(keys) <= 20
    for key in keys:
        census.leave(key)
    assert census.connections == 0
    assert not census._by_address


def test_caps_can_change_while_connections_are_counted() -> None:
    """Lower caps send nobody away who is in; they say who else may come."""
    census = Census(0, 0)
    keys = [census.admit("192.0.2.1") for _ in range(3)]
    census.cap(4, 3)
    assert census.admit("192.0.2.1") is None
    assert census.admit("192.0.2.2") is not None
    census.cap(2, 0)
    assert census.connections == 4
    assert census.admit("192.0.2.3") is None
    census.cap(0, 0)
    assert None not in [*keys, census.admit("192.0.2.1")]
