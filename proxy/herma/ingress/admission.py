"""What a request needs before it may cost the agent anything: a token of its caller's rate, and a slot if it starts a turn.

One gate is shared by everything that starts a turn. An open turn holds its slot as long as its request is open; a
background run holds it until its end was seen.
"""

from types import TracebackType
from typing import Self

from herma.config.settings import Rate
from herma.ingress.plane import Generation, Plane
from herma.ingress.refusal import Refusal, draining, full, slow_down
from herma.policy.exchange import Exchange
from herma.policy.grant import Principal
from herma.policy.limits.throttle import address_group
from herma.policy.routing.profile import Turn
from herma.store import Ask, Full, Store

__all__ = ["Slot", "limit_rate", "take_rate", "take_slot"]


class Slot:
    """A lease as a context: given back on exit unless a run or another context took it over; may hold none."""

    def __init__(self, store: Store, lease: str | None) -> None:
        self._store = store
        self._lease = lease

    def lend(self) -> "Slot":
        """Return a slot that now holds the lease in place of this one."""
        lease, self._lease = self._lease, None
        return Slot(self._store, lease)

    def give(self) -> str:
        """Hand the lease to who gives it back later; empty when there is none."""
        lease, self._lease = self._lease, None
        return lease or ""

    async def hand_over(self, run_id: str) -> None:
        """Let the run that was started hold the lease until its end; an empty id still counts, for a while."""
        if self._lease is not None:
            await self._store.attach(self._lease, run_id)
            self._lease = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await self._store.release(lease)


async def take_slot(plane: Plane, generation: Generation, principal: Principal | None, turn: Turn) -> Slot:
    """Take a slot if the route starts a turn.

    Raises:
        Refusal: 503 when the gate drains, 429 when every slot is taken.
        StoreError: the shared state cannot be asked.
    """
    if turn is Turn.NONE:
        return Slot(plane.store, None)
    if not plane.lifecycle.ready:
        raise Refusal(draining())
    answer = await plane.store.admit(
        Ask(
            principal=principal.name if principal else "",
            turn=turn,
            cap=generation.settings.limits.max_concurrent_runs,
            principal_cap=principal.max_concurrent_runs if principal else None,
        )
    )
    if isinstance(answer, Full):
        raise Refusal(full(answer.retry_after_s, answer.which))
    return Slot(plane.store, answer.id)


async def limit_rate(plane: Plane, generation: Generation, exchange: Exchange) -> None:
    """Take a token of the rates that hold for the caller of an exchange.

    Raises:
        Refusal: 429 when there is none.
        StoreError: the shared state cannot be asked.
    """
    rates = generation.settings.limits.rates
    if rates.per_address is not None:
        await take_rate(plane, f"address:{address_group(exchange.address)}", rates.per_address)
    if rates.per_key is not None and exchange.principal is not None:
        await take_rate(plane, f"key:{exchange.principal.name}", rates.per_key)


async def take_rate(plane: Plane, bucket: str, rate: Rate) -> None:
    """Take a token of one rate.

    Raises:
        Refusal: 429 when there is none.
        StoreError: the shared state cannot be asked.
    """
    wait = await plane.store.take(bucket, rate.per_s, rate.burst)
    if wait > 0:
        raise Refusal(slow_down(wait))
