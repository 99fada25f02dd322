"""Which turns hold a slot that calls over WebSockets started, and until when.

Rules of the file:

1. What may still be running is counted. A slot is given back a little after the agent told the end: a prompt that waited begins
   at once then, and has the slot of the one before.
2. A turn that the agent begins by itself is counted too. It runs already: nobody is asked, and no cap refuses it.
3. A turn whose end nobody can see any more keeps its slot for a while, and no slot is kept for ever.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from herma.policy.limits.admission import MAX_LEASES, MAX_RUN_AGE_S
from herma.policy.socket.turn_news import Fact

__all__ = ["FAILED_S", "GRACE_S", "SETTLE_S", "UNSEEN_S", "HeldTurns"]

# The agent begins the next turn of a session within a millisecond.
GRACE_S: Final = 1.0
# Between the last text and the end of a turn a model is asked whether the goal was reached.
SETTLE_S: Final = 60.0
# As long as the agent waits for a session to be made before it gives the turn up, and a little more.
FAILED_S: Final = 35.0
# A turn goes on when its caller leaves: most end within minutes. Less, and whoever hangs up at once has no cap.
UNSEEN_S: Final = 300.0


@dataclass(slots=True)
class _Held:
    lease: str
    holder: str
    due: float
    begun: bool = False
    # Calls that were sent on for it and are not answered; an end that is told meanwhile may be that of the turn before.
    asked: int = 0
    ended: bool = False


class HeldTurns:
    """Turns by name; every method is total for names that nobody holds."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._spare: list[str] = []

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, name: str) -> bool:
        """Tell whether a turn holds a slot."""
        return name in self._held

    def busy(self, holder: str) -> bool:
        """Tell whether a connection has turns under way."""
        return any(held.holder == holder for held in self._held.values())

    def take(self, name: str, lease: str, holder: str, now: float) -> None:
        """Note a call that is sent on now: it holds the lease, or goes on with the one its turn holds already."""
        held = self._held.get(name)
        if held is None:
            held = self._held[name] = _Held(lease, holder, now)
        elif lease:
            self._spare.append(lease)
        held.asked += 1
        held.due, held.holder = now + MAX_RUN_AGE_S, holder

    def answered(self, name: str, now: float, *, failed: bool, new_name: str = "") -> None:
        """Note that the agent answered a call; the answer may give the turn its name."""
        held = self._held.get(name)
        if held is None:
            return
        held.asked -= 1
        if failed and not held.begun and not held.asked:
            held.due = now
        elif held.ended:
            held.due = now + FAILED_S
        if new_name and new_name != name:
            del self._held[name]
            if (twin := self._held.get(new_name)) is not None:
                self._spare.append(twin.lease)
            self._held[new_name] = held

    def over(self, name: str, now: float) -> None:
        """Note that a turn is over for certain."""
        self._until(name, now)

    def told(self, fact: Fact, name: str, holder: str, now: float) -> bool:
        """Take an event; return True when a turn began that holds no slot, which is to be counted with `count`."""
        held = self._held.get(name)
        if held is None:
            if fact is not Fact.BEGIN or len(self._held) >= MAX_LEASES:
                return False
            self._held[name] = _Held("", holder, now + MAX_RUN_AGE_S, begun=True)
            return True
        match fact:
            case Fact.BEGIN:
                held.begun, held.ended, held.due, held.holder = True, False, now + MAX_RUN_AGE_S, holder
            case Fact.DONE:
                self._until(name, now + SETTLE_S)
            case Fact.FAIL:
                self.stopped(name, now)
            case Fact.END | Fact.IDLE:
                self._ended(name, held, now)
            case _:
                assert_never(fact)
        return False

    def count(self, name: str, lease: str) -> None:
        """Give the slot to a turn that began by itself; if it is over by now the slot is free again."""
        held = self._held.get(name)
        if held is None or held.lease:
            self._spare.append(lease)
        else:
            held.lease = lease

    def stopped(self, name: str, now: float) -> None:
        """Note that a turn may never begin."""
        held = self._held.get(name)
        if held is not None and not held.begun:
            self._until(name, now + FAILED_S)

    def unseen(self, name: str, now: float) -> None:
        """Note that nothing more is told of a turn."""
        self._until(name, now + UNSEEN_S)

    def left(self, holder: str, now: float) -> None:
        """Note that a connection ended, and with it what is told of its turns."""
        for name, held in self._held.items():
            if held.holder == holder:
                held.asked = 0
                self.unseen(name, now)

    def due(self, now: float) -> Iterator[str]:
        """Give the leases that are to be given back, each once."""
        for name in [name for name, held in self._held.items() if held.due <= now]:
            self._spare.append(self._held.pop(name).lease)
        spare, self._spare = self._spare, []
        return filter(None, spare)

    def _ended(self, name: str, held: _Held, now: float) -> None:
        if held.asked:
            held.ended = True
            return
        held.begun = False
        self._until(name, now + GRACE_S)

    def _until(self, name: str, due: float) -> None:
        held = self._held.get(name)
        if held is not None:
            held.due = min(held.due, due)
