"""Tokens that may be used once (RFC 7519 section 4.1.7): which were, for as long as they would still be taken.

Rules of the file:

1. A token that was used is remembered until nobody takes it any more, whoever else comes: where there is no room, newcomers are
   refused, and nothing is forgotten early.
2. What was used before there was a memory is not in it. So a token that was issued before then counts as used.
"""

import heapq
from dataclasses import dataclass
from enum import StrEnum

from herma.policy.token.claims import LEEWAY_S

__all__ = ["MARGIN_S", "MAX_SPENT", "Once", "Spending", "SpentTokens", "outdated"]

# Ids of 64 characters. At the longest lifetime by default they are spent at 170 a second; a scheduler fires some a minute.
MAX_SPENT = 65_536
# Clocks of the machines that share a memory differ, and the one that forgets is not the one that judges.
MARGIN_S = 60.0


class Spending(StrEnum):
    """What became of the wish to use a token: it is the first time, it is not, it may not be, there is no room to note it."""

    FIRST = "first"
    AGAIN = "again"
    OUTDATED = "outdated"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Once:
    """A token that may be used once: what it is known by, when it was issued and until when it is taken, in seconds since 1970."""

    token_id: str
    issued: float
    expires: float

    @property
    def until(self) -> float:
        """Until when its use has to be remembered."""
        return self.expires + LEEWAY_S + MARGIN_S


def outdated(once: Once, since: float) -> bool:
    """Tell whether a token may have been used before a memory began, at `since`.

    A token is taken as soon as its issuer's clock, which may be fast by the leeway, lets it be.
    """
    return once.issued <= since + LEEWAY_S


class SpentTokens:
    """The tokens that were used since a time, at most `limit` of them."""

    def __init__(self, since: float, limit: int = MAX_SPENT) -> None:
        self._since = since
        self._limit = limit
        self._known: set[str] = set()
        self._ends: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._known)

    def spend(self, once: Once, now: float) -> Spending:
        """Note the use of a token, if it is the first; `now` in seconds since 1970."""
        while self._ends and self._ends[0][0] <= now:
            self._known.discard(heapq.heappop(self._ends)[1])
        if once.token_id in self._known:
            return Spending.AGAIN
        if outdated(once, self._since):
            return Spending.OUTDATED
        if len(self._known) >= self._limit:
            return Spending.FULL
        self._known.add(once.token_id)
        heapq.heappush(self._ends, (once.until, once.token_id))
        return Spending.FIRST
