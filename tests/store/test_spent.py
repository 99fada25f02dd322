"""Tokens that were used, in the memory of one process."""

from herma.policy.token.spent import MAX_SPENT
from herma.store import MemorySpent, Once, Spending
from support.tokens import NOW


async def test_a_memory_begins_when_it_is_made() -> None:
    """What was issued before may have been used before."""
    spent = MemorySpent(lambda: NOW)
    assert await spent.spend(Once("a", NOW - 1, NOW + 300)) is Spending.OUTDATED
    assert await spent.spend(Once("a", NOW + 31, NOW + 300)) is Spending.FIRST
    assert await spent.spend(Once("a", NOW + 31, NOW + 300)) is Spending.AGAIN
    await spent.close()


async def test_a_full_memory_says_so() -> None:
    """And forgets nothing."""
    spent = MemorySpent(lambda: NOW, since=0)
    for number in range(MAX_SPENT):
        assert await spent.spend(Once(str(number), NOW, NOW + 300)) is Spending.FIRST
    assert await spent.spend(Once("new", NOW, NOW + 300)) is Spending.FULL
    assert await spent.spend(Once("0", NOW, NOW + 300)) is Spending.AGAIN
