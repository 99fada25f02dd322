"""Counts of the data plane, kept so that those of several workers can be added up."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from herma.egress.line import Sent
from herma.ingress import Record

__all__ = ["BUCKETS_S", "Tally"]

# Seconds; agent turns take from milliseconds (a refusal) to many minutes.
BUCKETS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0, 1800.0)

# Labels come from closed sets (operations and codes of this code base, rule ids of the content), so this is never reached
# unless one of them leaks a caller's text; then counting stops instead of memory growing.
MAX_SERIES = 20_000

type Key = tuple[str, ...]


class Tally:
    """Sums by metric name and label values; the first part of a key is the name."""

    def __init__(self) -> None:
        self._sums: dict[Key, float] = {}

    def exchange(self, record: Record, finished: float) -> None:
        """Count one finished exchange."""
        operation = record.operation or "none"
        duration = finished - record.started
        self._add(("exchanges", operation, str(record.status), record.outcome), 1)
        self._add(("seconds_sum", operation), duration)
        self._add(("seconds_bucket", operation, str(bisect_left(BUCKETS_S, duration))), 1)
        self._add(("bytes", "in"), record.bytes_in)
        self._add(("bytes", "out"), record.bytes_out)
        if record.redactions:
            self._add(("redactions",), record.redactions)
        if record.code:
            self._add(("denials", record.code), 1)
        for found in record.findings:
            self._add(("findings", found.rule_id), 1)

    def sent(self, sent: Sent) -> None:
        """Count one request, tunnel or message of the agent."""
        self._add(("egress_requests", sent.kind, sent.outcome, sent.code), 1)
        self._add(("egress_bytes",), sent.bytes_out)
        self._add(("egress_redactions",), sent.redactions)
        for found in sent.findings:
            self._add(("findings", found.rule_id), 1)

    def hook_failed(self, hook: str, kind: str) -> None:
        """Count a hook of the egress gate that failed."""
        self._add(("egress_failed", hook, kind), 1)

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Add to a named event counter."""
        self._add(("events", name, label), amount)

    def merge(self, rows: Iterable[tuple[Key, float]]) -> None:
        """Add another tally's rows."""
        for key, amount in rows:
            self._add(key, amount)

    def take(self) -> list[tuple[Key, float]]:
        """Return all rows and start again from nothing."""
        rows = list(self._sums.items())
        self._sums.clear()
        return rows

    @property
    def sums(self) -> Mapping[Key, float]:
        """The rows as they stand."""
        return self._sums

    def _add(self, key: Key, amount: float) -> None:
        if key in self._sums:
            self._sums[key] += amount
        elif len(self._sums) < MAX_SERIES:
            self._sums[key] = amount
