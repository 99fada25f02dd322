"""Notices that the configuration file changed, by its content and not by its date."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

__all__ = ["digest", "watch"]

# Kubernetes swaps a mounted ConfigMap by renaming a symlink and some editors write in place: looking at the content once
# a second sees both, costs one small read, and needs no file system events.
INTERVAL_S = 1.0
MAX_CONFIG_BYTES = 1024 * 1024


def digest(path: Path) -> str:
    """Return the hash of the file's content, or an empty string when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(MAX_CONFIG_BYTES + 1)).hexdigest()
    except OSError:
        return ""


async def watch(
    path: Path, known: str, changed: Callable[[], Awaitable[None]], interval_s: float = INTERVAL_S
) -> None:
    """Call `changed` after each change of content, until cancelled.

    A file is taken only when two looks in a row see the same content, so that a half-written file is not read; one that
    is gone for a moment is no change.
    """
    seen = known
    while True:
        await asyncio.sleep(interval_s)
        now = digest(path)
        if now and now != known and now == seen:
            known = now
            await changed()
        seen = now
