"""The order of the checks, and how they are made from content and settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from herma.policy.checks.approval_gate import ApprovalGate
from herma.policy.checks.auth_gate import AuthGate
from herma.policy.checks.cron_scan import CronScan
from herma.policy.checks.indicator_guard import IndicatorGuard
from herma.policy.checks.mask_guard import MaskGuard
from herma.policy.checks.mcp_guard import McpGuard
from herma.policy.checks.path_guard import PathGuard
from herma.policy.checks.route_gate import RouteGate
from herma.policy.checks.session_header import SessionHeader
from herma.policy.entry.judge import EntryJudge
from herma.policy.exemption import NONE, Exemptions
from herma.policy.indicator import IndicatorSet
from herma.policy.pipeline import Check
from herma.policy.prompt.likeness import Likeness
from herma.policy.prompt.scan import PromptScan
from herma.policy.prompt.vocabulary import Vocabulary
from herma.policy.rule import Rule

__all__ = ["CHECKS", "CheckSettings", "RuleSet", "build_checks"]

CHECKS: tuple[type[Check], ...] = (
    # On the head, before a body is read:
    AuthGate,  # who is asking: first, so that a stranger learns nothing from what any other check answers
    RouteGate,  # which routes there are: a stranger is not told
    PathGuard,  # what a query or a body names as a file: on both
    SessionHeader,  # the form of names that become file names; whose they are is a question for the store
    # On the body, once `read_document` gave it one meaning:
    ApprovalGate,  # the cheapest, and on its route the only one that matters
    MaskGuard,  # before whatever reads texts closely; an accident, and no attack
    McpGuard,  # before the indicators: its refusal says what an entry would do, theirs only that it is known
    CronScan,  # the same for jobs
    IndicatorGuard,  # last: everything that the others had no reason to look at
)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The content that the checks judge by."""

    cron: Sequence[Rule]
    mcp: Sequence[Rule]
    words: Vocabulary
    indicators: IndicatorSet
    exemptions: Exemptions = NONE
    likeness: Likeness | None = None


class CheckSettings(Protocol):
    """The part of the settings that the checks depend on."""

    @property
    def strict(self) -> bool:
        """Refuse routes that the profile does not know."""
        ...


def build_checks(rules: RuleSet, settings: CheckSettings) -> tuple[Check, ...]:
    """Make every check of `CHECKS`, in that order.

    Raises:
        ValueError: a family of rules is empty; it would find nothing.
    """
    if not rules.cron or not rules.mcp:
        raise ValueError("a guard without rules would find nothing")
    makers: dict[type[Check], Callable[[], Check]] = {
        AuthGate: AuthGate,
        RouteGate: lambda: RouteGate(strict=settings.strict),
        SessionHeader: SessionHeader,
        ApprovalGate: ApprovalGate,
        MaskGuard: MaskGuard,
        PathGuard: PathGuard,
        McpGuard: lambda: McpGuard(EntryJudge(rules.mcp, rules.indicators), rules.exemptions),
        CronScan: lambda: CronScan(
            PromptScan(rules.cron, rules.mcp, rules.words, rules.likeness), rules.exemptions
        ),
        IndicatorGuard: lambda: IndicatorGuard(rules.indicators),
    }
    return tuple(makers[check]() for check in CHECKS)
