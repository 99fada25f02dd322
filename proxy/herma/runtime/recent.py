"""What the console shows of the data plane: the last refusals, the decisions of each minute, and what is under way.

All of it is bounded. What a caller without a credential causes is kept apart from the rest, so that a flood of it does not wash away
what somebody with a key tried.
"""

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from herma.config.upstream import DEFAULT_UPSTREAM
from herma.console import PASSED, REPORTED, Found, Minute, Open, Refused, series_of
from herma.ingress import Meter, Record
from herma.policy.decision import Finding

__all__ = ["MAX_OPEN", "Recent", "under_way"]

MAX_REFUSALS: Final = 150
MAX_STRANGERS: Final = 50
MAX_MINUTES: Final = 61
# A page that names more is not read to its end.
MAX_OPEN: Final = 64
MAX_RULES: Final = 8

_SWITCHED: Final = 101

type Counts = dict[int, dict[str, int]]


class Recent:
    """A meter that remembers for a while, and passes everything on to another; `now` is the time of day."""

    def __init__(self, meter: Meter, now: Callable[[], float] = time.time) -> None:
        self._meter = meter
        self._now = now
        self._refusals: deque[Refused] = deque(maxlen=MAX_REFUSALS)
        self._strangers: deque[Refused] = deque(maxlen=MAX_STRANGERS)
        self._minutes: Counts = {}

    def exchange(self, record: Record, finished: float) -> None:
        """Count one finished exchange, and keep it when it was refused."""
        self._meter.exchange(record, finished)
        now = self._now()
        self._add(int(now) // 60 * 60, _decision(record), 1)
        if record.code:
            self._keep(_refused(record, now))

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Add to a named event counter."""
        self._meter.count(name, label, amount)

    def merge(self, refusals: Iterable[Refused], counts: Mapping[int, Mapping[str, int]]) -> None:
        """Add what another process remembers."""
        for refused in refusals:
            self._keep(refused)
        for begins, row in counts.items():
            for name, amount in row.items():
                self._add(begins, name, amount)

    def take(self) -> tuple[list[Refused], Counts]:
        """Return all that is remembered and start again from nothing."""
        refusals, counts = [*self._strangers, *self._refusals], self._minutes
        self._refusals.clear()
        self._strangers.clear()
        self._minutes = {}
        return refusals, counts

    def refusals(self) -> tuple[Refused, ...]:
        """List the refusals that are remembered, the newest first."""
        kept = [*self._refusals, *self._strangers]
        return tuple(sorted(kept, key=lambda one: one.at, reverse=True))

    def refusal(self, exchange: str) -> Refused | None:
        """Return one refusal by the name of its exchange."""
        return next((one for one in self.refusals() if one.exchange == exchange), None)

    def minutes(self) -> tuple[Minute, ...]:
        """List the minutes of the last hour in which something was decided."""
        return tuple(Minute(begins, dict(counts)) for begins, counts in sorted(self._minutes.items()))

    def _keep(self, refused: Refused) -> None:
        (self._refusals if refused.who else self._strangers).append(refused)

    def _add(self, begins: int, name: str, amount: int) -> None:
        row = self._minutes.setdefault(begins, {})
        row[name] = row.get(name, 0) + amount
        while len(self._minutes) > MAX_MINUTES:
            del self._minutes[min(self._minutes)]


def under_way(active: Mapping[str, Record], monotonic: float, now: float) -> tuple[int, tuple[Open, ...]]:
    """Count the exchanges under way and describe those that are open for longest; both times are of this moment."""
    longest = heapq.nsmallest(MAX_OPEN, active.values(), key=lambda record: record.started)
    return len(active), tuple(
        Open(
            record.principal,
            record.operation,
            record.route,
            _kind(record),
            round(now - (monotonic - record.started), 1),
            _named(record),
        )
        for record in longest
    )


def _kind(record: Record) -> str:
    if record.status == _SWITCHED:
        return "socket"
    return "answer under way" if record.status else "request"


def _decision(record: Record) -> str:
    if record.code:
        return series_of(record.code)
    # What was masked in an answer is a finding too, but nothing that a check would have refused.
    would = sum(found.blocks for found in record.findings)
    return REPORTED if would > record.redactions else PASSED


def _refused(record: Record, now: float) -> Refused:
    return Refused(
        exchange=record.exchange,
        at=round(now, 3),
        who=record.principal,
        method=record.method,
        route=record.route,
        operation=record.operation,
        status=record.status,
        code=record.code,
        reason=record.reason,
        found=tuple(map(_found, record.findings[:MAX_RULES])),
        upstream=_named(record),
    )


def _named(record: Record) -> str:
    """Name the upstream of an exchange, unless it is the first, which needs no name."""
    return "" if record.upstream == DEFAULT_UPSTREAM else record.upstream


def _found(found: Finding) -> Found:
    return Found(found.rule_id, str(found.level), found.shown_place, found.attack)
