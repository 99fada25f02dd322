"""`herma hygiene`."""

import os
import stat
from pathlib import Path

import pytest

from support.console import herma


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose settings everybody may read."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("model: x\n")
    (home / "config.yaml").chmod(0o644)
    return home


def test_what_is_wide_is_told_and_left(home: Path) -> None:
    """Without `--fix` nothing changes, and the exit code says that there is something to do."""
    said = herma(["hygiene", home])
    assert (said.code, said.out) == (1, "config.yaml: mode 0644, expected 0600; --fix narrows it\n")
    assert stat.S_IMODE((home / "config.yaml").stat().st_mode) == 0o644


def test_what_is_wide_is_narrowed(home: Path) -> None:
    """What was repaired is told once, is fine, and is silent from then on."""
    said = herma(["hygiene", home, "--fix"])
    assert (said.code, said.out) == (0, "config.yaml: mode 0644 was made 0600\n")
    assert "1 repaired, 0 left" in said.err
    again = herma(["hygiene", home, "--fix"])
    assert (again.code, again.out) == (0, "")


def test_scripts_read_json(home: Path) -> None:
    """With the path below the home, the modes and what became of it."""
    (home / ".env").symlink_to("/etc/hostname")
    said = herma(["hygiene", home, "--fix", "--json"])
    assert said.code == 1
    assert said.json() == {
        "ok": False,
        "looked": 2,
        "private": 2,
        "found": [
            {"path": ".env", "flaw": "link", "mode": "0000", "wanted": "0000", "fixed": False},
            {"path": "config.yaml", "flaw": "mode", "mode": "0644", "wanted": "0600", "fixed": True},
        ],
    }


def test_what_cannot_be_repaired_says_what_to_do(home: Path) -> None:
    """A link is for a person to judge."""
    (home / "auth.json").symlink_to("elsewhere")
    said = herma(["hygiene", home, "--fix"])
    assert said.code == 1
    assert "auth.json: is a link; put the file itself there\n" in said.out


def test_a_mode_that_stays_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without modes, or one that is read only."""
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    said = herma(["hygiene", home, "--fix"])
    assert (said.code, said.out) == (1, "config.yaml: mode 0644, expected 0600; it could not be changed\n")


def test_a_long_walk_says_how_far_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, so that the answer stays an answer."""
    monkeypatch.setattr("herma.posture.hygiene.PROGRESS_ENTRIES", 1)
    assert "herma: looked at 1 names\n" in herma(["hygiene", home, "--json"]).err


def test_another_directory_is_a_wrong_use(tmp_path: Path) -> None:
    """Nothing is changed in a directory that is no home."""
    said = herma(["hygiene", tmp_path, "--fix"])
    assert (said.code, said.out) == (2, "")
    assert "name the home of an agent server" in said.err
