"""Rules as values."""

from herma.policy.decision import Finding, Level
from support.redactor import rule


def test_a_finding_names_rule_level_place_and_technique() -> None:
    """What is reported of a rule is everything but the text."""
    assert rule().finding("/command") == Finding("made-up", Level.HIGH, "/command", "T1552")


def test_a_rule_without_tags_reports_no_technique() -> None:
    """The technique is optional."""
    plain = rule()
    object.__setattr__(plain, "tags", ())
    assert plain.finding().attack == ""
