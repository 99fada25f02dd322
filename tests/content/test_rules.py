"""Reading rules."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from herma.content import rules
from herma.content.rules import load_rule, load_rules, matcher
from herma.errors import ContentError
from herma.policy.decision import Level
from herma.policy.rule import Status

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


def test_a_directory_is_read_in_order(tmp_path: Path) -> None:
    """Rules come ordered by id; other files are not rules."""
    for name in ("b", "a"):
        (tmp_path / f"{name}.yaml").write_bytes(text(id=name))
    (tmp_path / "README.md").touch()
    assert [rule.id for rule in load_rules(tmp_path, "cron")] == ["a", "b"]


def test_two_spellings_of_one_id_are_refused(tmp_path: Path) -> None:
    """A file system that folds case would hold only one of them."""
    (tmp_path / "a.yaml").write_bytes(text(id="a"))
    (tmp_path / "A.yaml").write_bytes(text(id="A"))
    with pytest.raises(ContentError, match="taken"):
        load_rules(tmp_path, "cron")


def test_no_rules_is_not_no_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty, missing or overfull directory, and an oversized or unreadable file, stop the start."""
    with pytest.raises(ContentError, match="without rules"):
        load_rules(tmp_path, "cron")
    with pytest.raises(ContentError, match="directory"):
        load_rules(tmp_path / "none", "cron")
    (tmp_path / "a.yaml").write_bytes(b"#" * (rules.MAX_RULE_BYTES + 1))
    with pytest.raises(ContentError, match="larger"):
        load_rules(tmp_path, "cron")
    (tmp_path / "a.yaml").unlink()
    (tmp_path / "a.yaml").mkdir()
    with pytest.raises(ContentError, match="cannot be read"):
        load_rules(tmp_path, "cron")
    monkeypatch.setattr(rules, "MAX_RULES", 0)
    with pytest.raises(ContentError, match="more than"):
        load_rules(tmp_path, "cron")
