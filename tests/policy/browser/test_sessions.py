"""Sessions: how long they hold, and how many there are."""

import hypothesis.strategies as st
from hypothesis import given

from herma.policy.browser.sessions import LiveSession, SessionLimits, Sessions

LIMITS = SessionLimits(idle_s=100.0, lifetime_s=1000.0)


def live(
    sessions: Sessions, ident: str, now: float, limits: SessionLimits = LIMITS, *, touch: bool = True
) -> bool:
    return sessions.use(ident, limits, now, touch=touch) is not None


def test_a_session_tells_whose_it_is_and_how_long_it_holds() -> None:
    """Until it is used no more, or for its whole time."""
    sessions = Sessions()
    sessions.open("s", "alice", "b", LIMITS, 0.0)
    assert sessions.use("s", LIMITS, 40.0, touch=False) == LiveSession("alice", "b", 60.0)
    assert sessions.use("s", LIMITS, 40.0, touch=True) == LiveSession("alice", "b", 100.0)
    assert sessions.use("other", LIMITS, 40.0, touch=True) is None


def test_a_session_ends_without_use() -> None:
    """A look that is no use does not keep it."""
    sessions = Sessions()
    sessions.open("s", "alice", "b", LIMITS, 0.0)
    assert live(sessions, "s", 99.0, touch=False)
    assert not live(sessions, "s", 100.0)
    assert not live(sessions, "s", 50.0)
    assert len(sessions) == 0


def test_a_session_ends_after_its_time_however_it_is_used() -> None:
    """The absolute lifetime."""
    sessions = Sessions()
    sessions.open("s", "alice", "b", LIMITS, 0.0)
    assert all(live(sessions, "s", now) for now in range(0, 1000, 50))
    assert sessions.use("s", LIMITS, 990.0, touch=True) == LiveSession("alice", "b", 10.0)
    assert not live(sessions, "s", 1000.0)


def test_shorter_limits_hold_for_sessions_that_are_there() -> None:
    """A reload that tightens them does not wait for the next login."""
    sessions = Sessions()
    sessions.open("s", "alice", "b", LIMITS, 0.0)
    assert not live(sessions, "s", 60.0, SessionLimits(50.0, 1000.0))


def test_closing_ends_one_session_and_may_be_repeated() -> None:
    """The others of the same person go on."""
    sessions = Sessions()
    for ident in "ab":
        sessions.open(ident, "alice", "b", LIMITS, 0.0)
    sessions.close("a")
    sessions.close("a")
    assert not live(sessions, "a", 1.0)
    assert live(sessions, "b", 1.0)


def test_who_logs_in_once_too_often_ends_the_first() -> None:
    """However lately that was used; other people's stay."""
    sessions = Sessions(max_per_user=2)
    sessions.open("theirs", "bob", "b", LIMITS, 0.0)
    for ident in "abc":
        sessions.open(ident, "alice", "b", LIMITS, 1.0)
        live(sessions, "a", 1.0)
    assert [live(sessions, ident, 2.0) for ident in ("a", "b", "c", "theirs")] == [False, True, True, True]


def test_where_all_are_too_many_the_least_lately_used_ends() -> None:
    """Memory has a bound."""
    sessions = Sessions(max_sessions=2)
    sessions.open("a", "alice", "b", LIMITS, 0.0)
    sessions.open("b", "bob", "b", LIMITS, 1.0)
    live(sessions, "a", 2.0)
    sessions.open("c", "carol", "b", LIMITS, 3.0)
    assert [live(sessions, ident, 4.0) for ident in "abc"] == [True, False, True]


def test_what_is_over_makes_room_by_itself() -> None:
    """Sessions that nobody asks for again do not stay."""
    sessions = Sessions()
    for number in range(20):
        sessions.open(f"old{number}", f"u{number}", "b", LIMITS, 0.0)
    for number in range(4):
        sessions.open(f"new{number}", "alice", "b", LIMITS, 500.0)
    assert len(sessions) == 4


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ouc"), st.integers(0, 9), st.sampled_from(["alice", "bob"]), st.floats(0, 60)
        ),
        max_size=60,
    )
)
def test_bounds_hold_and_nothing_outlives_its_time(steps: list[tuple[str, int, str, float]]) -> None:
    """Whatever happens in which order."""
    sessions, now, opened = Sessions(max_sessions=5, max_per_user=3), 0.0, {}
    for serial, (step, number, user, passes) in enumerate(steps):
        now += passes
        if step == "o":
            sessions.open(f"{serial}", user, "b", LIMITS, now)
            opened[number] = (f"{serial}", user, now)
        elif number in opened:
            ident, whose, since = opened[number]
            if step == "c":
                sessions.close(ident)
                assert not live(sessions, ident, now)
            elif (found := sessions.use(ident, LIMITS, now, touch=True)) is not None:
                assert found.user == whose
                assert now < since + LIMITS.lifetime_s
        assert len(sessions) <= 5
        assert all(len(own) <= 3 for own in sessions._of.values())
        assert sum(map(len, sessions._of.values())) == len(sessions)
