"""The slot that a turn needs before it may cost the agent anything.

One gate is shared by every route that starts a turn. An open turn holds its slot as long as its request is open; a
background run holds it until its end was seen.
"""

from types import TracebackType
from typing import Self

from herma.ingress.plane import Generation, Plane
from herma.ingress.refusal import Refusal, draining, full
from herma.policy.grant import Principal
from herma.policy.profile import Turn
from herma.store import Ask, Full

__all__ = ["Slot"]


class Slot:
    """A lease as a context: taken on entry or refused, given back on exit unless a run took it over."""

    def __init__(self, plane: Plane, generation: Generation, principal: Principal | None, turn: Turn) -> None:
        self._plane = plane
        self._limits = generation.settings.limits
        self._principal = principal
        self._turn = turn
        self._lease: str | None = None

    async def __aenter__(self) -> Self:
        """Take a slot if the route starts a turn.

        Raises:
            Refusal: 503 when the gate drains, 429 when every slot is taken.
            StoreError: the shared state cannot be asked.
        """
        if self._turn is Turn.NONE:
            return self
        if not self._plane.lifecycle.ready:
            raise Refusal(draining())
        principal = self._principal
        answer = await self._plane.store.admit(
            Ask(
                principal=principal.name if principal else "",
                turn=self._turn,
                cap=self._limits.max_concurrent_runs,
                principal_cap=principal.max_concurrent_runs if principal else None,
            )
        )
        if isinstance(answer, Full):
            raise Refusal(full(answer.retry_after_s, answer.which))
        self._lease = answer.id
        return self

    def lend(self) -> "Slot":
        """Return a slot that now holds the lease in place of this one."""
        other = Slot.__new__(Slot)
        other._plane, other._limits, other._principal, other._turn = (
            self._plane, self._limits, self._principal, Turn.NONE
        )
        other._lease, self._lease = self._lease, None
        return other

    async def hand_over(self, run_id: str) -> None:
        """Let the run that was started hold the slot until its end."""
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await self._plane.store.attach(lease, run_id)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await self._plane.store.release(lease)
