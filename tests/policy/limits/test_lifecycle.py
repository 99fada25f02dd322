"""Serving, draining, stopped."""

from itertools import product

import pytest

from herma.policy.limits.lifecycle import TRANSITIONS, Event, Lifecycle, Order, Stage


def test_first_stop_signal_drains() -> None:
    """The first signal stops new turns and lets streams end."""
    life = Lifecycle(drain_timeout_s=30)
    assert life.ready
    assert life.handle(Event.STOP_ASKED, now=100) is Order.DRAIN
    assert life.stage is Stage.DRAINING
    assert not life.ready
    assert life.deadline == 130


def test_second_stop_signal_aborts() -> None:
    """Whoever signals twice does not want to wait."""
    life = Lifecycle(drain_timeout_s=30)
    life.handle(Event.STOP_ASKED, now=0)
    assert life.handle(Event.STOP_ASKED, now=1) is Order.ABORT
    assert life.stage is Stage.STOPPED


def test_drain_that_becomes_idle_closes_without_abort() -> None:
    """When the last exchange is over nothing is cut."""
    life = Lifecycle(drain_timeout_s=30)
    life.handle(Event.STOP_ASKED, now=0)
    assert life.handle(Event.IDLE, now=5) is Order.CLOSE


def test_drain_aborts_at_its_deadline_and_not_before() -> None:
    """A stream that does not end cannot hold the gate for ever."""
    life = Lifecycle(drain_timeout_s=30)
    assert life.tick(now=1000) is Order.NOTHING
    life.handle(Event.STOP_ASKED, now=0)
    assert life.tick(now=29.9) is Order.NOTHING
    assert life.tick(now=30) is Order.ABORT
    assert life.tick(now=31) is Order.NOTHING


@pytest.mark.parametrize(("stage", "event"), list(product(Stage, Event)))
def test_what_the_table_does_not_list_changes_nothing(stage: Stage, event: Event) -> None:
    """An event that makes no sense in a stage is ignored; no event leads back to serving."""
    life = Lifecycle(30, stage)
    order = life.handle(event, now=0)
    if (stage, event) in TRANSITIONS:
        assert life.stage is not Stage.SERVING
        assert order is not Order.NOTHING
    else:
        assert (life.stage, order) == (stage, Order.NOTHING)
