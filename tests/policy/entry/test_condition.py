"""Claims about `herma.policy.entry.condition`."""

from typing import Any

from herma.policy.decision import Level
from herma.policy.entry.condition import Rulebook, RulePattern
from herma.policy.rule import Examples, Rule, Status


def _rule(rule_id: str, pattern: str = "", keywords: tuple[str, ...] = (), **options: Any) -> Rule:
    return Rule(
        rule_id,
        "mcp",
        "t",
        Status.TEST,
        Level.HIGH,
        "d",
        Examples((), ()),
        pattern=pattern,
        keywords=keywords,
        options=options,
    )


def _ids(book: Rulebook, shown: dict[str, str]) -> set[str]:
    return {rule.id for rule in book.by_pattern(shown)}


def test_a_pattern_is_asked_in_its_view_where_a_keyword_is() -> None:
    """The keyword may be in any view; the pattern must be in its own."""
    book = Rulebook([_rule("a", "x{1,4}y", ("xy", "yy"), view="argv"), _rule("b", "z"), _rule("c")])
    assert _ids(book, {"argv": "xxy", "any": ""}) == {"a"}
    assert _ids(book, {"argv": "", "any": "xy"}) == set()
    assert _ids(book, {"argv": "xz y", "any": "z xy"}) == {"b"}


def test_a_combination_applies_when_all_of_it_is_there() -> None:
    """Each row of `when` is enough; a part of a row is not."""
    book = Rulebook([_rule("a", when=[["x", "y"], ["z"]])])
    assert [rule.id for rule in book.by_effect({"x"})] == []
    assert {rule.id for rule in book.by_effect({"x", "y"})} == {"a"}
    assert {rule.id for rule in book.by_effect({"z"})} == {"a"}


def test_a_single_pattern_can_be_asked() -> None:
    """Keywords come first; without a pattern nothing matches."""
    assert RulePattern(_rule("a", "b", ("b",))).matches("abc")
    assert not RulePattern(_rule("a", "b", ("x",))).matches("abc")
    assert not RulePattern(_rule("a")).matches("abc")
    assert not RulePattern(_rule("a")).found("abc")
