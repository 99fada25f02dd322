"""Answers to approval prompts: `always` rewrites the upstream's allowlist for everybody.

The upstream compares the choice after taking away case and blanks, knows three other words for `once`, and does not ask
whether the prompt offered what was chosen.
"""

from typing import Any, ClassVar

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase
from herma.policy.grant import Principal, Scope
from herma.policy.jsondoc import Document

__all__ = ["ApprovalGate", "judge_choice", "normal_choice"]

_ALIASES = {"approve": "once", "approved": "once", "allow": "once"}
_CHOICES = frozenset({"once", "session", "always", "deny"})
# Without a prompt seen by this gate nobody can say what was offered: these two every prompt offers.
_ALWAYS_OFFERED = ("once", "deny")


class ApprovalGate:
    """Keeps `always`, and answers to all prompts at once, for keys with the scope `admin`."""

    id: ClassVar[str] = "approval_gate"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Judge what can be judged without the prompt; the ingress asks `judge_choice` for the rest."""
        route, document = exchange.match.route, exchange.document
        if "approval" not in route.checks or document is None:
            return Allow()
        if not exchange.match.known and not (isinstance(document.value, dict) and "choice" in document.value):
            return Allow()
        return _judge(document.value, exchange.principal)


def normal_choice(value: Any) -> str | None:
    """Read a choice as the upstream does; None for what it would not take."""
    if not isinstance(value, str):
        return None
    choice = value.strip().lower()
    choice = _ALIASES.get(choice, choice)
    return choice if choice in _CHOICES else None


def judge_choice(
    document: Document | None, principal: Principal, offered: tuple[str, ...] | None
) -> Allow | Deny:
    """Judge an answer against what the prompt offered.

    `offered` is None when this gate saw no prompt of the run (it was restarted, or nobody watches the events): then only
    `once` and `deny` pass, unless the key has the scope `admin`. `deny` always passes: it does nothing.
    """
    value = document.value if document is not None else None
    decision = _judge(value, principal)
    if isinstance(decision, Deny):
        return decision
    choice = normal_choice(value.get("choice")) if isinstance(value, dict) else None
    if offered is None and principal.may(Scope.ADMIN):
        return Allow()
    if choice == "deny" or choice in (_ALWAYS_OFFERED if offered is None else map(normal_choice, offered)):
        return Allow()
    return Deny(
        409,
        "herma.approval.not_offered",
        "The prompt did not offer this choice.",
        (Finding("approval-not-offered", Level.MEDIUM, "/choice"),),
    )


def _judge(value: Any, principal: Principal | None) -> Allow | Deny:
    choice = normal_choice(value.get("choice")) if isinstance(value, dict) else None
    if choice is None:
        return Deny(400, "herma.approval.choice", "The choice must be one of once, session, always and deny.")
    if principal is not None and principal.may(Scope.ADMIN):
        return Allow()
    if choice == "always":
        return Deny(
            403,
            "herma.approval.always",
            "Approving for always changes the agent for everybody and needs the scope admin.",
            (Finding("approval-always", Level.HIGH, "/choice", "T1548"),),
        )
    for name in ("all", "resolve_all"):
        if value.get(name):
            return Deny(
                403,
                "herma.approval.all",
                "Answering every waiting prompt at once needs the scope admin.",
                (Finding("approval-all", Level.HIGH, f"/{name}", "T1548"),),
            )
    return Allow()
