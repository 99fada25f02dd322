"""Paths that the configuration names."""

from pathlib import Path

from herma.config.files import Files
from herma.config.reader import Reader
from herma.config.secrets import SecretSource
from herma.config.values import FilePath
from herma.yamlfile import load


def reader() -> Reader:
    return Reader(load(b"a: 1", "herma.yaml"), SecretSource({}, Path()), {})


def test_relative_path_starts_at_the_configuration(tmp_path: Path) -> None:
    """Wherever the program was started."""
    files = Files(tmp_path, check=True)
    assert files.resolve(FilePath("a")) == str(tmp_path / "a")
    assert files.resolve(FilePath("/a")) == "/a"


def test_missing_file_is_noted_unless_files_are_not_checked(tmp_path: Path) -> None:
    """An editor judges a file on another machine."""
    noted = reader()
    Files(tmp_path, check=True).authorities(noted, ("a",), FilePath(str(tmp_path / "x")))
    Files(tmp_path, check=True).directory(noted, ("a",), FilePath(str(tmp_path / "x")))
    Files(tmp_path, check=False).authorities(noted, ("a",), FilePath(str(tmp_path / "x")))
    Files(tmp_path, check=False).directory(noted, ("a",), FilePath(str(tmp_path / "x")))
    assert [str(problem.source) for problem in noted.problems] == ["herma.yaml:1:4", "herma.yaml:1:4"]


def test_private_key_is_private(tmp_path: Path) -> None:
    """A key that others may read is noted."""
    key = tmp_path / "key.pem"
    key.touch(mode=0o644)
    noted = reader()
    files = Files(tmp_path, check=True)
    assert not files.private(noted, ("a",), FilePath(str(key)))
    key.chmod(0o600)
    assert files.private(noted, ("a",), FilePath(str(key)))
    assert [problem.code for problem in noted.problems] == ["config.secret.mode"]
