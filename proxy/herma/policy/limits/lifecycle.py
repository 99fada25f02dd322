"""Serving, draining, stopped: what the gate does when it is told to stop.

The first stop signal drains: no new turns, streams may end. The second, or the deadline, aborts what is left.
"""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

__all__ = ["RETRY_AFTER_S", "TRANSITIONS", "Event", "Lifecycle", "Order", "Stage"]

# What a refused caller is told to wait: the time a replacement usually needs to come up.
RETRY_AFTER_S = 5


class Stage(StrEnum):
    """Where the gate is in its life."""

    SERVING = "serving"
    DRAINING = "draining"
    STOPPED = "stopped"


class Event(StrEnum):
    """What moves it on."""

    STOP_ASKED = "stop_asked"  # a signal, or `herma drain`
    IDLE = "idle"  # the last exchange is over
    DEADLINE = "deadline"  # the drain timeout is over
    FAILED = "failed"  # a part that the gate cannot do without is lost


class Order(StrEnum):
    """What the adapters must do now."""

    NOTHING = "nothing"
    DRAIN = "drain"  # stop admitting turns, let streams end
    CLOSE = "close"  # nothing is left: close
    ABORT = "abort"  # cut what is left, then close


# What is not listed changes nothing: a gate that serves is not stopped by being idle, and nothing leads out of STOPPED.
TRANSITIONS = MappingProxyType(
    {
        (Stage.SERVING, Event.STOP_ASKED): (Stage.DRAINING, Order.DRAIN),
        (Stage.SERVING, Event.FAILED): (Stage.STOPPED, Order.ABORT),
        (Stage.DRAINING, Event.IDLE): (Stage.STOPPED, Order.CLOSE),
        (Stage.DRAINING, Event.STOP_ASKED): (Stage.STOPPED, Order.ABORT),
        (Stage.DRAINING, Event.DEADLINE): (Stage.STOPPED, Order.ABORT),
        (Stage.DRAINING, Event.FAILED): (Stage.STOPPED, Order.ABORT),
    }
)


@dataclass(slots=True)
class Lifecycle:
    """The stage, and the time the drain must be over."""

    drain_timeout_s: float
    stage: Stage = Stage.SERVING
    deadline: float | None = None

    def handle(self, event: Event, now: float) -> Order:
        """Move on, and return what has to be done because of it."""
        stage, order = TRANSITIONS.get((self.stage, event), (self.stage, Order.NOTHING))
        if order is Order.DRAIN:
            self.deadline = now + self.drain_timeout_s
        self.stage = stage
        return order

    def tick(self, now: float) -> Order:
        """Abort when the drain has lasted too long."""
        if self.deadline is None or now < self.deadline:
            return Order.NOTHING
        return self.handle(Event.DEADLINE, now)

    @property
    def ready(self) -> bool:
        """Tell whether new turns are admitted; false is what a load balancer should see."""
        return self.stage is Stage.SERVING
