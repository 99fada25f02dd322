"""What the audit keeps of one exchange."""

from herma.ingress.record import MAX_FINDINGS, Record
from herma.policy.decision import Finding


def _record() -> Record:
    return Record("0011223344556677", 1.0)


def test_findings_are_kept_in_their_order() -> None:
    """What was found first is told first."""
    record = _record()
    record.add((Finding("a"), Finding("b")))
    record.add([Finding("c")])
    assert [found.rule_id for found in record.findings] == ["a", "b", "c"]


def test_a_line_keeps_no_more_than_the_bound() -> None:
    """However many rules apply, a log line stays one line."""
    record = _record()
    record.add(Finding(f"r{number}") for number in range(MAX_FINDINGS - 1))
    record.add([Finding("last"), Finding("beyond")])
    record.add([Finding("far beyond")])
    assert len(record.findings) == MAX_FINDINGS
    assert record.findings[-1].rule_id == "last"


def test_records_do_not_share_their_findings() -> None:
    """What one exchange found is no other's."""
    first, second = _record(), _record()
    first.add([Finding("a")])
    assert second.findings == []
