"""The state that all workers share, as one interface.

Whatever a method answers holds for every worker. When the state cannot be reached a method raises `StoreError`, and the
caller refuses what it wanted to do.
"""

from typing import Protocol

from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import Ask, Full, Lease, RunLease
from herma.policy.ownership import Owner
from herma.policy.token.spent import Once, Spending

__all__ = ["Store"]


class Store(Protocol):
    """Slots, owners, failed attempts, rates, approval offers, sessions and used tokens; every method may raise `StoreError`."""

    async def admit(self, ask: Ask) -> Lease | Full:
        """Take a slot for a turn.

        A caller that is cancelled while it waits holds no slot. One that got a lease must release it in any case.
        """
        ...

    async def release(self, lease_id: str) -> None:
        """Give a slot back when its request is over; again, or after `attach`, it changes nothing."""
        ...

    async def attach(self, lease_id: str, run_id: str) -> None:
        """Hold the slot until the run's end instead of the request's; call it before the answer goes downstream."""
        ...

    async def run_ended(self, run_id: str) -> None:
        """Note that a run is over: its slot is free, its owner kept for two hours more; again, it changes nothing."""
        ...

    async def open_runs(self) -> tuple[RunLease, ...]:
        """List the runs whose end was not seen yet, to be polled."""
        ...

    async def seed(self, running: int) -> None:
        """Take upstream's own count of running turns, after a restart and whenever it is read again."""
        ...

    async def claim(self, kind: str, thing_id: str, owner: Owner) -> Owner:
        """Bind a run, session or response to `owner` if nobody holds it; return who does."""
        ...

    async def owner(self, kind: str, thing_id: str) -> Owner | None:
        """Return who holds it; None means that nobody is known to, which is admin only."""
        ...

    async def blocked(self, subjects: tuple[str, ...]) -> float:
        """Return the seconds until an attempt to authenticate may be judged, 0 if now; see `throttle.subjects`."""
        ...

    async def failed(self, subjects: tuple[str, ...]) -> float:
        """Count a failed attempt; return the seconds until the next one may be judged."""
        ...

    async def succeeded(self, subjects: tuple[str, ...]) -> None:
        """Note a successful attempt; it forgives no failure."""
        ...

    async def take(self, bucket: str, rate_per_s: float, burst: float) -> float:
        """Take a token and return 0, or take none and return the seconds until one is there."""
        ...

    async def offer(self, run_id: str, choices: tuple[str, ...]) -> None:
        """Note the choices that an approval prompt of the run offered."""
        ...

    async def offered(self, run_id: str) -> tuple[str, ...] | None:
        """Return the choices on offer; None when no prompt of the run is known to wait."""
        ...

    async def withdraw(self, run_id: str, *, every: bool = False) -> None:
        """Note that one prompt of the run was answered, or with `every` that none waits any more."""
        ...

    async def open_session(self, ident: str, user: str, binding: str, limits: SessionLimits) -> None:
        """Begin a session of a person who logged in; see `policy.browser.sessions`."""
        ...

    async def session(self, ident: str, limits: SessionLimits, *, touch: bool = True) -> LiveSession | None:
        """Return a session that holds; None when there is none. With `touch` it counts as used now."""
        ...

    async def end_session(self, ident: str) -> None:
        """End a session, for every worker; again, it changes nothing."""
        ...

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token that may be used once; of several uses at the same time one is the first."""
        ...
