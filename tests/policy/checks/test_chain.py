"""Claims about `herma.policy.checks.chain`."""

from dataclasses import dataclass

import pytest

from herma.policy.checks import CHECKS, RuleSet, build_checks
from herma.policy.exchange import Phase
from support.guard_content import indicators, likeness, rules, words


@dataclass(frozen=True)
class Strict:
    strict: bool = True


def test_every_check_is_made_in_its_order() -> None:
    """The chain is the tuple, and every id is its own."""
    made = build_checks(
        RuleSet(rules("cron"), rules("mcp"), words(), indicators(), likeness=likeness()), Strict()
    )
    assert tuple(type(check) for check in made) == CHECKS
    assert len({check.id for check in made}) == len(CHECKS)


def test_the_head_is_judged_by_who_is_asking_first() -> None:
    """A stranger gets the same answer whatever else is wrong."""
    first = next(check for check in CHECKS if Phase.REQUEST_HEAD in check.phases)
    assert first.id == "auth_gate"


@pytest.mark.parametrize("empty", ["cron", "mcp"])
def test_a_guard_without_rules_is_an_error(empty: str) -> None:
    """No rules would be no findings, silently."""
    families = {"cron": rules("cron"), "mcp": rules("mcp"), empty: ()}
    with pytest.raises(ValueError, match="without rules"):
        build_checks(
            RuleSet(families["cron"], families["mcp"], words(), indicators(), likeness=likeness()), Strict()
        )
