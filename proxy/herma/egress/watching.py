"""The files whose lines must not leave, read again when they change.

What once stood in one stays known until the gate is started anew: whoever reads a file, empties it and sends what it held is refused.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from herma.policy.egress.watched import Watched
from herma.policy.secret import Secret

__all__ = ["MAX_WATCHED_BYTES", "WatchedFiles"]

# A file of keys has some kilobytes.
MAX_WATCHED_BYTES: Final = 4 * 1024 * 1024


class WatchedFiles:
    """Looks after some files; holds only digests of what stands in them."""

    def __init__(self, key: Secret, paths: Sequence[str]) -> None:
        self._key = key
        self._paths = tuple(map(Path, paths))
        self._state = self._look()
        self._known = Watched(key)

    def read(self) -> Watched:
        """Read all files, and give what stands in them and what stood in them before.

        Raises:
            OSError: one cannot be read.
            ValueError: one is no file of keys.
        """
        state = self._look()
        now = Watched.of(self._key, map(_text, self._paths))
        self._known, self._state = self._known.joined(now), state
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
    with path.open("rb") as file:
        raw = file.read(MAX_WATCHED_BYTES + 1)
    if len(raw) > MAX_WATCHED_BYTES:
        raise ValueError(f"{path}: larger than {MAX_WATCHED_BYTES} bytes; a file of keys was expected")
    return raw.decode("utf-8", "replace")
