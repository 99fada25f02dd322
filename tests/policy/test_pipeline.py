"""Checks in order; an error in one is a refusal."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from herma.policy.decision import Allow, Decision, Deny, Finding, Level, Mode, Rewrite
from herma.policy.exchange import Phase
from herma.policy.pipeline import Pipeline

DENY = Deny(403, "herma.test", "no", (Finding("rule"),))
FOUND = Allow((Finding("seen", Level.LOW),))

# The pipeline hands the exchange on and never looks at it.
EXCHANGE: Any = object()


@dataclass
class _Fake:
    """A check that answers what it was told to, and counts."""

    id: ClassVar[str] = "fake"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})
    answer: Decision | Exception = field(default_factory=Allow)
    asked: int = 0

    def decide(self, exchange: Any, phase: Phase) -> Decision:
        assert exchange is EXCHANGE
        assert phase in self.phases
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class _Other(_Fake):
    id: ClassVar[str] = "other"


def _decide(*checks: _Fake, **modes: Mode) -> Decision:
    return Pipeline(checks, modes).decide(EXCHANGE, Phase.REQUEST_BODY)


def test_a_pipeline_without_checks_is_refused() -> None:
    """Nothing to ask must not mean yes."""
    with pytest.raises(ValueError, match="without checks"):
        Pipeline((), {})


def test_all_findings_travel_with_an_allow() -> None:
    """What passed but was noticed is told."""
    assert _decide(_Fake(FOUND), _Other(FOUND)) == Allow(FOUND.findings * 2)


def test_the_first_refusal_ends_it() -> None:
    """Later checks are not asked; earlier findings travel along."""
    last = _Other(Allow())
    decision = _decide(_Fake(FOUND), _Fake(DENY), last)
    assert isinstance(decision, Deny)
    assert (decision.code, decision.findings) == ("herma.test", FOUND.findings + DENY.findings)
    assert last.asked == 0


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.MONITOR])
def test_an_error_in_a_check_denies_in_every_mode(mode: Mode) -> None:
    """An error is never an allow, and its text is not shown."""
    decision = _decide(_Fake(RuntimeError("request data")), fake=mode)
    assert isinstance(decision, Deny)
    assert (decision.status, decision.code) == (500, "herma.internal")
    assert decision.findings == (Finding("fake.error", Level.CRITICAL),)
    assert "request data" not in repr(decision)


def test_monitor_reports_and_passes() -> None:
    """The refusal's findings are kept, and the next check is asked."""
    last = _Other(Allow())
    assert _decide(_Fake(DENY), last, fake=Mode.MONITOR) == Allow(DENY.findings)
    assert last.asked == 1


def test_monitor_reports_a_refusal_without_findings_by_the_checks_name() -> None:
    """Something is always told."""
    assert _decide(_Fake(Deny(403, "herma.test", "no")), fake=Mode.MONITOR) == Allow((Finding("fake"),))


def test_off_is_not_asked() -> None:
    """A check that is off does not run."""
    check = _Fake(DENY)
    assert _decide(check, fake=Mode.OFF) == Allow()
    assert check.asked == 0


def test_a_check_is_asked_in_its_phases_only() -> None:
    """What is judged with the body is not judged with the head."""
    check = _Fake(DENY)
    assert Pipeline((check,), {}).decide(EXCHANGE, Phase.REQUEST_HEAD) == Allow()
    assert check.asked == 0


def test_a_check_that_rewrites_a_request_is_a_mistake_that_is_seen() -> None:
    """What is judged is what is forwarded."""
    with pytest.raises(TypeError, match="rewrote a request"):
        _decide(_Fake(Rewrite(b"other")))


@pytest.mark.parametrize("mode", [Mode.MONITOR, Mode.OFF])
def test_authentication_is_not_weakened_by_a_mode(mode: Mode) -> None:
    """Whatever a configuration says, no pipeline comes into being that lets strangers pass."""
    with pytest.raises(ValueError, match="always enforced"):
        Pipeline((_Fake(),), {"auth_gate": mode})
