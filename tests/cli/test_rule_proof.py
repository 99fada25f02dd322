"""Proofs of own rules."""

from pathlib import Path
from typing import Any

import pytest

from herma.cli.rule_proof import prove_directory
from herma.config.settings import Content
from herma.config.values import FilePath
from herma.content import rules
from herma.content.library import Library
from support.rule_file import rule_text

SHIPPED = Library()
SHIPPED_RULES = Path(__file__).parents[2] / "rules"
CRON: dict[str, Any] = {
    "options": {"family": "acme"},
    "pattern": r"\bopen the vault door\b",
    "keywords": ["vault"],
    "examples": {
        "match": ["open the vault door", "please open the vault door now"],
        "no_match": ["the vault", "open the door"],
    },
}
REDACTION: dict[str, Any] = {
    "options": {"grammar": "format", "check": "any"},
    "pattern": r"acmetok_[A-Za-z0-9]{16,64}+",
    "keywords": ["acmetok_"],
    "examples": {
        "match": ["acmetok_F4keK3yF0rT3stF4ke", "x=acmetok_F4keK3yF0rT3stF4ke"],
        "no_match": ["acmetok_...", "acmetok"],
    },
}


def put(directory: Path, family: str, identifier: str = "acme-own", **changes: Any) -> Path:
    place = directory / family
    place.mkdir(exist_ok=True)
    (place / f"{identifier}.yaml").write_bytes(rule_text(id=identifier, **changes))
    return place


def told(directory: Path, library: Library = SHIPPED) -> list[str]:
    return [str(problem).replace(str(directory), "DIR") for problem in prove_directory(directory, library)[1]]


def test_right_rules_of_each_family_are_proved(tmp_path: Path) -> None:
    """With nothing to tell."""
    put(tmp_path, "mcp")
    put(tmp_path, "cron", "acme-vault", **CRON)
    put(tmp_path, "redaction", "acme-token", **REDACTION)
    found, problems = prove_directory(tmp_path, SHIPPED)
    assert [rule.id for rule in found] == ["acme-own", "acme-vault", "acme-token"]
    assert problems == []


def test_the_shipped_rules_are_proved_as_own_rules_are() -> None:
    """Every example, where it would stand: in a command, a name, a hook, a setting, a body."""
    assert told(SHIPPED_RULES) == []


def test_a_rule_about_a_body_is_proved_there(tmp_path: Path) -> None:
    """Not as a command; what is no document is looked at as a text."""
    options = {"effect": "endpoint", "of": "body", "when": [["endpoint:plain"]]}
    found = ['{"base_url": "http://llm.example.com/v1"}', '{"x": {"base_url": "http://llm.example.org/v1"}}']
    examples = {"match": found, "no_match": ["no document", '{"base_url": "https://llm.example.com/v1"}']}
    put(tmp_path, "mcp", options=options, examples=examples, pattern=None)
    assert told(tmp_path) == []


def test_the_directory_of_one_family_can_be_named(tmp_path: Path) -> None:
    """As well as the one above it."""
    place = put(tmp_path, "mcp")
    assert [rule.id for rule in prove_directory(place, SHIPPED)[0]] == ["acme-own"]


def test_every_problem_of_every_file_is_told(tmp_path: Path) -> None:
    """With file, line and column."""
    put(tmp_path, "mcp", "a", level="grave", status="new")
    put(tmp_path, "mcp", "b", pattern="(a*)*")
    (tmp_path / "mcp/c.yaml").write_bytes(b"#" * (rules.MAX_RULE_BYTES + 1))
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron/d.yaml").write_bytes(b"a: [")
    problems = told(tmp_path)
    assert [problem.split(":")[0] for problem in problems] == [
        "DIR/mcp/a.yaml",
        "DIR/mcp/a.yaml",
        "DIR/mcp/b.yaml",
        "DIR/mcp/c.yaml",
        "DIR/cron/d.yaml",
    ]
    assert "DIR/mcp/a.yaml:4:8: rule.invalid: expected one of informational" in problems[1]


def test_an_id_that_is_taken_is_told(tmp_path: Path) -> None:
    """Also when only the case differs; a rule of the library itself is not taken by itself."""
    taken = SHIPPED.rules("mcp")[0]
    put(tmp_path, "mcp", taken.id)
    (problem,) = told(tmp_path)
    assert f"taken by {SHIPPED.file_of(taken)}" in problem
    (tmp_path / f"mcp/{taken.id}.yaml").unlink()
    put(tmp_path, "mcp")
    own = Library(Content(rules_dirs=(FilePath(str(tmp_path)),)))
    assert told(tmp_path, own) == []
    put(tmp_path, "mcp", "ACME-OWN")
    assert any("taken by" in problem for problem in told(tmp_path))


UNPROVED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a pattern that no view shows": (
        "mcp",
        {
            "pattern": r"ACMECTL \S{1,9}",
            "keywords": [],
            "examples": {"match": ["ACMECTL wipe", "ACMECTL drop"], "no_match": ["acmectl", "x"]},
        },
        "not found where it would stand; patterns see lower-case text",
    ),
    "a prompt that is read in lower case": (
        "cron",
        {**CRON, "pattern": "VAULT [A-Z]{1,9}", "keywords": [], "examples": {
            "match": ["VAULT OPEN", "VAULT DOOR"], "no_match": ["vault", "x"]}},
        "not found where it would stand; patterns see a prompt",
    ),
    "a secret that is taken for a placeholder": (
        "redaction",
        {**REDACTION, "examples": {
            "match": ["acmetok_F4keK3yF0rT3stF4ke", "acmetok_xxxxxxxxxxxxxxxxxxxx"],
            "no_match": ["acmetok_...", f"password={'F4ke-horse_68'}"],
        }},
        "and must not be",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("family", "changes", "message"), UNPROVED.values(), ids=UNPROVED)
def test_examples_are_tried_where_they_would_stand(
    tmp_path: Path, family: str, changes: dict[str, Any], message: str
) -> None:
    """A pattern may be right for itself and yet never be asked, or be asked of more."""
    put(tmp_path, family, **changes)
    problems = told(tmp_path)
    assert any(message in problem for problem in problems), problems
    assert all(problem.startswith(f"DIR/{family}/acme-own.yaml:") for problem in problems)


def test_options_that_the_judge_cannot_use_are_told(tmp_path: Path) -> None:
    """The gate would not start with them."""
    put(tmp_path, "redaction", **{**REDACTION, "options": {"grammar": "nonsense", "check": "any"}})
    assert any("options" in problem or "grammar" in problem for problem in told(tmp_path))


def test_a_place_without_rules_is_told(tmp_path: Path) -> None:
    """Proving nothing would look like proving everything."""
    assert told(tmp_path) == [
        "DIR: rule.invalid: no rules here; they stand in directories called mcp, cron, redaction, egress"
    ]
    (tmp_path / "mcp").mkdir()
    assert "no rules here" in told(tmp_path)[0]


def test_more_files_than_rules_can_be_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home directory is no directory of rules."""
    put(tmp_path, "mcp")
    put(tmp_path, "mcp", "acme-two")
    library = Library()
    monkeypatch.setattr(rules, "MAX_RULES", 1)
    assert "more than 1 rule files" in told(tmp_path, library)[0]
