"""A finding with the rule behind it, and how both are shown."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from herma.policy.decision import Finding
from herma.policy.rule import Rule

__all__ = ["Reason", "reason_lines", "rules_as_json"]


@dataclass(frozen=True, slots=True)
class Reason:
    """A finding, and the rule behind it; None for an indicator or a bound."""

    finding: Finding
    rule: Rule | None
    file: str


def reason_lines(reason: Reason) -> Iterator[str]:
    """Show a reason to a person."""
    finding = reason.finding
    exempted = ", exempted" if finding.exempted else ""
    yield f"{finding.rule_id}  {finding.level}  {finding.attack or '-'}  at {finding.shown_place or '/'}{exempted}"
    if reason.rule is not None:
        yield f"    {reason.rule.title}"
        yield f"    {reason.rule.description}"
        yield from (f"    {link}" for link in reason.rule.references)
        yield f"    defined in {reason.file}"


def rules_as_json(reasons: Iterable[Reason]) -> list[dict[str, Any]]:
    """Write the rules behind some findings as JSON values."""
    return [
        {
            "id": rule.id,
            "title": rule.title,
            "description": rule.description,
            "references": list(rule.references),
            "file": reason.file,
        }
        for reason in reasons
        if (rule := reason.rule) is not None
    ]
