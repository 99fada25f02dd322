"""Tokens that may be used once."""

import hypothesis.strategies as st
from hypothesis import given

from herma.policy.token.claims import LEEWAY_S
from herma.policy.token.spent import MARGIN_S, Once, Spending, SpentTokens, outdated
from support.tokens import NOW

BEGAN = NOW - 1000.0


def once(token_id: str = "a", *, issued: float = NOW, expires: float = NOW + 300) -> Once:
    return Once(token_id, issued, expires)


def test_a_token_is_used_once() -> None:
    """The second time is told from the first, another token is another."""
    spent = SpentTokens(BEGAN)
    assert [spent.spend(once(name), NOW) for name in "aabab"] == [
        Spending.FIRST,
        Spending.AGAIN,
        Spending.FIRST,
        Spending.AGAIN,
        Spending.AGAIN,
    ]


def test_a_use_is_remembered_until_nobody_takes_the_token_any_more() -> None:
    """Its end, the leeway after it, and what clocks differ by; then its place is free."""
    spent = SpentTokens(BEGAN)
    spent.spend(once(), NOW)
    last = NOW + 300 + LEEWAY_S + MARGIN_S
    assert once().until == last
    assert spent.spend(once(), last - 0.1) is Spending.AGAIN
    assert len(spent) == 1
    assert spent.spend(once("b"), last) is Spending.FIRST
    assert len(spent) == 1


def test_nothing_is_forgotten_for_want_of_room() -> None:
    """Newcomers are refused, and those that were used stay used."""
    spent = SpentTokens(BEGAN, limit=2)
    assert [spent.spend(once(name), NOW) for name in "abc"] == [Spending.FIRST, Spending.FIRST, Spending.FULL]
    assert [spent.spend(once(name), NOW) for name in "ab"] == [Spending.AGAIN, Spending.AGAIN]


def test_what_was_issued_before_the_memory_began_counts_as_used() -> None:
    """Its issuer's clock may be fast by the leeway, and it may have been used before."""
    spent = SpentTokens(float(NOW))
    for issued in (NOW - 10, NOW, NOW + LEEWAY_S):
        assert outdated(once(issued=issued), NOW)
        assert spent.spend(once(issued=issued), NOW) is Spending.OUTDATED
    assert not outdated(once(issued=NOW + LEEWAY_S + 1), NOW)
    assert spent.spend(once(issued=NOW + LEEWAY_S + 1), NOW + LEEWAY_S + 2) is Spending.FIRST


@given(uses=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 200)), max_size=30))
def test_no_token_is_taken_twice_while_it_lives(uses: list[tuple[str, int]]) -> None:
    """However uses and time go on, a token that is still taken was not used before."""
    spent, now, seen = SpentTokens(BEGAN, limit=3), float(NOW), set()
    for name, later in uses:
        now += later
        if now < NOW + 300 + LEEWAY_S and spent.spend(once(name), now) is Spending.FIRST:
            assert name not in seen
            seen.add(name)
