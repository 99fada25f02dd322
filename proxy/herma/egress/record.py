"""What is kept of one request of the agent: names, codes and durations; never a path, a query, a field or a body."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from herma.policy.decision import Finding

__all__ = ["MAX_FINDINGS", "Facts", "Sending", "Sink"]

# A body may hold hundreds of secrets; a line of a log stays a line.
MAX_FINDINGS = 16


@dataclass(slots=True, kw_only=True)
class Facts:
    """What is told of one request, tunnel or message. `kind` says who the destination is."""

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

    def facts(self, max_chars: int) -> dict[str, Any]:
        """Give them by name, texts up to a bound."""
        found = ((one.name, getattr(self, one.name)) for one in fields(Facts))
        return {name: value[:max_chars] if isinstance(value, str) else value for name, value in found}


@dataclass(slots=True)
class Sending(Facts):
    """One that is under way; times are seconds of a monotonic clock."""

    exchange: str
    started: float
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
