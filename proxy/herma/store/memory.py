"""The shared state of one process, in memory."""

from collections.abc import Callable

from herma.policy.approval_offers import ApprovalOffers
from herma.policy.browser.sessions import LiveSession, SessionLimits, Sessions
from herma.policy.limits.admission import Admission, Ask, Full, Lease, RunLease
from herma.policy.limits.bucket import Buckets
from herma.policy.limits.throttle import Throttle, ThrottleLimits
from herma.policy.ownership import Owner, Ownership
from herma.policy.token.spent import Once, Spending
from herma.store.spent import MemorySpent, SpentStore

__all__ = ["MemoryStore"]


def _ignore(_run: RunLease) -> None:
    pass


class MemoryStore:
    """A `Store` whose methods never suspend, so that each is one step for everybody else; but for `spend`.

    `clock` returns seconds that never go backwards. `on_dropped` is told of each run that was dropped because nobody saw
    its end; it must not raise. `spent` remembers used tokens, which may have to outlive the process.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        limits: ThrottleLimits | None = None,
        on_dropped: Callable[[RunLease], None] = _ignore,
        spent: SpentStore | None = None,
    ) -> None:
        self._clock = clock
        self._spent = spent or MemorySpent()
        self._on_dropped = on_dropped
        self._admission = Admission()
        self._ownership = Ownership()
        self._throttle = Throttle(limits)
        self._buckets = Buckets()
        self._offers = ApprovalOffers()
        self._sessions = Sessions()

    @property
    def slots_taken(self) -> int:
        """Count the slots that are taken."""
        self._expire()
        return len(self._admission)

    def apply(self, limits: ThrottleLimits) -> None:
        """Take new limits for failed attempts, after a reload; what was counted stays counted."""
        self._throttle.limits = limits

    async def admit(self, ask: Ask) -> Lease | Full:
        """Take a slot for a turn."""
        return self.admit_for("", ask)

    def admit_for(self, worker: str, ask: Ask) -> Lease | Full:
        """Take a slot on behalf of a worker."""
        self._expire()
        return self._admission.admit(ask, worker=worker)

    def worker_gone(self, worker: str) -> None:
        """Give back the slots that died with a worker."""
        self._admission.worker_gone(worker, self._clock())

    async def release(self, lease_id: str) -> None:
        """Give a slot back when its request is over."""
        self._admission.release(lease_id)

    async def attach(self, lease_id: str, run_id: str) -> None:
        """Hold the slot until the run's end."""
        self._admission.attach(lease_id, run_id, self._clock())

    async def run_ended(self, run_id: str) -> None:
        """Note that a run is over."""
        self._admission.run_ended(run_id)
        self._ownership.ended("run", run_id, self._clock())
        self._offers.withdraw(run_id, every=True)

    async def open_runs(self) -> tuple[RunLease, ...]:
        """List the runs whose end was not seen yet."""
        self._expire()
        return self._admission.open_runs(self._clock())

    def open_runs_after(self, lease_id: str, limit: int) -> tuple[RunLease, ...]:
        """List a part of the runs, beginning after a lease."""
        self._expire()
        return self._admission.open_runs(self._clock(), after=lease_id, limit=limit)

    async def seed(self, running: int) -> None:
        """Take upstream's own count of running turns."""
        self._admission.seed(running, self._clock())

    async def claim(self, kind: str, thing_id: str, owner: Owner) -> Owner:
        """Bind to `owner` if nobody holds it; return who does."""
        return self._ownership.claim(kind, thing_id, owner, self._clock())

    async def owner(self, kind: str, thing_id: str) -> Owner | None:
        """Return who holds it, if anybody is known to."""
        return self._ownership.owner(kind, thing_id, self._clock())

    async def blocked(self, subjects: tuple[str, ...]) -> float:
        """Return the seconds until an attempt may be judged."""
        return self._throttle.blocked(subjects, self._clock())

    async def failed(self, subjects: tuple[str, ...]) -> float:
        """Count a failed attempt; return the wait."""
        return self._throttle.failed(subjects, self._clock())

    async def succeeded(self, subjects: tuple[str, ...]) -> None:
        """Note a successful attempt."""
        self._throttle.succeeded(subjects, self._clock())

    async def take(self, bucket: str, rate_per_s: float, burst: float) -> float:
        """Take a token and return 0, or return the wait."""
        return self._buckets.take(bucket, rate_per_s, burst, self._clock())

    async def offer(self, run_id: str, choices: tuple[str, ...]) -> None:
        """Note the choices of an approval prompt."""
        self._offers.offer(run_id, choices, self._clock())

    async def offered(self, run_id: str) -> tuple[str, ...] | None:
        """Return the choices on offer."""
        return self._offers.offered(run_id, self._clock())

    async def withdraw(self, run_id: str, *, every: bool = False) -> None:
        """Note that a prompt was answered."""
        self._offers.withdraw(run_id, every=every)

    async def open_session(self, ident: str, user: str, binding: str, limits: SessionLimits) -> None:
        """Begin a session of a person who logged in."""
        self._sessions.open(ident, user, binding, limits, self._clock())

    async def session(self, ident: str, limits: SessionLimits, *, touch: bool = True) -> LiveSession | None:
        """Return a session that holds, if there is one."""
        return self._sessions.use(ident, limits, self._clock(), touch=touch)

    async def end_session(self, ident: str) -> None:
        """End a session."""
        self._sessions.close(ident)

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token that may be used once."""
        return await self._spent.spend(once)

    def _expire(self) -> None:
        for run in self._admission.expire(self._clock()):
            self._on_dropped(run)
