"""A value that cannot be printed by accident."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.secret import Secret

VALUE = b"fake-secret-value-0001"


def test_no_way_of_showing_shows_it() -> None:
    """`repr`, `str`, formatting and a containing value keep it to themselves."""
    secret = Secret(VALUE)
    for shown in (repr(secret), str(secret), f"{secret}", f"{secret!r}", f"{[secret]}", f"{(secret,)!s}"):
        assert VALUE.decode() not in shown
        assert "***" in shown


def test_it_is_not_pickled() -> None:
    """A secret does not leave the process inside something else."""
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps({"key": Secret(VALUE)})


@given(st.binary(), st.binary())
def test_it_matches_itself_and_nothing_else(one: bytes, other: bytes) -> None:
    """Comparison is that of the bytes, whatever their lengths."""
    assert Secret(one).matches(other) == (one == other)
    assert (Secret(one) == Secret(other)) == (one == other)
    assert one != other or hash(Secret(one)) == hash(Secret(other))


def test_it_is_no_plain_value() -> None:
    """Comparing with bytes by mistake is never true."""
    assert Secret(VALUE) != VALUE
    assert Secret(VALUE).reveal() == VALUE
