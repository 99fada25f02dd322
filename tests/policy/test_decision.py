"""What findings come to."""

import pytest

from herma.policy.decision import Finding, Level, Verdict, verdict


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([], Verdict.ALLOW),
        ([Level.INFORMATIONAL], Verdict.ALLOW),
        ([Level.LOW], Verdict.WARN),
        ([Level.INFORMATIONAL, Level.MEDIUM], Verdict.WARN),
        ([Level.MEDIUM, Level.HIGH], Verdict.BLOCK),
        ([Level.CRITICAL], Verdict.BLOCK),
    ],
)
def test_the_gravest_finding_decides(levels: list[Level], expected: Verdict) -> None:
    """High and critical block, low and medium warn, informational says nothing."""
    findings = [Finding("r", level) for level in levels]
    assert verdict(findings) is expected
    assert any(finding.blocks for finding in findings) is (expected is Verdict.BLOCK)
