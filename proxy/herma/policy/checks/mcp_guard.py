"""MCP server entries in any body: refused when they would persist, download, exfiltrate, or open a way in."""

from typing import Any, ClassVar, Final

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.entry.finder import Entry, entries, may_hold_entry
from herma.policy.entry.judge import OVERSIZE, EntryJudge, Trace
from herma.policy.exchange import Exchange, Phase
from herma.policy.exemption import NONE, Exemptions

__all__ = ["McpGuard"]

# Findings reported of one body; the first says enough.
MAX_FINDINGS = 32
# Text of all entries of one body. A configuration of fifty servers has some 15 KiB. Judging takes less than a millisecond
# for each KiB, and ten for text that is made to be slow.
MAX_JUDGED_CHARS = 32 * 1024
# An entry counts for this much at least: each takes half a millisecond, however short, and made to be slow two.
MIN_JUDGED_CHARS = 256


class McpGuard:
    """Looks for server entries by place and by shape, on every route, and judges each."""

    id: ClassVar[str] = "mcp_guard"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def __init__(self, judge: EntryJudge, exemptions: Exemptions = NONE) -> None:
        self._judge = judge
        self._exemptions = exemptions

    def trace(self, entry: Entry) -> Trace:
        """Tell what an entry is read as."""
        return self._judge.trace(entry)

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge every entry in the body; the first refusal names the effect."""
        document = exchange.document
        if document is None:
            return Allow()
        whole = exchange.match.route.operation.startswith("mcp.")
        if not whole and not document.form and not may_hold_entry(document.raw):
            return Allow()
        found: list[Finding] = []
        judged = 0
        value = _of_form(document.value) if document.form else document.value
        top = not exchange.match.known
        for entry in entries(value, whole=whole, top=top):
            judged += max(entry.weight(), MIN_JUDGED_CHARS)
            if judged > MAX_JUDGED_CHARS:
                return Deny(
                    413,
                    "herma.mcp.oversize",
                    "The body holds more server entries than can be judged.",
                    _gravest([*found, Finding(OVERSIZE, Level.HIGH, entry.place)]),
                )
            found += self._exemptions.of_entry(
                self._judge.judge_entry(entry),
                "" if entry.doubted else entry.name,
                entry.fields,
                exchange.match.route,
                exchange.today,
            )
            if any(finding.blocks for finding in found):
                # One refusal refuses the body; what is made to be slow gets no second turn.
                break
        reported = _gravest(found)
        if not reported or not reported[0].blocks:
            return Allow(reported)
        effect = self._judge.effect(reported[0])
        return Deny(
            403,
            "herma.ioc.match" if effect == "indicator" else f"herma.mcp.{effect}",
            _MESSAGES.get(effect, "The body holds an MCP server entry that the gate refuses."),
            reported,
        )


_MESSAGES: Final = {
    "endpoint": "The body sends prompts, or a provider's key, to an address that the gate refuses.",
    "guard": "The body holds a setting that turns a guard of the agent off.",
}


def _of_form(value: Any) -> Any:
    """Read the fields of a form as members: one that is there once is its text."""
    if not isinstance(value, dict):
        return value
    return {
        key: held[0] if isinstance(held, list) and len(held) == 1 else held for key, held in value.items()
    }


def _gravest(found: list[Finding]) -> tuple[Finding, ...]:
    """Give the findings to report: those that refuse first."""
    return tuple(sorted(found, key=lambda finding: not finding.blocks)[:MAX_FINDINGS])
