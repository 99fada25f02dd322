"""What is kept of a request."""

from herma.egress.record import MAX_FINDINGS, Sending
from herma.policy.decision import Finding


def test_findings_have_a_bound() -> None:
    """The first ones are kept."""
    sending = Sending("1", 0.0)
    sending.add([Finding("a")])
    sending.add(Finding(f"b{number}") for number in range(100))
    assert len(sending.findings) == MAX_FINDINGS
    assert sending.findings[0] == Finding("a")
    sending.add([Finding("c")])
    assert len(sending.findings) == MAX_FINDINGS
