"""The files whose lines must not leave, read again when they change.

What once stood in one stays known until the gate is started anew: whoever reads a file, empties it and sends what it held is refused.
The agent may be the one who writes them, so no file makes the gate wait, and none makes it forget what was there at the start.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from herma.policy.egress.watched import Watched
from herma.policy.secret import Secret

__all__ = ["MAX_KNOWN", "MAX_WATCHED_BYTES", "WatchedFiles"]

# Lines and values of all versions together; a set of so many takes some ten million bytes.
MAX_KNOWN: Final = 200_000

# A file of keys has some kilobytes.
MAX_WATCHED_BYTES: Final = 4 * 1024 * 1024


class WatchedFiles:
    """Looks after some files; holds only digests of what stands in them."""

    def __init__(self, key: Secret, paths: Sequence[str]) -> None:
        self._key = key
        self._paths = tuple(map(Path, paths))
        self._state = self._look()
        self._first: Watched | None = None
        self._known = Watched(key)

    def read(self) -> Watched:
        """Read all files, and give what stands in them and what stood in them before.

        Raises:
            OSError: one cannot be read.
            ValueError: one is no file of keys.
        """
        state = self._look()
        now = Watched.of(self._key, map(_text, self._paths))
        self._first = now if self._first is None else self._first
        known = self._known.joined(now)
        # Of many versions, the first and the last are known.
        self._known = known if len(known) <= MAX_KNOWN else self._first.joined(now)
        self._state = state
        return self._known

    def changed(self) -> bool:
        """Tell whether a file is another one than when it was read."""
        return self._look() != self._state

    def _look(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(map(_stamp, self._paths))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _text(path: Path) -> str:
    # O_NONBLOCK: opening a pipe must not wait for somebody to write to it.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path}: expected a regular file, found something else")
        raw = file.read(MAX_WATCHED_BYTES + 1)
    if len(raw) > MAX_WATCHED_BYTES:
        raise ValueError(f"{path}: larger than {MAX_WATCHED_BYTES} bytes; a file of keys was expected")
    return raw.decode("utf-8", "replace")
