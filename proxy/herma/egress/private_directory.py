"""A directory that nobody else writes to, whose files are read and written without following links."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

__all__ = ["PrivateDirectory", "UnfitError"]

MAX_BYTES: Final = 16 * 1024 * 1024
_SAFE: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class UnfitError(Exception):
    """A directory or a file must not be trusted; says why and what to do."""


@dataclass(frozen=True, slots=True)
class PrivateDirectory:
    """An open directory: what happens to its path meanwhile does not matter."""

    path: Path
    _descriptor: int

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Self]:
        """Open a directory, or make it with mode 0700.

        Raises:
            UnfitError: it belongs to somebody else, or others may write to it.
            OSError: it cannot be made, or is none.
        """
        with suppress(FileExistsError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
        try:
            _judge(os.fstat(descriptor), "the directory", beyond=0o022)
            yield cls(path, descriptor)
        finally:
            os.close(descriptor)

    def descriptor(self, name: str, flags: int) -> int:
        """Open one of its files; the caller closes it. One that is made is its owner's alone.

        Raises:
            OSError: it cannot be opened; a link never is.
        """
        return os.open(name, flags | _SAFE, 0o600, dir_fd=self._descriptor)

    def read(self, name: str, *, secret: bool = False) -> bytes | None:
        """Read a file; None when there is none.

        Args:
            name: The file.
            secret: Nobody but the owner may read it.

        Raises:
            UnfitError: it must not be trusted.
            OSError: it cannot be read.
        """
        try:
            descriptor = self.descriptor(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            _judge(os.fstat(descriptor), name, beyond=0o077 if secret else 0o022)
            return file.read(MAX_BYTES)

    def write(self, name: str, content: bytes, *, mode: int) -> None:
        """Put a file in the place of another at once: a reader sees the old one or the new one.

        Raises:
            OSError: it cannot be written.
        """
        fresh = f".{name}.{secrets.token_hex(8)}"
        descriptor = self.descriptor(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, mode)
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            os.rename(fresh, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=self._descriptor)
            raise


def _judge(status: os.stat_result, what: str, *, beyond: int) -> None:
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise UnfitError(f"{what} is no regular file")
    if status.st_uid != os.geteuid():
        raise UnfitError(f"{what} belongs to another user than the one who runs this; run it as the owner")
    if status.st_mode & beyond:
        mode, bits = stat.S_IMODE(status.st_mode), "go-rwx" if beyond == 0o077 else "go-w"
        raise UnfitError(f"{what} has mode {mode:04o}: others may come at it; run chmod {bits} on it")
