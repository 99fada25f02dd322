"""Finding the data that ships with the program."""

from pathlib import Path

import pytest

from herma.content.shipped import _find, data_dir
from herma.errors import ContentError


def test_the_redaction_rules_are_found() -> None:
    """In a checkout and in an installed package."""
    assert any(entry.name.endswith(".yaml") for entry in data_dir("rules/redaction").iterdir())


def test_the_installed_data_wins(tmp_path: Path) -> None:
    """A package reads what was installed with it."""
    (tmp_path / "pkg" / "rules").mkdir(parents=True)
    (tmp_path / "rules").mkdir()
    (tmp_path / "pyproject.toml").touch()
    assert _find("rules", tmp_path / "pkg", tmp_path) == tmp_path / "pkg" / "rules"
    assert _find("rules", tmp_path / "none", tmp_path) == tmp_path / "rules"


def test_a_directory_that_is_no_checkout_is_not_read(tmp_path: Path) -> None:
    """Whatever lies three directories up from an installed package is not ours."""
    (tmp_path / "rules").mkdir()
    with pytest.raises(ContentError, match="missing"):
        _find("rules", tmp_path / "none", tmp_path)
