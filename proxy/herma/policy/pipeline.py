"""Checks in order; an error in one is a refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, assert_never

from herma.policy.decision import Allow, Decision, Deny, Finding, Level, Mode, Rewrite
from herma.policy.exchange import Exchange, Phase

__all__ = ["ALWAYS_ENFORCED", "Check", "Pipeline"]

ALWAYS_ENFORCED = frozenset({"auth_gate"})
"""Checks that no setting weakens: without them nothing behind the gate would be authenticated."""


class Check(Protocol):
    """One judgement of a request.

    `id` names it in the configuration (`checks.<id>.mode`), the audit and the documentation.
    """

    id: ClassVar[str]
    phases: ClassVar[frozenset[Phase]]

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:
        """Judge the exchange; never raise for hostile input, and never change it."""
        ...


class Pipeline:
    """An ordered, non-empty chain of checks."""

    def __init__(self, checks: Sequence[Check], modes: Mapping[str, Mode]) -> None:
        if not checks:
            raise ValueError("a pipeline without checks would allow everything")
        if any(modes.get(name, Mode.ENFORCE) is not Mode.ENFORCE for name in ALWAYS_ENFORCED):
            raise ValueError("authentication is always enforced")
        self._by_phase = {
            phase: tuple(
                (check, modes.get(check.id, Mode.ENFORCE))
                for check in checks
                if phase in check.phases and modes.get(check.id, Mode.ENFORCE) is not Mode.OFF
            )
            for phase in Phase
        }

    def decide(self, exchange: Exchange, phase: Phase) -> Allow | Deny:
        """Ask every check of the phase in order; the first refusal that is enforced ends it.

        Findings of checks that passed or only monitor travel with the answer.
        """
        findings: tuple[Finding, ...] = ()
        for check, mode in self._by_phase[phase]:
            try:
                decision = check.decide(exchange, phase)
            except Exception:  # noqa: BLE001 - one of the three places: an error in a check denies
                decision = Deny(
                    500,
                    "herma.internal",
                    "The request could not be judged and was refused.",
                    (Finding(f"{check.id}.error", Level.CRITICAL),),
                )
            match decision:
                case Allow():
                    findings += decision.findings
                case Deny():
                    # An error is never an allow, not even for a check that only monitors.
                    if mode is Mode.ENFORCE or decision.code == "herma.internal":
                        return replace(decision, findings=findings + decision.findings)
                    findings += decision.findings or (Finding(check.id),)
                case Rewrite():
                    raise TypeError(
                        f"check {check.id} rewrote a request: what is judged is what is forwarded"
                    )
                case _:
                    assert_never(decision)
        return Allow(findings)
