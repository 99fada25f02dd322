"""Which turns hold a slot, and until when."""

import pytest

from herma.policy.limits.admission import MAX_LEASES, MAX_RUN_AGE_S
from herma.policy.socket.held_turns import FAILED_S, GRACE_S, SETTLE_S, UNSEEN_S, HeldTurns
from herma.policy.socket.turn_news import Fact


def turns(*, answered: bool = True, begun: bool = False) -> HeldTurns:
    """Return a table with one turn `s` of the connection `c`, at 0 s."""
    held = HeldTurns()
    held.take("s", "1", "c", 0.0)
    if answered:
        held.answered("s", 0.0, failed=False)
    if begun:
        held.told(Fact.BEGIN, "s", "c", 0.0)
    return held


def freed(held: HeldTurns, now: float) -> list[str]:
    """Return what is given back at a time."""
    return list(held.due(now))


def test_a_turn_has_its_slot_until_a_little_after_it_is_idle() -> None:
    """The next one of the session, which waited, goes on with it."""
    held = turns(begun=True)
    assert (len(held), held.holds("s"), held.busy("c"), held.busy("d")) == (1, True, True, False)
    held.told(Fact.IDLE, "s", "c", 5.0)
    assert freed(held, 5.0 + GRACE_S / 2) == []
    held.told(Fact.BEGIN, "s", "c", 5.0 + GRACE_S / 2)
    assert freed(held, 100.0) == []
    held.told(Fact.END, "s", "c", 100.0)
    assert freed(held, 100.0 + GRACE_S) == ["1"]
    assert freed(held, 200.0) == []
    assert not held.holds("s")


def test_after_its_text_the_agent_may_go_on() -> None:
    """It is asked whether the goal was reached; without a word of the end the slot comes back all the same."""
    held = turns(begun=True)
    held.told(Fact.DONE, "s", "c", 5.0)
    assert freed(held, 5.0 + SETTLE_S - 1) == []
    assert freed(held, 5.0 + SETTLE_S) == ["1"]


def test_a_call_that_fails_starts_nothing() -> None:
    """Its slot is free at once; a turn that runs already keeps its own."""
    held = turns(answered=False)
    held.answered("s", 1.0, failed=True)
    assert freed(held, 1.0) == ["1"]
    held = turns(begun=True)
    held.take("s", "", "c", 1.0)
    held.answered("s", 1.0, failed=True)
    assert freed(held, 1000.0) == []


def test_an_end_that_is_told_before_the_answer_may_be_the_end_of_the_turn_before() -> None:
    """The slot is kept a while, for the turn that the call started."""
    held = turns(begun=True)
    held.take("s", "", "c", 1.0)
    held.told(Fact.IDLE, "s", "c", 1.0)
    assert freed(held, 1.0 + GRACE_S) == []
    held.answered("s", 1.0, failed=False)
    assert freed(held, 1.0 + FAILED_S - 1) == []
    assert freed(held, 1.0 + FAILED_S) == ["1"]


def test_two_calls_for_one_turn_hold_one_slot() -> None:
    """A second one that was taken meanwhile is given back."""
    held = turns(answered=False)
    held.take("s", "2", "c", 0.0)
    held.answered("s", 0.0, failed=True)
    assert freed(held, 0.0) == ["2"]
    held.answered("s", 0.0, failed=True)
    assert freed(held, 0.0) == ["1"]


@pytest.mark.parametrize(("begun", "kept"), [(False, []), (True, ["1"])])
def test_a_turn_that_failed_before_it_began_is_over(begun: bool, kept: list[str]) -> None:
    """The same of one that is stopped. One that runs tells its end."""
    for stop in (lambda held: held.told(Fact.FAIL, "s", "c", 0.0), lambda held: held.stopped("s", 0.0)):
        held = turns(begun=begun)
        stop(held)
        assert freed(held, FAILED_S) == ([] if begun else ["1"])
        assert freed(held, MAX_RUN_AGE_S) == kept


def test_an_answer_may_give_the_turn_its_name() -> None:
    """One that has the name already gives its slot back."""
    held = turns(answered=False)
    held.answered("s", 0.0, failed=False, new_name="task")
    assert (held.holds("s"), held.holds("task")) == (False, True)
    held.take("t", "2", "c", 0.0)
    held.answered("t", 0.0, failed=False, new_name="task")
    assert freed(held, 0.0) == ["1"]
    held.told(Fact.END, "task", "c", 0.0)
    assert freed(held, GRACE_S) == ["2"]
    held.take("u", "3", "c", 0.0)
    held.answered("u", 0.0, failed=False, new_name="u")
    held.over("u", 0.0)
    assert freed(held, 0.0) == ["3"]


def test_a_turn_that_begins_by_itself_is_counted() -> None:
    """It gets its slot when there is one; if it is over by then, or has one, the slot is free."""
    held = HeldTurns()
    assert held.told(Fact.BEGIN, "s", "c", 0.0)
    assert not held.told(Fact.BEGIN, "s", "c", 0.0)
    held.count("s", "1")
    held.count("s", "2")
    held.count("gone", "3")
    assert freed(held, 0.0) == ["2", "3"]
    held.told(Fact.END, "s", "c", 0.0)
    assert freed(held, GRACE_S) == ["1"]
    held.told(Fact.BEGIN, "s", "c", 0.0)
    held.told(Fact.END, "s", "c", 0.0)
    assert freed(held, GRACE_S) == []


def test_when_the_connection_ends_its_turns_keep_their_slots_for_a_while() -> None:
    """What the agent runs goes on; those of others stay."""
    held = turns(begun=True)
    held.take("other", "2", "d", 0.0)
    held.left("c", 10.0)
    assert freed(held, 10.0 + UNSEEN_S - 1) == []
    assert freed(held, 10.0 + UNSEEN_S) == ["1"]
    assert held.busy("d")


def test_no_slot_is_kept_for_ever() -> None:
    """Whatever is told of it."""
    held = turns(begun=True)
    held.unseen("s", MAX_RUN_AGE_S)
    assert freed(held, MAX_RUN_AGE_S) == ["1"]


def test_names_that_nobody_holds_change_nothing() -> None:
    """They may come from another process."""
    held = HeldTurns()
    held.answered("x", 0.0, failed=True)
    held.over("x", 0.0)
    held.stopped("x", 0.0)
    held.unseen("x", 0.0)
    for fact in (Fact.DONE, Fact.END, Fact.FAIL, Fact.IDLE):
        assert not held.told(fact, "x", "c", 0.0)
    assert len(held) == 0


def test_there_are_never_more_than_slots() -> None:
    """An agent that begins turns without end fills no memory."""
    held = HeldTurns()
    for number in range(MAX_LEASES):
        assert held.told(Fact.BEGIN, str(number), "c", 0.0)
    assert not held.told(Fact.BEGIN, "x", "c", 0.0)
