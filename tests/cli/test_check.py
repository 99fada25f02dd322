"""`herma check`."""

from pathlib import Path

import pytest

from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import herma


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    path = tmp_path / "herma.yaml"
    path.write_text(UPSTREAM + KEYS)
    return path


def test_right_file_is_fine(config: Path) -> None:
    """Exit code 0 and one line for a person."""
    said = herma(["check", "--config", config])
    assert (said.code, said.out, said.err) == (0, "", f"herma: {config} is fine\n")


def test_problems_stand_on_lines_of_their_own(config: Path) -> None:
    """Exit code 78; each line is what an editor jumps to."""
    config.write_text("workers: 0\n" + UPSTREAM + KEYS + "x: 1\n")
    said = herma(["check", "--config", config])
    assert said.code == 78
    assert said.out.splitlines()[0] == f"{config}:1:10: config.range: found 0, expected 1 to 128"
    assert said.err == f"herma: 2 problems in {config}\n"


def test_warnings_are_shown_and_do_not_fail(config: Path) -> None:
    """A file that works is fine, with what should not stay."""
    config.write_text(UPSTREAM)
    said = herma(["check", "--config", config, "--insecure"])
    assert said.code == 0
    assert "warning: auth.none" in said.out
    assert "command line: warning: config.insecure: --insecure changes nothing" in said.out
    assert said.err.endswith("is fine, 2 warnings\n")


def test_answer_in_json(config: Path) -> None:
    """A script gets the same, with places as numbers."""
    config.write_text("workers: 0\n" + UPSTREAM + KEYS)
    said = herma(["check", "--json", "--config", config])
    assert said.code == 78
    assert said.json() == {
        "file": str(config),
        "ok": False,
        "digest": "",
        "problems": [
            {
                "file": str(config),
                "line": 1,
                "column": 10,
                "code": "config.range",
                "message": "found 0, expected 1 to 128",
            }
        ],
        "warnings": [],
    }
    config.write_text(UPSTREAM)
    fine = herma(["check", "--json", "--config", config]).json()
    assert fine["ok"]
    assert len(fine["digest"]) == 64
    assert [warning["code"] for warning in fine["warnings"]] == ["auth.none"]


def test_missing_file_is_78(tmp_path: Path) -> None:
    """It names the command that writes one."""
    said = herma(["check", "--config", tmp_path / "missing.yaml"])
    assert said.code == 78
    assert "herma init" in said.out


def test_no_secret_and_no_escape_is_printed(config: Path) -> None:
    """Whatever is wrong with the file, keys stay inside, and no byte a terminal obeys gets out."""
    config.write_text(
        f'"\\e[31mx": 1\nauth: {{keys: [{{name: "\\e[31m", key: "{FAKE_KEY}", scopes: ["{FAKE_KEY}"], x: "{FAKE_KEY}"}}]}}\n'
    )
    said = herma(["check", "--config", config])
    assert said.code == 78
    assert "\x1b" not in said.out + said.err
    assert FAKE_KEY not in said.out + said.err
