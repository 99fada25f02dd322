"""Watched files."""

from pathlib import Path

import pytest

from herma.egress.watching import MAX_WATCHED_BYTES, WatchedFiles
from herma.policy.egress import watched
from herma.policy.egress.watched import Watched
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


def test_too_much_to_know_is_the_newest_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on what is known drops what is older."""
    old, new = Watched.of(KEY, [OLD]), Watched.of(KEY, [NEW])
    monkeypatch.setattr(watched, "MAX_KNOWN", 1)
    assert not old.joined(new).found(OLD)
    assert old.joined(new).found(NEW)


def test_a_file_beyond_the_bound_is_no_file_of_keys(tmp_path: Path) -> None:
    """It is refused, and not read in part."""
    file = tmp_path / "big"
    file.write_bytes(b"x" * (MAX_WATCHED_BYTES + 1))
    with pytest.raises(ValueError, match="larger than"):
        WatchedFiles(KEY, [str(file)]).read()
