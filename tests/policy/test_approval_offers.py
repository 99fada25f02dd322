"""Which answers an approval prompt offered."""

import hypothesis.strategies as st
from hypothesis import given

from herma.policy.approval_offers import (
    MAX_CHOICE_CHARS,
    MAX_CHOICES,
    MAX_OFFER_AGE_S,
    MAX_RUN_ID_CHARS,
    ApprovalOffers,
)


def test_offered_choices_are_known_until_the_prompt_is_answered() -> None:
    """An answer is compared with what its prompt offered, once."""
    offers = ApprovalOffers()
    assert offers.offered("r", 0.0) is None
    offers.offer("r", ("once", "deny"), 0.0)
    assert offers.offered("r", 1.0) == ("once", "deny")
    offers.withdraw("r")
    assert offers.offered("r", 1.0) is None
    offers.withdraw("r")


def test_while_several_prompts_wait_only_what_all_offered_counts() -> None:
    """An answer may reach another prompt than the one it was meant for."""
    offers = ApprovalOffers()
    offers.offer("r", ("once", "session", "always", "deny"), 0.0)
    offers.offer("r", ("once", "deny"), 0.0)
    assert offers.offered("r", 0.0) == ("once", "deny")
    offers.withdraw("r")
    assert offers.offered("r", 0.0) == ("once", "deny")
    offers.withdraw("r")
    assert offers.offered("r", 0.0) is None


def test_end_of_the_run_withdraws_every_prompt() -> None:
    """Nothing of a run can be answered after its end."""
    offers = ApprovalOffers()
    for _ in range(3):
        offers.offer("r", ("once",), 0.0)
    offers.withdraw("r", every=True)
    assert offers.offered("r", 0.0) is None


def test_prompt_that_was_never_answered_is_forgotten() -> None:
    """Upstream gives up on a prompt without saying so; a later one is not judged by it."""
    offers = ApprovalOffers()
    offers.offer("r", ("once", "deny"), 0.0)
    assert offers.offered("r", MAX_OFFER_AGE_S) is not None
    offers.offer("r", ("once", "always", "deny"), MAX_OFFER_AGE_S + 1)
    assert offers.offered("r", MAX_OFFER_AGE_S + 1) == ("once", "always", "deny")
    assert offers.offered("r", 2 * MAX_OFFER_AGE_S + 2) is None
    assert len(offers) == 0


def test_what_is_too_much_to_remember_is_not_offered() -> None:
    """A hostile prompt costs bounded memory, and what was cut off cannot be chosen."""
    offers = ApprovalOffers()
    offers.offer("r", ("x" * (MAX_CHOICE_CHARS + 1), *(str(number) for number in range(100))), 0.0)
    assert offers.offered("r", 0.0) == tuple(str(number) for number in range(MAX_CHOICES))
    offers.offer("r" * (MAX_RUN_ID_CHARS + 1), ("once",), 0.0)
    assert len(offers) == 1


@given(st.lists(st.sampled_from("abcdefgh"), max_size=40))
def test_table_is_bounded_and_the_last_offer_is_known(run_ids: list[str]) -> None:
    """However many runs ask, memory is bounded and the youngest prompt can be answered."""
    offers = ApprovalOffers(limit=3)
    for run_id in run_ids:
        offers.offer(run_id, ("once",), 0.0)
        assert len(offers) <= 3
        assert offers.offered(run_id, 0.0) == ("once",)
