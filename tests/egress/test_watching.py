"""Watched files."""

import os
from pathlib import Path

import pytest

from herma.egress import watching
from herma.egress.watching import MAX_WATCHED_BYTES, WatchedFiles
from herma.policy.secret import Secret

KEY = Secret(b"k" * 32)
OLD = "fakeQ7w2Er9Ty4Ui1Op6"
NEW = "fakeZ3x8Cv5Bn0Mq7Ls2"


def test_what_once_stood_in_a_file_stays_known(tmp_path: Path) -> None:
    """Emptying the file does not open the way out for what it held."""
    file = tmp_path / ".env"
    file.write_text(f"TOKEN={OLD}\n")
    files = WatchedFiles(KEY, [str(file)])
    assert files.read().found(f"see {OLD}")
    assert not files.changed()
    file.write_text(f"TOKEN={NEW}\nOTHER=1\n")
    assert files.changed()
    known = files.read()
    assert known.found(OLD)
    assert known.found(NEW)
    file.unlink()
    assert files.changed()
    with pytest.raises(OSError, match=r"\.env"):
        files.read()


def test_no_number_of_versions_makes_the_first_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes the file over and over still cannot send what stood in it."""
    monkeypatch.setattr(watching, "MAX_KNOWN", 3)
    file = tmp_path / ".env"
    file.write_text(f"TOKEN={OLD}\n")
    files = WatchedFiles(KEY, [str(file)])
    files.read()
    for number in range(10):
        file.write_text(f"TOKEN=fakeversion{number}ofthefile\n")
        known = files.read()
        assert len(known) <= 3
    assert known.found(OLD)
    assert known.found("fakeversion9ofthefile")


def test_a_file_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """What it held before stays known to who asks the last reading."""
    file = tmp_path / ".env"
    os.mkfifo(file)
    with pytest.raises(ValueError, match="regular file"):
        WatchedFiles(KEY, [str(file)]).read()


def test_a_file_beyond_the_bound_is_no_file_of_keys(tmp_path: Path) -> None:
    """It is refused, and not read in part."""
    file = tmp_path / "big"
    file.write_bytes(b"x" * (MAX_WATCHED_BYTES + 1))
    with pytest.raises(ValueError, match="larger than"):
        WatchedFiles(KEY, [str(file)]).read()
