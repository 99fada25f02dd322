"""Files that decide over safety."""

import os
from pathlib import Path

import pytest

from herma.config import guarded_file
from herma.config.guarded_file import FileProblem, read_guarded


def made(directory: Path, content: bytes = b"fake\n", mode: int = 0o600) -> str:
    path = directory / "secret"
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o440])
def test_private_file_is_read(tmp_path: Path, mode: int) -> None:
    """Up to 0640 nobody but the owner writes and only a group reads."""
    assert read_guarded(made(tmp_path, mode=mode), max_bytes=64, secret=True).content == b"fake\n"


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o620, 0o650, 0o601, 0o602, 0o666, 0o777])
def test_secret_that_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    """The message has the mode that was found and the command that mends it."""
    with pytest.raises(FileProblem, match=rf"found mode {mode:04o}, expected 0600.*chmod 0600") as caught:
        read_guarded(made(tmp_path, mode=mode), max_bytes=64, secret=True)
    assert caught.value.code == "mode"


def test_file_without_secrets_may_be_read_but_not_written_by_others(tmp_path: Path) -> None:
    """A configuration may be public; whoever may write it is the operator."""
    assert read_guarded(made(tmp_path, mode=0o644), max_bytes=64, secret=False).readable_by_others
    assert not read_guarded(made(tmp_path, mode=0o640), max_bytes=64, secret=False).readable_by_others
    for mode in (0o664, 0o646):
        with pytest.raises(FileProblem, match="chmod go-w"):
            read_guarded(made(tmp_path, mode=mode), max_bytes=64, secret=False)


def test_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    """One more byte is refused."""
    path = made(tmp_path, b"x" * 64)
    assert len(read_guarded(path, max_bytes=64, secret=True).content) == 64
    with pytest.raises(FileProblem, match="more than 63 bytes"):
        read_guarded(path, max_bytes=63, secret=True)


def test_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    """Only a regular file has an owner and a mode that mean something."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(FileProblem, match="regular file"):
        read_guarded(str(tmp_path / "pipe"), max_bytes=64, secret=True)


@pytest.mark.parametrize("name", ["missing", "a\0b", "a" * 300])
def test_file_that_cannot_be_opened_is_not_named(tmp_path: Path, name: str) -> None:
    """A key may stand where its path was meant: the message does not repeat it."""
    with pytest.raises(FileProblem, match="cannot be read") as caught:
        read_guarded(str(tmp_path / name), max_bytes=64, secret=True)
    assert name not in str(caught.value)


def test_directory_is_refused(tmp_path: Path) -> None:
    """A directory is no secret."""
    with pytest.raises(FileProblem):
        read_guarded(str(tmp_path), max_bytes=64, secret=True)


def test_the_links_of_a_kubernetes_volume_are_followed(tmp_path: Path) -> None:
    """A mounted secret is a link through `..data`, which is turned when the secret changes."""
    (tmp_path / "..2026").mkdir()
    secret = tmp_path / "..2026" / "key"
    secret.write_text("fake\n")
    secret.chmod(0o600)
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "key").symlink_to("..data/key")
    assert read_guarded(str(tmp_path / "key"), max_bytes=64, secret=True).content == b"fake\n"


@pytest.mark.parametrize("absolute", [True, False])
def test_any_other_link_is_refused(tmp_path: Path, absolute: bool) -> None:
    """A link can be turned by whoever owns its directory, after it was judged."""
    secret = Path(made(tmp_path))
    (tmp_path / "link").symlink_to(secret if absolute else secret.name)
    with pytest.raises(FileProblem) as refused:
        read_guarded(str(tmp_path / "link"), max_bytes=64, secret=True)
    assert refused.value.code == "link"


@pytest.mark.parametrize("which", ["link", "file"])
def test_link_or_file_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    """Whoever owns the link or the file decides what the secret is."""
    path = made(tmp_path)
    mine = os.stat(path)
    other = os.stat_result((mine.st_mode, mine.st_ino, mine.st_dev, 1, os.geteuid() + 4711, *mine[5:]))
    with pytest.raises(FileProblem, match="another user") as caught:
        guarded_file._judge(
            other if which == "link" else mine, other if which == "file" else mine, secret=True
        )
    assert caught.value.code == "owner"
