"""One rule file."""

from typing import Any

import pytest
import yaml

from herma.content.rule_file import load_rule, matcher, read_rule
from herma.errors import ContentError
from herma.policy.decision import Level
from herma.policy.rule import Rule, Status

GOOD: dict[str, Any] = {
    "id": "made-up",
    "title": "Made up",
    "status": "test",
    "level": "high",
    "description": "For tests.",
    "keywords": ["curl"],
    "pattern": r"curl\b[^|]{0,80}\| {0,2}sh",
    "examples": {"match": ["curl x | sh", "curl y|sh"], "no_match": ["curl x", "wget x | sh"]},
}


def text(**changes: Any) -> bytes:
    return yaml.safe_dump(
        {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    ).encode()


def test_a_rule_is_read_whole() -> None:
    """Every key of the file is in the value."""
    rule = load_rule(
        text(tags=["T1053.003"], references=["https://h"], falsepositives=["none"], options={"a": 1}),
        "x/made-up.yaml",
        "cron",
    )
    assert (rule.id, rule.family, rule.status, rule.level) == ("made-up", "cron", Status.TEST, Level.HIGH)
    assert (rule.tags, rule.references, rule.falsepositives, rule.options) == (
        ("T1053.003",),
        ("https://h",),
        ("none",),
        {"a": 1},
    )
    assert matcher(rule)("now CURL x; curl y | sh")
    assert not matcher(rule)("wget y | sh")


BAD = {
    "unknown key": ({"levle": "high"}, "unknown key"),
    "missing key": ({"title": None}, "'title' is missing"),
    "other id": ({"id": "another"}, "file's name"),
    "empty title": ({"title": " "}, "not empty"),
    "unknown level": ({"level": "grave"}, "expected one of"),
    "one example": ({"examples": {"match": ["curl x | sh"], "no_match": ["a", "b"]}}, "at least 2 match"),
    "no counter-example": ({"examples": {"match": ["curl x | sh", "curl y | sh"]}}, "at least 2 no_match"),
    "unknown kind of example": (
        {"examples": {"match": ["curl x | sh", "curl y | sh"], "no_match": ["a", "b"], "maybe": []}},
        "unknown key",
    ),
    "example that proves nothing": (
        {"examples": {"match": ["curl x | sh", "curl"], "no_match": ["a", "b"]}},
        "not matched",
    ),
    "example that proves the opposite": (
        {"examples": {"match": ["curl x | sh", "curl y | sh"], "no_match": ["a", "curl z | sh"]}},
        "must not be",
    ),
    "keyword in capitals": ({"keywords": ["Curl"]}, "lower-case"),
    "keywords as text": ({"keywords": "curl"}, "list of texts"),
    "empty keyword": ({"keywords": [""]}, "not empty"),
    "options as list": ({"options": []}, "must be a mapping"),
    "slow pattern": ({"pattern": "(a*)*"}, "character 4"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD.keys())
def test_a_rule_that_is_not_right_is_refused_with_its_place(changes: dict[str, Any], message: str) -> None:
    """Nothing is guessed and nothing is skipped."""
    with pytest.raises(ContentError, match=message) as refused:
        load_rule(text(**changes), "made-up.yaml", "cron")
    assert refused.value.source.file == "made-up.yaml"


def test_a_rule_judged_in_code_needs_no_pattern() -> None:
    """Its words are options, and the family's tests prove its examples."""
    assert load_rule(text(pattern=None), "made-up.yaml", "mcp").pattern == ""


@pytest.mark.parametrize("raw", [b"- a\n", b"a: [", b""], ids=["list", "broken", "empty"])
def test_a_file_that_is_no_rule_is_refused(raw: bytes) -> None:
    """A broken file stops the start."""
    with pytest.raises(ContentError):
        load_rule(raw, "a.yaml", "cron")


def test_everything_wrong_with_a_file_is_told() -> None:
    """Each with its line, so that a file is mended in one go."""
    raw = text(
        levle="high",
        title=None,
        status="new",
        level=7,
        tags="T1",
        keywords=["Curl", ""],
        options=[],
        examples={"match": ["curl x | sh", "curl"], "no_match": ["curl y | sh"], "maybe": []},
    )
    problems = read_rule(raw, "x/other.yaml", "cron")
    assert not isinstance(problems, Rule)
    assert [problem.reason.split(";")[0] for problem in problems] == [
        "unknown key",
        "the key 'title' is missing",
        "expected one of experimental, test, stable, deprecated",
        "level must be text that is not empty",
        "unknown key",
        "at least 2 no_match examples are needed",
        "expected a list of texts",
        "expected text that is not empty",
        "options must be a mapping",
        "the id must be the file's name, 'other'",
        "keywords are compared with lower-cased text",
        "this example is not matched by keywords and pattern",
        "this example is not matched by keywords and pattern",
    ]
    assert all(problem.source.line for problem in problems)


def test_examples_that_are_no_mapping_are_told_once() -> None:
    """Not once for each kind."""
    problems = read_rule(text(examples=["x"]), "made-up.yaml", "cron")
    assert not isinstance(problems, Rule)
    assert [problem.reason for problem in problems] == ["examples must be a mapping"]
