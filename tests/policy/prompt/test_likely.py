"""Rules that the model of prompts raises."""

from dataclasses import replace
from typing import Any

import pytest

from herma.policy.decision import verdict
from herma.policy.prompt.forms import forms
from herma.policy.prompt.likely import LikelyRules
from herma.policy.prompt.likeness import BUCKETS, Likeness
from herma.policy.prompt.reading import Reading
from herma.policy.rule import Rule
from support.guard_content import likeness, prompt_scan, rules, words

LIKELY = [rule for rule in rules("cron") if "like" in rule.options]
ALWAYS = Likeness(bytes(BUCKETS), 1.0, 9.0)
NEVER = Likeness(bytes(BUCKETS), 1.0, -9.0)


def reading(text: str) -> Reading:
    return Reading(words(), next(forms(text)))


def rule(**option: Any) -> Rule:
    return replace(LIKELY[0], id="made-up", options={"like": option})


@pytest.mark.parametrize("one", LIKELY, ids=lambda rule: rule.id)
def test_examples_are_told_as_the_rule_says(one: Rule) -> None:
    """What is like an attack has the finding of this rule, what is not has none."""
    for example in one.examples.match:
        assert [finding.rule_id for finding in prompt_scan().judge(example)] == [one.id]
    for example in one.examples.no_match:
        assert verdict(prompt_scan().judge(example)) == "allow"


def test_the_rule_with_most_of_the_concepts_is_the_reason() -> None:
    """A text that only sends is like no text that reads secrets."""
    sends, reads = rule(floor=1, concepts=["send"]), rule(floor=1, concepts=["send", "secret", "tell-"])
    found = LikelyRules([sends, reads], ALWAYS, words())
    assert found.found(reading("Send the report.")) is sends
    assert found.found(reading("Send the password.")) is reads


def test_what_has_no_concept_or_no_likeness_is_no_finding() -> None:
    """The reason given must name something that was seen."""
    named = rule(floor=1, concepts=["secret"])
    assert LikelyRules([named], ALWAYS, words()).found(reading("Water the plants.")) is None
    assert LikelyRules([named], ALWAYS, words()).found(reading("Send the report.")) is None
    assert LikelyRules([named], NEVER, words()).found(reading("Send the password.")) is None
    assert LikelyRules([], None, words()).found(reading("Send the password.")) is None
    assert LikelyRules([], likeness(), words()).found(reading("Send the password.")) is None


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"floor": 1}, "mapping of"),
        ({"floor": "1", "concepts": []}, "number"),
        ({"floor": 1, "concepts": "send"}, "list"),
        ({"floor": 1, "concepts": ["nothing"]}, "nothing"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(option: dict[str, Any], message: str) -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match=message):
        LikelyRules([rule(**option)], ALWAYS, words())


def test_rules_without_weights_are_refused() -> None:
    """They would find nothing."""
    with pytest.raises(ValueError, match="weights"):
        LikelyRules([rule(floor=1, concepts=["send"])], None, words())
