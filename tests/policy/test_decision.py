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


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("", ""),
        ("/mcp_servers/files-2/args/3", "/mcp_servers/files-2/args/3"),
        ("header:Authorization", "header:Authorization"),
        ("/env/ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4ke", "/env/*"),
        ("/a sentence with blanks/é", "/*/*"),
    ],
)
def test_a_place_does_not_repeat_what_the_caller_hid_in_a_name(place: str, shown: str) -> None:
    """What looks like a name stays, anything else is a star."""
    assert Finding("r", place=place).shown_place == shown
