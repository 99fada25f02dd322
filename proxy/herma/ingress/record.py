"""What the audit keeps of one exchange: names, codes and durations; never a body, a header value or a query."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from herma.policy.decision import Finding

__all__ = ["AuditSink", "Meter", "Record"]

# A refusal lists at most this many rules: a hostile body may match hundreds, and a log line has to stay one line.
MAX_FINDINGS = 16


@dataclass(slots=True)
class Record:
    """One audit line in the making; times are seconds of a monotonic clock.

    `reason` is what a refusal tells the caller; it repeats nothing of the request. `job` is one that was started, by its id.
    `complete` is set when a stream has said itself that it is over: a caller who leaves then has all of it.
    """

    exchange: str
    started: float
    address: str = ""
    principal: str = ""
    upstream: str = ""
    method: str = ""
    route: str = ""
    operation: str = ""
    status: int = 0
    code: str = ""
    reason: str = ""
    outcome: str = "answered"
    job: str = ""
    complete: bool = False
    bytes_in: int = 0
    bytes_out: int = 0
    judged: float | None = None
    upstream_head: float | None = None
    findings: list[Finding] = field(default_factory=list)
    redactions: int = 0

    def add(self, findings: Iterable[Finding]) -> None:
        """Keep the first findings, up to the bound."""
        room = MAX_FINDINGS - len(self.findings)
        if room > 0:
            self.findings.extend(list(findings)[:room])


class AuditSink(Protocol):
    """Where audit lines go."""

    def write(self, record: Record, finished: float) -> None:
        """Write one line; `finished` is the monotonic time the exchange ended at. Must not raise."""
        ...


class Meter(Protocol):
    """Counters of the data plane; label values come from closed sets, never from a request."""

    def exchange(self, record: Record, finished: float) -> None:
        """Count one finished exchange."""
        ...

    def count(self, name: str, label: str = "", amount: float = 1.0) -> None:
        """Add to a named counter."""
        ...
