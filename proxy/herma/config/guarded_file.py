"""Reads a file that decides over safety: bounded, regular, and under the control of nobody but its reader and root."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FileProblem", "GuardedFile", "read_guarded"]

# Everybody else may not read it, the group may not write it: 0640 at most.
_BEYOND_0640 = 0o137
_WRITABLE_BY_OTHERS = 0o022
# A mounted ConfigMap or Secret is changed by turning one link, `..data`; every file of it is a link through that.
_VOLUME = "..data/"


class FileProblem(Exception):  # noqa: N818 - it becomes a Problem once the place in the configuration is known
    """The file cannot be used; `code` says why. The message never names the path: a misplaced key could stand there."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class GuardedFile:
    """The content, and whether others may read it."""

    content: bytes
    readable_by_others: bool


def read_guarded(path: str, *, max_bytes: int, secret: bool) -> GuardedFile:
    """Read a file after its owner, mode, kind and size were judged on the open descriptor.

    Args:
        path: The file; a symbolic link is refused, but for the kind that a Kubernetes volume is made of.
        max_bytes: The most that is read.
        secret: Refuse modes wider than 0640, not only those that let others write.

    Raises:
        FileProblem: The file must not be trusted, or cannot be read.
    """
    try:
        link = os.lstat(path)
        target = str(Path(path).readlink()) if stat.S_ISLNK(link.st_mode) else ""
        # O_NONBLOCK: opening a pipe must not wait for somebody to write to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
        raise FileProblem("file", f"the file cannot be read ({reason}); name a file that can") from None
    if target and not target.startswith(_VOLUME):
        os.close(descriptor)
        raise FileProblem(
            "link", "found a symbolic link, which can be turned to another file; name the file itself"
        )
    try:
        status = os.fstat(descriptor)
        _judge(link, status, secret=secret)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(content) > max_bytes:
        raise FileProblem("size", f"the file has more than {max_bytes} bytes; name the right file")
    return GuardedFile(content, bool(status.st_mode & stat.S_IROTH))


def _judge(link: os.stat_result, status: os.stat_result, *, secret: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem("file", "expected a regular file, found something else")
    trusted = {0, os.geteuid()}
    if link.st_uid not in trusted or status.st_uid not in trusted:
        raise FileProblem(
            "owner", "the file or the link to it belongs to another user; chown it to yours or to root"
        )
    if secret and status.st_mode & _BEYOND_0640:
        mode = stat.S_IMODE(status.st_mode)
        raise FileProblem(
            "mode", f"found mode {mode:04o}, expected 0600 (at most 0640); run chmod 0600 on it"
        )
    if status.st_mode & _WRITABLE_BY_OTHERS:
        raise FileProblem("mode", "other users may write the file; run chmod go-w on it")
