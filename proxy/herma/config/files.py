"""Paths that the configuration names: where they start, and whether they can be used."""

import ssl
from pathlib import Path
from typing import Any

from herma.config.guarded_file import FileProblem, read_guarded
from herma.config.reader import Reader
from herma.config.secrets import MAX_SECRET_BYTES
from herma.config.values import FilePath

__all__ = ["Files"]


class Files:
    """Resolves paths from the directory of the configuration file; `check` looks whether they are there."""

    def __init__(self, directory: Path, *, check: bool) -> None:
        self._directory = directory
        self.check = check

    def resolve(self, path: FilePath) -> FilePath:
        """Return the path as it is opened."""
        return FilePath(str(self._directory / path))

    def private(self, reader: Reader, place: tuple[Any, ...], path: FilePath) -> bool:
        """Tell whether a private key is readable by its owner only; note a problem otherwise."""
        try:
            read_guarded(path, max_bytes=MAX_SECRET_BYTES, secret=True)
        except FileProblem as problem:
            reader.problem(reader.at(place), f"config.secret.{problem.code}", str(problem))
            return False
        return True

    def authorities(self, reader: Reader, place: tuple[Any, ...], path: FilePath) -> None:
        """Note a problem when a file holds no certificate that could be trusted."""
        if not self.check:
            return
        try:
            ssl.create_default_context(cafile=path)
        except OSError:
            message = "the file cannot be read or holds no certificate; name a PEM file of authorities"
            reader.problem(reader.at(place), "config.file", message)

    def present(self, reader: Reader, place: tuple[Any, ...], path: FilePath) -> None:
        """Note a problem when there is neither a file nor a directory."""
        if self.check and not Path(path).exists():
            reader.problem(
                reader.at(place), "config.file", "expected a directory or a file that exists; name one"
            )

    def guarded(self, reader: Reader, place: tuple[Any, ...], path: FilePath) -> None:
        """Note a problem when a file that trust is put in could have been written by somebody else."""
        if not self.check:
            return
        try:
            read_guarded(path, max_bytes=MAX_SECRET_BYTES, secret=False)
        except FileProblem as problem:
            reader.problem(reader.at(place), f"config.{problem.code}", str(problem))

    def directory(self, reader: Reader, place: tuple[Any, ...], path: FilePath) -> None:
        """Note a problem when a directory is not there."""
        if self.check and not Path(path).is_dir():
            reader.problem(reader.at(place), "config.file", "expected a directory that exists; name one")
