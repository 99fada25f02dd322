"""Token buckets."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.limits.bucket import Buckets


def test_burst_passes_and_the_next_waits_for_a_token() -> None:
    """A full bucket holds as many tokens as its burst; then one comes every 1/rate seconds."""
    buckets = Buckets()
    assert [buckets.take("a", 2.0, 3.0, 0.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("a", 2.0, 3.0, 0.5) == 0.0


def test_refused_attempt_costs_nothing() -> None:
    """Asking again and again does not make the wait longer."""
    buckets = Buckets()
    buckets.take("a", 1.0, 1.0, 0.0)
    assert [buckets.take("a", 1.0, 1.0, 0.5) for _ in range(3)] == [0.5, 0.5, 0.5]


def test_buckets_are_apart() -> None:
    """One caller's requests do not use up another's tokens."""
    buckets = Buckets()
    assert buckets.take("a", 1.0, 1.0, 0.0) == 0.0
    assert buckets.take("b", 1.0, 1.0, 0.0) == 0.0


def test_clock_that_goes_backwards_adds_no_tokens() -> None:
    """Time that seems negative is no time."""
    buckets = Buckets()
    buckets.take("a", 1.0, 1.0, 100.0)
    assert buckets.take("a", 1.0, 1.0, 0.0) == 1.0
    assert buckets.take("a", 1.0, 1.0, 100.5) == 0.5


def test_new_limits_apply_to_a_known_bucket() -> None:
    """After a reload the smaller burst counts at once."""
    buckets = Buckets()
    buckets.take("a", 1.0, 100.0, 0.0)
    assert [buckets.take("a", 1.0, 2.0, 0.0) for _ in range(3)] == [0.0, 0.0, 1.0]


def test_newcomers_share_a_bucket_when_the_table_is_full() -> None:
    """Ever new addresses do not get ever new bursts, and full buckets make room again."""
    buckets = Buckets(limit=2)
    for name in ("a", "b", "c"):
        assert buckets.take(name, 1.0, 1.0, 0.0) == 0.0
    assert buckets.take("d", 1.0, 1.0, 0.0) == 1.0
    assert len(buckets) == 2
    assert buckets.take("d", 1.0, 1.0, 5.0) == 0.0
    assert len(buckets) == 2


@pytest.mark.parametrize(
    ("rate", "burst"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.5), (float("nan"), 1.0), (1.0, float("nan"))]
)
def test_bucket_that_could_never_be_used_is_refused(rate: float, burst: float) -> None:
    """A rate that is not positive, or a burst below one, is a mistake and not an absence of limits."""
    with pytest.raises(ValueError, match="bucket"):
        Buckets().take("a", rate, burst, 0.0)


RATES = st.floats(0.001, 1000.0)


@given(
    rate=RATES,
    burst=st.floats(1.0, 50.0),
    gaps=st.lists(st.floats(0.0, 5.0), max_size=60),
    start=st.floats(0.0, 1e6),
)
def test_no_more_than_burst_and_rate_allow(
    rate: float, burst: float, gaps: list[float], start: float
) -> None:
    """Over any span of time at most burst + rate x time requests pass."""
    buckets = Buckets()
    now, passed = start, 0
    for gap in gaps:
        now += gap
        passed += buckets.take("a", rate, burst, now) == 0.0
        assert passed <= burst + rate * (now - start) + 0.01


@given(rate=RATES, burst=st.floats(1.0, 5.0), start=st.floats(0.0, 1e6))
def test_waiting_as_long_as_told_is_enough(rate: float, burst: float, start: float) -> None:
    """A caller who honours the wait is not turned away again."""
    buckets = Buckets()
    now = start
    for _ in range(12):
        wait = buckets.take("a", rate, burst, now)
        if wait:
            now += wait
            assert buckets.take("a", rate, burst, now) == 0.0
