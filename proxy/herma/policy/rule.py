"""A detection rule as data: what every family (redaction, cron, mcp) has in common.

Words are Sigma's. The loader (`herma.content.rules`) has checked a rule before anything here sees it: patterns lie in the
linear-time subset and the examples prove them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from herma.policy.decision import Finding, Level

__all__ = ["Examples", "Rule", "Status"]


class Status(StrEnum):
    """How far a rule is trusted (Sigma's words)."""

    EXPERIMENTAL = "experimental"
    TEST = "test"
    STABLE = "stable"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True)
class Examples:
    """Text that the rule must match, and text close to the line that it must not."""

    match: tuple[str, ...]
    no_match: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `id` is the file's name and is never reused.

    `keywords` are lower-case literals: text whose lower-cased form holds none of them cannot match. `pattern` is empty
    when the family judges in code and takes only words and thresholds from `options`. `tags` are ATT&CK ids, `T1053.003`.
    """

    id: str
    family: str
    title: str
    status: Status
    level: Level
    description: str
    examples: Examples
    references: tuple[str, ...] = ()
    falsepositives: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    pattern: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def finding(self, place: str = "") -> Finding:
        """Say that the rule applied at `place`."""
        return Finding(self.id, self.level, place, self.tags[0] if self.tags else "")
