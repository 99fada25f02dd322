"""The file that proves who reads it."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from herma.console.token_file import TokenDirectory, new_token, read_token
from herma.policy.secret import Secret


def _directory(tmp_path: Path) -> TokenDirectory:
    return TokenDirectory({"RUNTIME_DIRECTORY": str(tmp_path)})


def test_what_is_written_is_read_by_its_owner_alone(tmp_path: Path) -> None:
    """File and directory are closed to everybody else."""
    token = new_token()
    path = Path(_directory(tmp_path).write(token))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    found = read_token(str(path))
    assert found is not None
    assert found.reveal() == token.reveal()


def test_no_two_tokens_are_alike() -> None:
    """256 bits each."""
    assert len({new_token().reveal() for _ in range(50)}) == 50


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x" * 43 + b"\n",
        b"herma-console-token\n" + b"x" * 42 + b"\n",
        b"herma-console-token\n" + b"x" * 43,
        b"herma-console-token\n" + b"x" * 43 + b"\nmore",
        b"herma-console-token\n" + b"/" * 43 + b"\n",
    ],
)
def test_what_is_no_token_is_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    """A key or any other secret that a stranger names is never shown as a token."""
    path = tmp_path / "file"
    path.touch(mode=0o600)
    path.write_bytes(content)
    assert read_token(str(path)) is None


def test_a_file_that_others_could_have_made_is_not_believed(tmp_path: Path) -> None:
    """Wrong modes, links, pipes, directories and what is not there."""
    path = Path(_directory(tmp_path).write(new_token()))
    path.chmod(0o640)
    assert read_token(str(path)) is None
    path.chmod(0o600)
    linked = tmp_path / "link"
    linked.symlink_to(path)
    assert read_token(str(linked)) is None
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    assert read_token(str(pipe)) is None
    assert read_token(str(tmp_path)) is None
    assert read_token(str(tmp_path / "none")) is None
    assert read_token("a\0b") is None


def test_another_users_file_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root reads what is somebody else's."""
    path = _directory(tmp_path).write(new_token())
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert read_token(path) is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert read_token(path) is not None


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """A removed file is gone, a closed directory too; doing it again changes nothing."""
    directory = _directory(tmp_path)
    directory.close()
    path = directory.write(new_token())
    directory.write(Secret(b"x" * 43))
    directory.remove(path)
    directory.remove(path)
    directory.close()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_was_taken_away_is_made_anew(tmp_path: Path) -> None:
    """What tidies up temporary files may remove it, and somebody else may put one of their own in its place."""
    directory = _directory(tmp_path)
    path = Path(directory.write(new_token()))
    assert directory.holds(str(path))
    shutil.rmtree(path.parent)
    assert not directory.holds(str(path))
    path.parent.mkdir(mode=0o777)
    path.parent.chmod(0o777)
    path.touch(mode=0o600)
    assert not directory.holds(str(path))
    fresh = Path(directory.write(new_token()))
    assert fresh.parent != path.parent
    directory.close()
    assert not fresh.parent.exists()
    assert path.exists()


def test_without_a_directory_of_its_own_it_makes_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot be written to is passed over."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    directory = TokenDirectory({"RUNTIME_DIRECTORY": "/proc/none", "XDG_RUNTIME_DIR": "/proc/neither"})
    assert Path(directory.write(new_token())).parent.parent == tmp_path
    directory.close()
