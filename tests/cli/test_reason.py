"""A finding and its rule are shown."""

from herma.cli.reason import Reason, reason_lines, rules_as_json
from herma.policy.decision import Finding
from support.redactor import rule


def test_a_reason_tells_its_rule_and_where_that_is_defined() -> None:
    """And what is no rule tells only what it is."""
    made = rule("made-up")
    lines = list(reason_lines(Reason(Finding("made-up", place="/a", attack="T1552"), made, "made-up.yaml")))
    assert lines == [
        "made-up  high  T1552  at /a",
        "    Made up",
        "    For tests.",
        "    defined in made-up.yaml",
    ]
    bound = Reason(Finding("mcp-bound", exempted=True), None, "")
    assert list(reason_lines(bound)) == ["mcp-bound  high  -  at /, exempted"]


def test_only_rules_are_written_as_such() -> None:
    """For a script."""
    reasons = [Reason(Finding("made-up"), rule("made-up"), "f"), Reason(Finding("ioc-1"), None, "")]
    assert [(one["id"], one["file"]) for one in rules_as_json(reasons)] == [("made-up", "f")]
