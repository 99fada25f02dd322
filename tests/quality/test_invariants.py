"""What must hold for every line of the corpora, right or wrong."""

from typing import Any

import pytest

from herma.policy.entry.finder import Entry
from herma.policy.text.views import views
from quality.lines import SHIPPED, lines
from support.guard_content import entry_judge
from support.redactor import redactor

TEXTS = ("secrets", "hard_secrets", "clean", "hard_clean")


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stem", ["mcp_benign", "mcp_malicious"])
def test_a_verdict_does_not_depend_on_the_order_of_keys(stem: str) -> None:
    """An entry with its members the other way round, at every depth, has the same findings."""
    other = [
        line["id"]
        for line in lines(SHIPPED, stem)
        if set(entry_judge().judge_entry(Entry(line["name"], line["entry"], "")))
        != set(entry_judge().judge_entry(Entry(line["name"], _reversed(line["entry"]), "")))
    ]
    assert other == []


@pytest.mark.parametrize("stem", TEXTS)
def test_a_second_look_finds_nothing(stem: str) -> None:
    """What was masked is no secret, and nothing beside it becomes one."""
    other = [
        line["id"]
        for line in lines(SHIPPED, stem)
        if (once := redactor().text(line["text"]).text) != redactor().text(once).text
    ]
    assert other == []


@pytest.mark.parametrize("stem", ["cron_benign", "cron_malicious"])
def test_a_normal_text_stays_as_it_is(stem: str) -> None:
    """Normalising once is normalising for good, in every language of the corpus."""
    other = [
        line["id"]
        for line in lines(SHIPPED, stem)
        for once in [views(line["prompt"])]
        if views(once.plain).plain != once.plain or views(once.folded).folded != once.folded
    ]
    assert other == []
