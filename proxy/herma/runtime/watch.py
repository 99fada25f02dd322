"""Notices that the configuration file or the content that it names changed.

The configuration is compared by its content, the files of rules and indicators by name, size, times and inode: there may be
thousands, and nobody writes to a file without leaving a trace in these.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from herma.config.settings import Settings

__all__ = ["content_places", "digest", "files_state", "look", "watch"]

# Kubernetes swaps a mounted ConfigMap by renaming a symlink and some editors write in place: looking once a second sees
# both, costs little, and needs no file system events.
INTERVAL_S = 1.0
MAX_CONFIG_BYTES = 1024 * 1024
# More files than any set of rules and indicators has; of a directory put there by mistake, a part is watched.
MAX_FILES = 4096
# `rules/cron/words/x.yaml` lies three levels below the directory that the configuration names.
MAX_DEPTH = 4


def digest(path: Path) -> str:
    """Return the hash of the file's content, or an empty string when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(MAX_CONFIG_BYTES + 1)).hexdigest()
    except OSError:
        return ""


def content_places(settings: Settings) -> tuple[Path, ...]:
    """List the files and directories of content that a configuration names."""
    content = settings.content
    named = (
        *((content.rules_dir,) if content.rules_dir else ()),
        *content.rules_dirs,
        *((content.ioc_dir,) if content.ioc_dir else ()),
        *content.ioc_dirs,
        *content.ioc_public_keys,
    )
    return tuple(map(Path, named))


def files_state(places: Sequence[Path]) -> str:
    """Return a text that differs when a file of these places differs; empty where there are none."""
    if not places:
        return ""
    found: list[str] = []
    for place in places:
        for line in _files(place, MAX_DEPTH):
            found.append(line)
            if len(found) >= MAX_FILES:
                return _hashed(found)
    return _hashed(found)


def _hashed(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _files(place: Path, depth: int) -> Iterator[str]:
    """Give a line for each file, the target of a link standing for the link."""
    try:
        if not place.is_dir():
            status = place.stat()
            yield f"{place} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
            return
        names = sorted(os.listdir(place))[:MAX_FILES]  # noqa: PTH208 - names only: a Path for each costs ten times as much
    except OSError as error:
        yield f"{place} {error.errno}"
        return
    yield f"{place}/"
    for name in names if depth else ():
        # What Kubernetes turns (`..data`) and what editors leave is seen through the files themselves.
        if not name.startswith("."):
            yield from _files(place / name, depth - 1)


def look(settings: Settings) -> str:
    """Return the state of a configuration file and of all that it names; empty when the file cannot be read."""
    known = digest(Path(settings.path))
    return f"{known} {files_state(content_places(settings))}".strip() if known else ""


async def watch(
    look: Callable[[], Awaitable[str]],
    known: str,
    changed: Callable[[], Awaitable[None]],
    interval_s: float = INTERVAL_S,
) -> None:
    """Call `changed` after each change of what `look` returns, until cancelled.

    A change is taken only when two looks in a row see the same, so that a half-written file is not read; nothing seen for a
    moment is no change.
    """
    seen = known
    while True:
        await asyncio.sleep(interval_s)
        now = await look()
        if now and now != known and now == seen:
            known = now
            await changed()
        seen = now
