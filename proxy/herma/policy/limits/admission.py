"""Slots for turns: how many run at once, and who holds them.

Every route that starts a turn takes its slot here, whether the turn lives as long as its request (open) or goes on
upstream after the answer (background). Rules of the file:

1. A count never exceeds its cap by an admission, and never falls below zero.
2. What may still be running is counted. A slot is given back only when the end was seen, the request that held it is
   over, or its age makes the run impossible.
3. A worker that dies gives back what died with it; a run that goes on without it stays counted.
"""

from collections import Counter, deque
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from herma.policy.routing.route import Turn

__all__ = ["MAX_LEASES", "MAX_RUN_ID_CHARS", "Admission", "Ask", "Full", "Lease", "RunLease", "Which"]

# The table's own bound, which holds when the cap is off too. An agent server that really runs sixteen thousand turns
# at once has not been seen; beyond it every newcomer is refused.
MAX_LEASES = 16_384

# A run whose end nobody saw is dropped after this time and reported. The longest run seen lasted hours, not days.
MAX_RUN_AGE_S = 24 * 3600.0

# A slot known only from a count (see `seed`) is dropped after this time if no later count confirms it.
MAX_ANONYMOUS_AGE_S = 3600.0

# Longest run id that is kept; upstream's own have 36 characters. A longer one is counted, but not remembered.
MAX_RUN_ID_CHARS = 256

# A caller who was refused is never told to stay away longer than this: slots turn over quickly.
MAX_RETRY_AFTER_S = 30


class Which(StrEnum):
    """Which cap is reached: the common one, or the caller's own."""

    ALL = "all"
    PRINCIPAL = "principal"


@dataclass(frozen=True, slots=True)
class Ask:
    """A wish for a slot.

    `cap` is the common cap, 0 turns it off. `principal_cap` is the caller's own: None means there is none, 0 admits nothing.
    """

    principal: str
    turn: Turn
    cap: int
    principal_cap: int | None = None

    def __post_init__(self) -> None:
        if self.turn is Turn.NONE:
            raise ValueError("only what starts a turn asks for a slot")
        if self.cap < 0 or (self.principal_cap is not None and self.principal_cap < 0):
            raise ValueError("a cap is not negative")


@dataclass(frozen=True, slots=True)
class Lease:
    """A slot that is held until it is released or, once attached to a run, until the run's end."""

    id: str


@dataclass(frozen=True, slots=True)
class Full:
    """No slot is free; try again after so many seconds."""

    retry_after_s: int
    which: Which


@dataclass(frozen=True, slots=True)
class RunLease:
    """A background run that holds a slot, and for how long it has been attached."""

    lease_id: str
    run_id: str
    principal: str
    age_s: float


class _Stage(StrEnum):
    OPEN = "open"  # the turn ends with its request
    STARTING = "starting"  # a background turn whose run id is not known yet
    RUNNING = "running"  # attached to a run
    ANONYMOUS = "anonymous"  # counted, but nobody can name it
    GONE = "gone"


class _Event(StrEnum):
    RELEASED = "released"
    ATTACHED = "attached"
    UNNAMED = "unnamed"  # it goes on upstream under an id that cannot be kept
    RUN_ENDED = "run_ended"
    AGED = "aged"
    WORKER_GONE = "worker_gone"


# What is not listed changes nothing: a released run goes on, and an open turn has no run that could end.
_TRANSITIONS = MappingProxyType(
    {
        (_Stage.OPEN, _Event.RELEASED): _Stage.GONE,
        (_Stage.OPEN, _Event.ATTACHED): _Stage.RUNNING,
        (_Stage.OPEN, _Event.UNNAMED): _Stage.ANONYMOUS,
        (_Stage.OPEN, _Event.WORKER_GONE): _Stage.GONE,
        (_Stage.STARTING, _Event.RELEASED): _Stage.GONE,
        (_Stage.STARTING, _Event.ATTACHED): _Stage.RUNNING,
        (_Stage.STARTING, _Event.UNNAMED): _Stage.ANONYMOUS,
        # The worker may have died after upstream said yes: the run may be there, so it is counted.
        (_Stage.STARTING, _Event.WORKER_GONE): _Stage.ANONYMOUS,
        (_Stage.RUNNING, _Event.RUN_ENDED): _Stage.GONE,
        (_Stage.RUNNING, _Event.AGED): _Stage.GONE,
    }
)


@dataclass(slots=True)
class _Held:
    number: int
    principal: str
    worker: str
    stage: _Stage
    run_id: str = ""
    attached_at: float = 0.0


class Admission:
    """The concurrency gate; every method is total for ids that nobody holds."""

    def __init__(self, *, max_leases: int = MAX_LEASES) -> None:
        self._max_leases = max_leases
        self._held: dict[str, _Held] = {}
        self._runs: dict[str, str] = {}  # run id -> lease id, longest attached first
        self._by_principal: Counter[str] = Counter()
        self._anonymous: deque[float] = deque()  # when each was last confirmed, oldest first
        self._numbers = 0
        self._refused = 0  # since a slot was last given back

    def __len__(self) -> int:
        """Count the slots that are taken, anonymous ones included."""
        return len(self._held) + len(self._anonymous)

    def held_by(self, principal: str) -> int:
        """Count the slots of one principal."""
        return self._by_principal[principal]

    @property
    def anonymous(self) -> int:
        """Count the slots that nobody can name."""
        return len(self._anonymous)

    def admit(self, ask: Ask, *, worker: str = "") -> Lease | Full:
        """Take a slot, or tell which cap is reached."""
        taken = len(self)
        if taken >= self._max_leases or 0 < ask.cap <= taken:
            return self._all_taken(ask.cap)
        if ask.principal_cap is not None and self._by_principal[ask.principal] >= ask.principal_cap:
            return Full(1, Which.PRINCIPAL)
        self._numbers += 1
        stage = _Stage.STARTING if ask.turn is Turn.BACKGROUND else _Stage.OPEN
        lease_id = str(self._numbers)
        self._held[lease_id] = _Held(self._numbers, ask.principal, worker, stage)
        self._by_principal[ask.principal] += 1
        return Lease(lease_id)

    def release(self, lease_id: str) -> None:
        """Give a slot back because its request is over; a lease that was attached to a run stays until the run's end."""
        self._step(lease_id, _Event.RELEASED)

    def attach(self, lease_id: str, run_id: str, now: float) -> None:
        """Tie a slot to a run, so that it is held until the run's end.

        A run that holds a slot already keeps that one, and this one is given back: upstream answered a repeated request
        with the run it had started before.
        """
        if run_id in self._runs:
            self._step(lease_id, _Event.RELEASED)
        elif not run_id or len(run_id) > MAX_RUN_ID_CHARS:
            self._step(lease_id, _Event.UNNAMED, now)
        else:
            self._step(lease_id, _Event.ATTACHED, now, run_id)

    def run_ended(self, run_id: str) -> None:
        """Give back the slot of a run that is over."""
        self._step(self._runs.get(run_id, ""), _Event.RUN_ENDED)

    def worker_gone(self, worker: str, now: float) -> None:
        """Give back what died with a worker, and keep counting what goes on without it."""
        for lease_id in [lease_id for lease_id, held in self._held.items() if held.worker == worker]:
            self._step(lease_id, _Event.WORKER_GONE, now)

    def seed(self, running: int, now: float) -> None:
        """Take upstream's own count of what runs; what exceeds the leases known here becomes anonymous.

        The count is absolute: a later, smaller one lowers the number of anonymous slots again.
        """
        unknown = min(max(0, running - len(self._held)), self._max_leases - len(self._held))
        if unknown < len(self._anonymous):
            self._refused = 0
        self._anonymous = deque([now] * unknown)

    def expire(self, now: float) -> tuple[RunLease, ...]:
        """Drop what is too old to be still running; return the runs that were dropped, to be reported."""
        while self._anonymous and now - self._anonymous[0] > MAX_ANONYMOUS_AGE_S:
            self._anonymous.popleft()
        dropped: list[RunLease] = []
        while self._runs:
            lease_id = next(iter(self._runs.values()))
            run = _run_lease(lease_id, self._held[lease_id], now)
            if run.age_s <= MAX_RUN_AGE_S:
                break
            dropped.append(run)
            self._step(lease_id, _Event.AGED)
        return tuple(dropped)

    def open_runs(self, now: float, *, after: str = "", limit: int = MAX_LEASES) -> tuple[RunLease, ...]:
        """List the runs that hold a slot, by lease, beginning after the lease `after`."""
        first = int(after) if after.isdecimal() else 0
        runs = [lease_id for lease_id in self._runs.values() if self._held[lease_id].number > first]
        runs.sort(key=lambda lease_id: self._held[lease_id].number)
        return tuple(_run_lease(lease_id, self._held[lease_id], now) for lease_id in runs[:limit])

    def _all_taken(self, cap: int) -> Full:
        # The more callers were turned away since a slot was last free, the longer the next one waits: one more second
        # for each time the whole cap could have been filled by those who already wait.
        retry_after_s = min(MAX_RETRY_AFTER_S, 1 + self._refused // max(1, cap))
        self._refused += 1
        return Full(retry_after_s, Which.ALL)

    def _step(self, lease_id: str, event: _Event, now: float = 0.0, run_id: str = "") -> None:
        held = self._held.get(lease_id)
        if held is None or (stage := _TRANSITIONS.get((held.stage, event))) is None:
            return
        held.stage = stage
        if stage is _Stage.RUNNING:
            held.run_id, held.attached_at = run_id, now
            self._runs[run_id] = lease_id
            return
        del self._held[lease_id]
        self._runs.pop(held.run_id, None)
        self._by_principal[held.principal] -= 1
        if not self._by_principal[held.principal]:
            del self._by_principal[held.principal]
        if stage is _Stage.ANONYMOUS:
            self._anonymous.append(now)
        else:
            self._refused = 0


def _run_lease(lease_id: str, held: _Held, now: float) -> RunLease:
    return RunLease(lease_id, held.run_id, held.principal, max(0.0, now - held.attached_at))
