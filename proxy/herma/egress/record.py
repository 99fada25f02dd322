"""What is kept of one request of the agent: names, codes and durations; never a path, a query, a field or a body."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from herma.policy.decision import Finding

__all__ = ["MAX_FINDINGS", "Sending", "Sink"]

# A body may hold hundreds of secrets; a line of a log stays a line.
MAX_FINDINGS = 16


@dataclass(slots=True)
class Sending:
    """One request, tunnel or message; times are seconds of a monotonic clock. `kind` says who the destination is."""

    exchange: str
    started: float
    host: str = ""
    port: int = 0
    kind: str = ""
    platform: str = ""
    method: str = ""
    status: int = 0
    code: str = ""
    outcome: str = "answered"
    bytes_out: int = 0
    redactions: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, findings: Iterable[Finding]) -> None:
        """Keep the first findings, up to the bound."""
        self.findings.extend(list(findings)[: MAX_FINDINGS - len(self.findings)])


class Sink(Protocol):
    """Where the audit goes and the counts."""

    def sent(self, sending: Sending, finished: float) -> None:
        """Write one line. Must not raise."""
        ...

    def failed(self, hook: str, kind: str) -> None:
        """Say that a hook failed, by the kind of its error."""
        ...
