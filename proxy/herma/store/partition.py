"""The part of the shared state that belongs to one upstream.

Ids are unique within an upstream only, and some are names that callers choose: without a part of its own, a session of one
agent server would be owned by whoever used that name at another, and a run's end there would end it here.
"""

from dataclasses import replace

from herma.policy.browser.sessions import LiveSession, SessionLimits
from herma.policy.limits.admission import Ask, Full, Lease, RunLease
from herma.policy.ownership import Owner
from herma.policy.token.spent import Once, Spending
from herma.store.store import Store

__all__ = ["Partition", "parted"]

# An upstream's name has no slash, so that what stands before the first one is the name, whatever the id.
_SEPARATOR = "/"


def parted(run_id: str) -> tuple[str, str]:
    """Take the name of a run in the shared state apart: the upstream and the run's id there; both empty for a run without one."""
    upstream, _, own = run_id.partition(_SEPARATOR)
    return upstream, own


class Partition:
    """A `Store` in which runs, offers and owners are one upstream's; slots, throttles, rates, sessions and used tokens are everybody's."""

    def __init__(self, store: Store, upstream: str) -> None:
        self._store = store
        self._upstream = upstream

    async def admit(self, ask: Ask) -> Lease | Full:
        """Take a slot for a turn."""
        return await self._store.admit(ask)

    async def release(self, lease_id: str) -> None:
        """Give a slot back."""
        await self._store.release(lease_id)

    async def attach(self, lease_id: str, run_id: str) -> None:
        """Hold the slot until the end of this upstream's run."""
        await self._store.attach(lease_id, self._own(run_id))

    async def run_ended(self, run_id: str) -> None:
        """Note that a run of this upstream is over."""
        await self._store.run_ended(self._own(run_id))

    async def open_runs(self) -> tuple[RunLease, ...]:
        """List the runs of this upstream whose end was not seen yet, by their ids there."""
        runs = [(run, *parted(run.run_id)) for run in await self._store.open_runs()]
        return tuple(
            replace(run, run_id=own) for run, upstream, own in runs if upstream == self._upstream and own
        )

    async def seed(self, running: int) -> None:
        """Take the count of running turns; it is one for all upstreams."""
        await self._store.seed(running)

    async def claim(self, kind: str, thing_id: str, owner: Owner) -> Owner:
        """Bind a thing of this upstream to `owner` if nobody holds it."""
        return await self._store.claim(kind, self._own(thing_id), owner)

    async def owner(self, kind: str, thing_id: str) -> Owner | None:
        """Return who holds a thing of this upstream."""
        return await self._store.owner(kind, self._own(thing_id))

    async def blocked(self, subjects: tuple[str, ...]) -> float:
        """Return the seconds until an attempt to authenticate may be judged."""
        return await self._store.blocked(subjects)

    async def failed(self, subjects: tuple[str, ...]) -> float:
        """Count a failed attempt."""
        return await self._store.failed(subjects)

    async def succeeded(self, subjects: tuple[str, ...]) -> None:
        """Note a successful attempt."""
        await self._store.succeeded(subjects)

    async def take(self, bucket: str, rate_per_s: float, burst: float) -> float:
        """Take a token."""
        return await self._store.take(bucket, rate_per_s, burst)

    async def offer(self, run_id: str, choices: tuple[str, ...]) -> None:
        """Note the choices that a prompt of this upstream's run offered."""
        await self._store.offer(self._own(run_id), choices)

    async def offered(self, run_id: str) -> tuple[str, ...] | None:
        """Return the choices on offer for this upstream's run."""
        return await self._store.offered(self._own(run_id))

    async def withdraw(self, run_id: str, *, every: bool = False) -> None:
        """Note that a prompt of this upstream's run was answered."""
        await self._store.withdraw(self._own(run_id), every=every)

    async def open_session(self, ident: str, user: str, binding: str, limits: SessionLimits) -> None:
        """Begin a session."""
        await self._store.open_session(ident, user, binding, limits)

    async def session(self, ident: str, limits: SessionLimits, *, touch: bool = True) -> LiveSession | None:
        """Return a session that holds."""
        return await self._store.session(ident, limits, touch=touch)

    async def end_session(self, ident: str) -> None:
        """End a session."""
        await self._store.end_session(ident)

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token; one that two upstreams take is used at both."""
        return await self._store.spend(once)

    def _own(self, name: str) -> str:
        # No id stays none: a run whose id was never heard still holds its slot for a while.
        return f"{self._upstream}{_SEPARATOR}{name}" if name else ""
