"""A directory that nobody else writes to."""

import os
import stat
from pathlib import Path

import pytest

from herma.egress.private_directory import PrivateDirectory, UnfitError


def test_it_is_made_for_its_owner(tmp_path: Path) -> None:
    """What is made is closed to others, what is written has the mode that was asked for and nothing is left beside it."""
    before = os.umask(0)
    try:
        with PrivateDirectory.open(tmp_path / "a" / "b") as place:
            assert place.read("file") is None
            place.write("file", b"one", mode=0o600)
            place.write("file", b"two", mode=0o644)
            assert place.read("file") == b"two"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b" / "file").stat().st_mode) == 0o644
    assert os.listdir(tmp_path / "a" / "b") == ["file"]


def test_a_directory_that_others_write_to_is_not_used(tmp_path: Path) -> None:
    """Whoever writes there puts another file in the place of the one that was judged."""
    tmp_path.chmod(0o770)
    with pytest.raises(UnfitError, match="0770"), PrivateDirectory.open(tmp_path):
        pass


def test_a_directory_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner may do with it what they like."""
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UnfitError, match="another user"), PrivateDirectory.open(tmp_path):
        pass


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link to a directory is none, and a link to a file is neither read nor written through."""
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(OSError, match="link"), PrivateDirectory.open(tmp_path / "link"):
        pass
    (tmp_path / "elsewhere").write_bytes(b"kept")
    (real / "file").symlink_to(tmp_path / "elsewhere")
    with PrivateDirectory.open(real) as place:
        with pytest.raises(OSError, match="symbolic"):
            place.read("file")
        place.write("file", b"new", mode=0o600)
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"
    assert (real / "file").read_bytes() == b"new"


def test_files_are_judged(tmp_path: Path) -> None:
    """A secret that others may read, a file that they may write and what is no file are not used; a pipe does not make it wait."""
    tmp_path.chmod(0o700)
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "file").chmod(0o640)
    os.mkfifo(tmp_path / "pipe")
    with PrivateDirectory.open(tmp_path) as place:
        assert place.read("file") == b"x"
        with pytest.raises(UnfitError, match="go-rwx"):
            place.read("file", secret=True)
        (tmp_path / "file").chmod(0o666)
        with pytest.raises(UnfitError, match="go-w"):
            place.read("file")
        with pytest.raises(UnfitError, match="regular"):
            place.read("pipe")


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a file is taken away again, and the old one stays."""
    tmp_path.chmod(0o700)
    (tmp_path / "file").mkdir()
    with PrivateDirectory.open(tmp_path) as place, pytest.raises(OSError, match="directory"):
        place.write("file", b"x", mode=0o600)
    assert os.listdir(tmp_path) == ["file"]
