"""Claims about `herma.policy.indicator.indicator`."""

import pytest

from herma.policy.decision import Level
from herma.policy.indicator.indicator import Action, Indicator, Matching


@pytest.mark.parametrize(
    ("action", "level", "blocks"),
    [
        (Action.BLOCK, Level.CRITICAL, True),
        (Action.ALERT, Level.MEDIUM, False),
        (Action.CONTEXT, Level.INFORMATIONAL, False),
    ],
)
def test_the_action_says_how_grave_a_finding_is(action: Action, level: Level, blocks: bool) -> None:
    """Only `block` makes a finding that refuses; the finding names rule and place."""
    found = Indicator("x-01", "v", Matching.WORD, action, "x").finding("/a")
    assert (found.rule_id, found.level, found.place, found.blocks) == ("ioc-x-01", level, "/a", blocks)
