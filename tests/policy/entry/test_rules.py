"""Every rule for entries proves itself on whole entries, not on lines alone."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.finder import entries
from herma.policy.rule import Rule
from support.guard_content import entry_judge, rules

# Effects that no list names.
_BY_CODE = frozenset(
    {
        "runs:input",
        "runs:output",
        "runs:temporary",
        "runs:scratch",
        "runs:project",
        "code:foreign",
        "env:doubtful",
        "setting:mount",
    }
)


def _entries(rule: Rule, example: str) -> list[Entry]:
    """Write an example as the kind of entry that the rule says it is of; a command is run by a shell."""
    match rule.options.get("of", "command"):
        case "argv":
            command, *args = shlex.split(example)
            return [Entry("x", {"command": command, "args": args}, "")]
        case "env":
            name, _, value = example.partition("=")
            return [Entry("x", {"command": "x", "env": {name: value}}, "")]
        case "url":
            return [Entry("x", {"url": example}, "")]
        case "entry":
            return [Entry("x", json.loads(example), "")]
        case "hook":
            return [Entry("x", {"command": example}, "", Kind.COMMAND)]
        case "body":
            return list(entries(json.loads(example)))
        case "setting":
            key, _, value = example.partition("=")
            return list(entries({key: value}))
        case _:
            return [Entry("x", {"command": "sh", "args": ["-c", example]}, "")]


def _examples(kind: str) -> Iterator[Any]:
    for rule in rules("mcp"):
        if not rule.pattern:
            for example in getattr(rule.examples, kind):
                yield pytest.param(rule, example, id=f"{rule.id}:{example[:32]}")


def _found(rule: Rule, example: str) -> bool:
    judge = entry_judge()
    return any(
        finding.rule_id == rule.id
        for entry in _entries(rule, example)
        for finding in judge.judge_entry(entry)
    )


@pytest.mark.parametrize(("rule", "example"), list(_examples("match")))
def test_a_rule_by_effects_applies_to_its_examples(rule: Rule, example: str) -> None:
    """What a rule says it is about, it finds."""
    assert _found(rule, example)


@pytest.mark.parametrize(("rule", "example"), list(_examples("no_match")))
def test_a_rule_by_effects_spares_its_counter_examples(rule: Rule, example: str) -> None:
    """What stands close to the line passes that rule."""
    assert not _found(rule, example)


def test_every_combination_is_made_of_effects_that_somebody_can_have() -> None:
    """A word misspelt in `when` would make a rule that never applies."""
    words = {word for rule in rules("mcp") for row in rule.options.get("when", ()) for word in row}
    lists = {
        (option, name)
        for rule in rules("mcp")
        for option in ("programs", "paths", "code", "names", "settings")
        for name in rule.options.get(option, {})
    }
    of = {
        "runs": "programs",
        "writes": "paths",
        "reads": "paths",
        "touches": "paths",
        "code": "code",
        "env": "names",
        "setting": "settings",
        "told": "settings",
    }
    unknown = {
        word
        for word in words
        if (kind := word.partition(":")[0]) in of
        and (of[kind], word.split(":")[1]) not in lists
        and word not in _BY_CODE
    }
    assert unknown == set()
