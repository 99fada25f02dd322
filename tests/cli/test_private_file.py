"""Files that only their owner may read."""

import os
from pathlib import Path

import pytest

from herma.cli.private_file import create_private, replace_private


def test_new_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    """Mode 0600, not a moment wider."""
    previous = os.umask(0)
    try:
        create_private(tmp_path / "a", b"fake")
    finally:
        os.umask(previous)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a").read_bytes() == b"fake"


def test_existing_file_or_link_is_left_alone(tmp_path: Path) -> None:
    """A link laid in advance leads nowhere."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "link").symlink_to("elsewhere")
    for name in ("a", "link"):
        with pytest.raises(FileExistsError):
            create_private(tmp_path / name, b"new")
    assert (tmp_path / "a").read_text() == "old"
    assert not (tmp_path / "elsewhere").exists()


def test_replaced_file_is_whole_and_private(tmp_path: Path) -> None:
    """No second file stays behind."""
    (tmp_path / "a").write_text("old")
    replace_private(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_failed_replacement_leaves_nothing(tmp_path: Path) -> None:
    """What cannot be put in place is removed."""
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_private(tmp_path / "a", b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_file_that_cannot_be_written_is_removed(tmp_path: Path) -> None:
    """Half a key is no key."""
    with pytest.raises(TypeError):
        create_private(tmp_path / "a", "text")  # type: ignore[arg-type] - makes the writing fail
    assert not (tmp_path / "a").exists()
