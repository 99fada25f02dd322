"""Homes of agent servers, tidy and not."""

import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from herma.posture import Flaw, HomeError, tidy
from herma.posture.hygiene import MAX_DEPTH


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home as a careful agent server leaves it."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    _write(home / "config.yaml", 0o600)
    return home


def _write(path: Path, mode: int) -> Path:
    path.write_text("synthetic\n")
    path.chmod(mode)
    return path


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _told(home: Path, *, fix: bool = False) -> list[tuple[str, Flaw, bool]]:
    return [(one.path, one.flaw, one.fixed) for one in tidy(str(home), fix=fix).found]


def test_a_tidy_home_is_silent(home: Path) -> None:
    """Nothing is found, and what is not private may be read by all."""
    _write(home / "SOUL.md", 0o644)
    assert _told(home, fix=True) == []
    assert _mode(home / "SOUL.md") == 0o644


def test_a_database_is_closed_with_its_log_and_index(home: Path) -> None:
    """What was said last is in the log, not in the database; the agent server goes on with all of them."""
    with sqlite3.connect(home / "response_store.db") as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table t (x)")
        names = ["response_store.db", "response_store.db-shm", "response_store.db-wal"]
        for name in names:
            (home / name).chmod(0o644)
        assert _told(home, fix=True) == [(name, Flaw.MODE, True) for name in names]
        assert {_mode(home / name) for name in names} == {0o600}
        database.execute("insert into t values (1)")
    database.close()


def test_directories_and_profiles_are_closed(home: Path) -> None:
    """The home, private trees and profiles at 0700; directories on the way lose only what lets others write."""
    (home / "mcp-tokens").mkdir()
    (home / "cache").mkdir()
    (home / "profiles" / "home").mkdir(parents=True)
    for path, mode in (
        ("mcp-tokens", 0o755),
        ("cache", 0o777),
        ("profiles", 0o755),
        ("profiles/home", 0o750),
        (".", 0o755),
    ):
        (home / path).chmod(mode)
    _write(home / "profiles" / "home" / ".env", 0o640)
    _write(home / "mcp-tokens" / "one.json", 0o604)
    assert all(fixed for _, _, fixed in _told(home, fix=True))
    shown = {path: _mode(home / path) for path in (".", "mcp-tokens", "cache", "profiles", "profiles/home")}
    assert shown == {
        ".": 0o700,
        "mcp-tokens": 0o700,
        "cache": 0o755,
        "profiles": 0o755,
        "profiles/home": 0o700,
    }
    assert _mode(home / "profiles" / "home" / ".env") == _mode(home / "mcp-tokens" / "one.json") == 0o600


def test_modes_are_only_narrowed(home: Path) -> None:
    """What its owner may not write stays so."""
    _write(home / ".env", 0o444)
    tidy(str(home), fix=True)
    assert _mode(home / ".env") == 0o400


def test_links_are_told_and_not_followed(home: Path, tmp_path: Path) -> None:
    """Neither to a file nor to a directory, in a private place or on the way to one."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    victim = _write(outside / ".env", 0o644)
    (home / ".env").symlink_to(victim)
    (home / "mcp-tokens").symlink_to(outside)
    (home / "profiles").symlink_to(outside)
    (home / "skills").symlink_to(outside)
    assert _told(home, fix=True) == [
        (".env", Flaw.LINK, False),
        ("mcp-tokens", Flaw.LINK, False),
        ("profiles", Flaw.LINK, False),
    ]
    assert (_mode(victim), _mode(outside)) == (0o644, 0o755)


def test_a_file_with_a_second_name_is_left(home: Path, tmp_path: Path) -> None:
    """Its mode is that of the other name too, which may be nobody's secret."""
    victim = _write(tmp_path / "victim", 0o644)
    os.link(victim, home / ".env")
    assert _told(home, fix=True) == [(".env", Flaw.HARD_LINK, False)]
    assert _mode(victim) == 0o644


def test_a_pipe_in_the_place_of_a_file_makes_nobody_wait(home: Path) -> None:
    """It is told, and not opened."""
    os.mkfifo(home / "auth.json", 0o644)
    assert _told(home, fix=True) == [("auth.json", Flaw.KIND, False)]


def test_a_file_that_turns_into_a_link_is_not_followed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even between the look and the opening."""
    victim = _write(tmp_path / "victim", 0o644)
    _write(home / ".env", 0o644)
    _before_open(monkeypatch, ".env", lambda: _swap(home / ".env", victim))
    assert _told(home, fix=True) == [(".env", Flaw.UNSEEN, False)]
    assert _mode(victim) == 0o644


def test_a_file_that_turns_into_a_pipe_is_not_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was opened is looked at again, and nobody waits for it."""
    private = _write(home / ".env", 0o644)

    def swap() -> None:
        private.unlink()
        os.mkfifo(private)
        private.chmod(0o644)

    _before_open(monkeypatch, ".env", swap)
    assert _told(home, fix=True) == [(".env", Flaw.KIND, False)]
    assert _mode(private) == 0o644


def test_what_cannot_be_read_is_told_beside_the_rest(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails in one place ends neither the walk nor its report."""
    (home / "sessions").mkdir(mode=0o700)
    _write(home / ".env", 0o644)
    _write(home / "auth.json", 0o600)
    listed, seen = os.listdir, os.stat

    def fail_below(at: int) -> list[str]:
        if os.fstat(at).st_ino == seen(home / "sessions").st_ino:
            raise OSError(errno.EIO, "fails")
        return listed(at)

    def fail_one(path: str, **way: Any) -> os.stat_result:
        if path == "auth.json":
            raise OSError(errno.EIO, "fails")
        return seen(path, **way)

    monkeypatch.setattr(os, "listdir", fail_below)
    monkeypatch.setattr(os, "stat", fail_one)
    assert _told(home, fix=True) == [
        (".env", Flaw.MODE, True),
        ("auth.json", Flaw.UNSEEN, False),
        ("sessions", Flaw.UNSEEN, False),
    ]


def test_a_file_that_goes_away_is_no_finding(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal comes and goes while the agent server works."""
    journal = _write(home / "state.db-journal", 0o644)
    _before_open(monkeypatch, journal.name, journal.unlink)
    assert _told(home, fix=True) == []
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda at: [*listed(at), "gone.key"])
    assert _told(home) == []


def test_a_directory_that_cannot_be_opened_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it was not looked at; what is nobody's concern is not opened at all."""
    (home / "skills").mkdir()
    (home / "sessions").mkdir(mode=0o700)
    _before_open(monkeypatch, "skills", lambda: pytest.fail("opened"))
    _before_open(monkeypatch, "sessions", lambda: _swap_directory(home / "sessions"))
    assert _told(home) == [("sessions", Flaw.UNSEEN, False)]


def _swap_directory(path: Path) -> None:
    path.rmdir()
    path.symlink_to("/etc")


def _swap(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def _before_open(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    opened = os.open

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == name:
            act()
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", opening)


def test_what_belongs_to_somebody_else_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its mode is, and it is not changed."""
    _write(home / ".env", 0o644)
    seen = os.stat

    class Other:
        def __init__(self, status: os.stat_result) -> None:
            self.st_mode, self.st_uid, self.st_nlink = status.st_mode, status.st_uid + 1, status.st_nlink

    monkeypatch.setattr(
        os, "stat", lambda path, **way: Other(seen(path, **way)) if path == ".env" else seen(path, **way)
    )
    assert _told(home) == [(".env", Flaw.OWNER, False)]


def test_a_mode_that_may_not_be_changed_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is still a finding."""
    _write(home / ".env", 0o644)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", refuse)
    assert _told(home, fix=True) == [(".env", Flaw.MODE, False)]


def test_a_walk_has_an_end(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies too deep, or beyond the most names, is told as not looked at."""
    deep = home / "sessions"
    for _ in range(MAX_DEPTH + 2):
        deep.mkdir(mode=0o700)
        deep /= "x"
    assert [flaw for _, flaw, _ in _told(home)] == [Flaw.UNSEEN]
    monkeypatch.setattr("herma.posture.hygiene.MAX_ENTRIES", 1)
    assert _told(home) == [(".", Flaw.UNSEEN, False)]


def test_a_directory_that_is_no_home_is_refused(tmp_path: Path, home: Path) -> None:
    """A wrong argument must not close somebody's own home; a link to a home is not one."""
    (tmp_path / "link").symlink_to(home)
    for wrong, said in (
        (tmp_path, "has none of"),
        (tmp_path / "no", "No such file"),
        (tmp_path / "link", "name the directory itself"),
        (f"{tmp_path / 'link'}//", "name the directory itself"),
        ("a\0b", "not a path"),
        ("", "No such file"),
        ("//", "has none of"),
    ):
        with pytest.raises(HomeError, match=said):
            tidy(str(wrong), fix=True)


def test_a_home_that_may_not_be_read_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding nothing there would say that all is well."""

    def refuse(*_: object) -> list[str]:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(HomeError, match="run as its owner"):
        tidy(str(home))
