"""Which answers an approval prompt offered, so that no other answer passes.

Upstream does not check an answer against the choices it offered, and answers carry no prompt id: they go to the oldest
prompt that waits. So while several prompts of a run wait, only what all of them offered counts as offered.
"""

from collections import OrderedDict
from dataclasses import dataclass

__all__ = ["MAX_OFFERS", "ApprovalOffers"]

# Runs with a prompt that waits; a forgotten one is unknown, like a prompt that never passed the gate.
MAX_OFFERS = 10_000

# Upstream gives up on a prompt after a minute by default, without saying so. An hour covers every sensible setting.
MAX_OFFER_AGE_S = 3600.0

# Upstream knows four choices. What is beyond is not remembered, hence not offered.
MAX_CHOICES = 16
MAX_CHOICE_CHARS = 64
# Upstream's run ids have 36.
MAX_RUN_ID_CHARS = 256


@dataclass(frozen=True, slots=True)
class _Offer:
    choices: tuple[str, ...]
    waiting: int
    at: float


class ApprovalOffers:
    """The choices that the waiting prompts of each run have in common."""

    def __init__(self, limit: int = MAX_OFFERS) -> None:
        self._limit = limit
        self._offers: OrderedDict[str, _Offer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._offers)

    def offer(self, run_id: str, choices: tuple[str, ...], now: float) -> None:
        """Note that a prompt of the run offered these choices."""
        if len(run_id) > MAX_RUN_ID_CHARS:
            return
        kept = tuple(choice for choice in choices if len(choice) <= MAX_CHOICE_CHARS)[:MAX_CHOICES]
        before = self._fresh(run_id, now)
        if before is not None:
            kept = tuple(choice for choice in kept if choice in before.choices)
        self._offers[run_id] = _Offer(kept, before.waiting + 1 if before else 1, now)
        self._offers.move_to_end(run_id)
        if len(self._offers) > self._limit:
            self._offers.popitem(last=False)

    def offered(self, run_id: str, now: float) -> tuple[str, ...] | None:
        """Return the choices that are offered; None when no prompt of the run is known to wait."""
        offer = self._fresh(run_id, now)
        return offer.choices if offer else None

    def withdraw(self, run_id: str, *, every: bool = False) -> None:
        """Note that one prompt of the run was answered, or that none waits any more."""
        offer = self._offers.get(run_id)
        if offer is None:
            return
        if every or offer.waiting == 1:
            del self._offers[run_id]
        else:
            self._offers[run_id] = _Offer(offer.choices, offer.waiting - 1, offer.at)

    def _fresh(self, run_id: str, now: float) -> _Offer | None:
        offer = self._offers.get(run_id)
        if offer is not None and now - offer.at > MAX_OFFER_AGE_S:
            del self._offers[run_id]
            return None
        return offer
