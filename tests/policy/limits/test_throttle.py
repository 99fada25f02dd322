"""Failed authentication slows the next attempt."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.limits.throttle import (
    ACCOUNT_MAX_DELAY_S,
    GLOBAL_BURST,
    HOME_FOR_S,
    KNOWN_FOR_S,
    Throttle,
    ThrottleLimits,
    address_group,
    login_subjects,
    subjects,
)

LIMITS = ThrottleLimits(free_attempts=3, base_delay_s=1.0, max_delay_s=8.0, forget_s=100.0)
HERE = ("address:192.0.2.1",)
THERE = ("address:192.0.2.2",)


def failing(throttle: Throttle, of: tuple[str, ...], times: int, now: float = 0.0) -> float:
    """Fail so often, waiting each time as long as told; return when the next attempt is free."""
    for _ in range(times):
        now += throttle.blocked(of, now)
        throttle.failed(of, now)
    return now


def test_first_failures_are_free_and_then_each_doubles_the_wait() -> None:
    """People mistype; machines guess."""
    throttle = Throttle(LIMITS)
    waits = []
    now = 0.0
    for _ in range(8):
        waits.append(throttle.failed(HERE, now))
        now += waits[-1]
    assert waits == [0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_no_free_attempts_means_the_first_failure_waits() -> None:
    """Zero free attempts is a setting, not the absence of one."""
    assert Throttle(ThrottleLimits(free_attempts=0)).failed(HERE, 0.0) == 1.0


def test_other_addresses_are_not_blocked() -> None:
    """An attacker slows himself, not his neighbours."""
    throttle = Throttle(LIMITS)
    now = failing(throttle, HERE, 6)
    assert throttle.blocked(HERE, now) > 0
    assert throttle.blocked(THERE, now) == 0.0


@pytest.mark.parametrize("succeeds_at", [HERE, THERE], ids=["same address", "other address"])
def test_success_forgives_no_failure(succeeds_at: tuple[str, ...]) -> None:
    """Guessing cannot be kept free by using one valid key in between."""
    throttle = Throttle(LIMITS)
    now = failing(throttle, HERE, 6)
    before = throttle.blocked(HERE, now)
    throttle.succeeded(succeeds_at, now)
    assert throttle.blocked(HERE, now) == before
    assert throttle.failed(HERE, now + before) == 8.0


def test_quiet_time_forgives_one_failure_after_another() -> None:
    """The wait grows less after a quiet time, and the record vanishes after a long one."""
    throttle = Throttle(LIMITS)
    now = failing(throttle, HERE, 6)
    end = now + throttle.blocked(HERE, now)
    assert throttle.failed(HERE, end + 250.0) == 2.0
    assert throttle.failed(HERE, end + 10_000.0) == 0.0


def test_long_attack_is_forgotten_as_soon_as_a_short_one_that_reached_the_longest_wait() -> None:
    """Who shares an address with an attacker is not punished for months."""
    short, long = Throttle(LIMITS), Throttle(LIMITS)
    end_short, end_long = failing(short, HERE, 7) + 8.0, failing(long, HERE, 500) + 8.0
    assert short.failed(HERE, end_short + 350.0) == long.failed(HERE, end_long + 350.0) == 2.0


def test_key_name_is_throttled_wherever_it_is_used() -> None:
    """A stolen key that is tried from wrong networks is slowed by its name."""
    throttle = Throttle(LIMITS)
    for number in range(5):
        throttle.failed((f"address:192.0.2.{number}", "key:ci"), 0.0)
    assert throttle.blocked(("address:192.0.2.99", "key:ci"), 0.0) > 0
    throttle.succeeded(("address:192.0.2.99", "key:ci", "all"), 0.0)
    assert throttle.blocked(("address:192.0.2.99", "key:ci"), 0.0) > 0


def test_guessing_from_very_many_addresses_is_slowed_by_the_common_budget() -> None:
    """A botnet whose addresses each fail once is still stopped."""
    throttle = Throttle(LIMITS)
    for number in range(int(GLOBAL_BURST)):
        assert throttle.blocked(subjects(f"198.51.100.{number}"), 0.0) == 0.0
        throttle.failed(subjects(f"198.51.100.{number}"), 0.0)
    assert throttle.blocked(subjects("203.0.113.1"), 0.0) == 1.0
    assert throttle.blocked(subjects("203.0.113.1"), 1.0) == 0.0


def test_common_budget_does_not_lock_out_those_who_were_there_before() -> None:
    """An address that has authenticated lately is held to its own failures only."""
    throttle = Throttle(LIMITS)
    throttle.succeeded(subjects("203.0.113.1"), 0.0)
    for _ in range(100):
        throttle.failed(("all",), 0.0)
    assert throttle.blocked(subjects("203.0.113.1"), 0.0) == 0.0
    assert throttle.blocked(subjects("203.0.113.2"), 0.0) > 0
    failing(throttle, ("address:203.0.113.1",), 5)
    assert throttle.blocked(subjects("203.0.113.1"), 1.0) > 0


def test_known_address_is_forgotten_after_a_day() -> None:
    """Having been there once is no licence for ever."""
    throttle = Throttle(LIMITS)
    throttle.succeeded(subjects("203.0.113.1"), 0.0)
    for _ in range(100):
        throttle.failed(("all",), KNOWN_FOR_S)
    assert throttle.blocked(subjects("203.0.113.1"), KNOWN_FOR_S) > 0


def test_guessing_at_one_account_from_many_addresses_is_slowed() -> None:
    """Each address has its free attempts; the account has them once."""
    throttle = Throttle(LIMITS)
    for number in range(4):
        throttle.failed(login_subjects(f"192.0.2.{number}", "alice"), 0.0)
    assert throttle.blocked(login_subjects("192.0.2.99", "alice"), 0.0) == 1.0
    assert throttle.blocked(login_subjects("192.0.2.99", "bob"), 0.0) == 0.0


def test_an_account_waits_a_minute_at_most() -> None:
    """However often others fail at it, its owner gets a try."""
    throttle = Throttle(ThrottleLimits(free_attempts=0, base_delay_s=600.0, max_delay_s=900.0))
    for number in range(20):
        throttle.failed(login_subjects(f"192.0.2.{number}", "alice"), 0.0)
    assert throttle.blocked(login_subjects("192.0.2.99", "alice"), 0.0) == ACCOUNT_MAX_DELAY_S
    assert throttle.blocked(login_subjects("192.0.2.1", "bob"), 0.0) == 600.0


def test_where_an_account_has_logged_in_others_do_not_lock_it_out() -> None:
    """For a month, for that account and that address only."""
    throttle = Throttle(ThrottleLimits(free_attempts=0, base_delay_s=5.0))
    throttle.succeeded(login_subjects("192.0.2.1", "alice"), 0.0)
    for number in range(10, 20):
        throttle.failed(login_subjects(f"192.0.2.{number}", "alice"), 0.0)
        throttle.failed(login_subjects(f"192.0.2.{number}", "bob"), 0.0)
    assert throttle.blocked(login_subjects("192.0.2.1", "alice"), 0.0) == 0.0
    assert throttle.blocked(login_subjects("192.0.2.1", "bob"), 0.0) > 0
    assert throttle.blocked(login_subjects("192.0.2.2", "alice"), 0.0) > 0
    later = HOME_FOR_S + 1.0
    throttle.failed(login_subjects("192.0.2.20", "alice"), later)
    assert throttle.blocked(login_subjects("192.0.2.1", "alice"), later) > 0


def test_an_address_that_fails_is_slowed_though_it_has_logged_in() -> None:
    """What is waived is the account's wait, not the address's own."""
    throttle = Throttle(LIMITS)
    here = login_subjects("192.0.2.1", "alice")
    throttle.succeeded(here, 0.0)
    for _ in range(4):
        throttle.failed(here, 0.0)
    assert throttle.blocked(here, 0.0) == 1.0


def test_what_was_typed_as_a_name_is_not_kept() -> None:
    """It may be a password; and it may be any text."""
    for name in ("hunter2", "\ud800", "x" * 10_000):
        of = login_subjects("192.0.2.1", name)
        assert not any(name in subject for subject in of)
        assert max(map(len, of)) < 64


def test_nobody_to_ask_about_is_not_blocked() -> None:
    """No subject, no wait."""
    assert Throttle().blocked((), 0.0) == 0.0


def test_tables_are_bounded_and_the_unknown_share_a_record_when_crowded() -> None:
    """Ever new addresses do not push out the record of the one that guesses."""
    throttle = Throttle(LIMITS, max_subjects=10)
    now = failing(throttle, HERE, 6)
    for number in range(100):
        throttle.failed((f"address:198.51.100.{number}",), now)
        throttle.succeeded((f"address:203.0.113.{number}",), now)
    assert len(throttle) == 10
    assert len(throttle._known) == 10
    assert throttle.blocked(HERE, now) > 0
    assert throttle.blocked(("address:203.0.113.200",), now) > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"free_attempts": -1},
        {"base_delay_s": 0.0},
        {"base_delay_s": 9.0, "max_delay_s": 8.0},
        {"forget_s": 0.0},
    ],
)
def test_limits_that_would_not_slow_anybody_are_refused(wrong: dict[str, float]) -> None:
    """A delay that is not positive is a mistake."""
    with pytest.raises(ValueError, match="delays"):
        ThrottleLimits(**wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "other"),
        ("no address", "other"),
    ],
)
def test_address_stands_for_its_caller(address: str, group: str) -> None:
    """Who owns a whole IPv6 network is one caller, and IPv4 has one spelling."""
    assert address_group(address) == group


def test_subjects_of_an_attempt() -> None:
    """A failure is charged to the address, to the key if it is known, and to all."""
    assert subjects("192.0.2.1") == ("address:192.0.2.1", "all")
    assert subjects("192.0.2.1", "ci") == ("address:192.0.2.1", "key:ci", "all")


@given(
    events=st.lists(st.tuples(st.sampled_from(["fail", "succeed"]), st.floats(0.0, 50.0)), max_size=60),
    later=st.floats(0.0, 100.0),
)
def test_wait_never_shrinks_but_by_time(events: list[tuple[str, float]], later: float) -> None:
    """A failure never shortens a wait, a success leaves it, and time shortens it by no more than has passed."""
    throttle = Throttle(LIMITS)
    now = 0.0
    for what, gap in events:
        now += gap
        before = throttle.blocked(HERE, now)
        if what == "fail":
            after = throttle.failed(HERE, now)
            assert after >= before
        else:
            throttle.succeeded(HERE, now)
            assert throttle.blocked(HERE, now) == before
        wait = throttle.blocked(HERE, now)
        assert 0.0 <= wait <= LIMITS.max_delay_s
        assert throttle.blocked(HERE, now + later) == pytest.approx(max(0.0, wait - later), abs=1e-6)
