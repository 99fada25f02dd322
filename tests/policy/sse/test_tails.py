"""Strings at the same place of consecutive events."""

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.sse.tails import MAX_PLACES, Tails
from support.redactor import GITHUB, redactor


def test_the_rest_of_a_secret_is_told_wherever_it_was_cut() -> None:
    """The whole token is a secret, so what is left of it is not shown."""
    for cut in range(1, len(GITHUB)):
        tails = Tails(redactor())
        assert tails.carried("n", "/a", "key " + GITHUB[:cut]) == 0
        assert tails.carried("n", "/a", GITHUB[cut:] + " done") == len(GITHUB) - cut


def test_a_secret_over_many_events_is_followed() -> None:
    """A word without a break goes on through as many events as it likes."""
    tails = Tails(redactor())
    shown = "".join(part for part in GITHUB if not tails.carried("n", "/a", part))
    assert GITHUB not in shown
    assert len(shown) < len(GITHUB) - 4


def test_places_are_texts_of_their_own() -> None:
    """Another member, or another kind of event, continues nothing."""
    for other in (("n", "/b"), ("m", "/a")):
        tails = Tails(redactor())
        tails.carried("n", "/a", GITHUB[:20])
        assert tails.carried(*other, GITHUB[20:]) == 0


def test_a_break_ends_a_word() -> None:
    """What is shown with a blank between is no token."""
    tails = Tails(redactor())
    tails.carried("n", "/a", GITHUB[:20] + " ")
    assert tails.carried("n", "/a", GITHUB[20:]) == 0
    tails.carried("n", "/a", GITHUB[:20])
    assert tails.carried("n", "/a", "\n" + GITHUB[20:]) == 0


def test_the_same_value_again_is_no_continuation() -> None:
    """Ids and names of models stand in every event."""
    tails = Tails(redactor())
    assert not any(tails.carried("n", "/id", "ghp_F4keK3yF0rT3st") for _ in range(5))


def test_places_are_bounded() -> None:
    """A stream that names every member anew is not remembered for ever."""
    tails = Tails(redactor())
    for number in range(MAX_PLACES + 5):
        tails.carried("n", f"/{number}", "word")
    assert len(tails._last) == MAX_PLACES


@given(st.lists(st.text(max_size=30), max_size=6))
def test_no_more_is_carried_than_there_is(values: list[str]) -> None:
    """Whatever the strings are."""
    tails = Tails(redactor())
    for value in values:
        assert 0 <= tails.carried("n", "", value) <= len(value)
