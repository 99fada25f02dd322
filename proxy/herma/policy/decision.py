"""What a check decides, and what it found.

A decision is one of `Allow`, `Rewrite` and `Deny`; take it apart with `match` and close with `assert_never`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Allow", "Decision", "Deny", "Finding", "Level", "Mode", "Rewrite", "Verdict", "verdict"]


class Level(StrEnum):
    """How grave a finding is (Sigma's words)."""

    INFORMATIONAL = "informational"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Verdict(StrEnum):
    """What the findings of one input come to."""

    BLOCK = "block"
    WARN = "warn"
    ALLOW = "allow"


class Mode(StrEnum):
    """What a check's refusal does: `enforce` refuses, `monitor` reports and passes, `off` does not run."""

    ENFORCE = "enforce"
    MONITOR = "monitor"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule or check that applied; names the place, never the text.

    `place` is a JSON Pointer (RFC 6901) or `header:Name`, `path`, `query`. `attack` is a MITRE ATT&CK id. An `exempted` one
    is informational, whatever its rule says.
    """

    rule_id: str
    level: Level = Level.HIGH
    place: str = ""
    attack: str = ""
    exempted: bool = False

    @property
    def blocks(self) -> bool:
        """Tell whether it refuses: `high` and `critical` do, lower levels only report."""
        return self.level in _BLOCKING

    @property
    def shown_place(self) -> str:
        """The place as it may be written down: a member's name is the caller's, and may be a secret itself."""
        return "/".join(step if _PLAIN_STEP.fullmatch(step) else "*" for step in self.place.split("/"))


# Names of members as people give them. A key or a token is longer and mixes digits in, a text has blanks.
_PLAIN_STEP = re.compile(r"[A-Za-z_.~:-]{0,64}|[\w.~:-]{1,20}", re.ASCII)
_BLOCKING = frozenset({Level.HIGH, Level.CRITICAL})


def verdict(findings: Iterable[Finding]) -> Verdict:
    """Give the gravest consequence of some findings; informational ones have none."""
    levels = {finding.level for finding in findings}
    if not levels.isdisjoint(_BLOCKING):
        return Verdict.BLOCK
    return Verdict.ALLOW if levels <= {Level.INFORMATIONAL} else Verdict.WARN


@dataclass(frozen=True, slots=True)
class Allow:
    """Let it pass as it is."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Let it pass with these bytes in place of the body."""

    body: bytes
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Deny:
    """Refuse.

    `code` is stable and starts with `herma.`; `message` is for the person who called and repeats nothing of the request.
    `retryable` is False for a policy refusal: repeating it gives the same answer.
    """

    status: int
    code: str
    message: str
    findings: tuple[Finding, ...] = ()
    retry_after_s: int | None = None
    retryable: bool = False
    close: bool = False


type Decision = Allow | Rewrite | Deny
