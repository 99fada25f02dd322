"""Reading rules."""

from pathlib import Path

import pytest

from herma.content import rules
from herma.content.rules import load_rules
from herma.errors import ContentError
from support.rule_file import rule_text as text


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


def test_the_status_of_a_rule_says_what_it_may_do(tmp_path: Path) -> None:
    """A deprecated rule is proved and not used; an experimental one warns at most."""
    for number, (status, level) in enumerate(
        [("deprecated", "high"), ("experimental", "critical"), ("experimental", "low"), ("stable", "high")]
    ):
        name = f"rule-{number}"
        (tmp_path / f"{name}.yaml").write_bytes(text(id=name, status=status, level=level))
    found = {rule.id: rule.level.value for rule in load_rules(tmp_path, "mcp")}
    assert found == {"rule-1": "medium", "rule-2": "low", "rule-3": "high"}


def test_only_deprecated_rules_are_no_rules(tmp_path: Path) -> None:
    """Nothing would be found by them."""
    (tmp_path / "acme-own.yaml").write_bytes(text(status="deprecated"))
    with pytest.raises(ContentError, match="deprecated"):
        load_rules(tmp_path, "mcp")
