"""False alarms on real files: how many lines of ten thousand a redactor changes.

Nothing here is presumed to hold a secret; a few of these lines do hold example keys, where a change is right.
"""

import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FileFigure", "default_directories", "score_files"]

# A directory is read up to here, largest files left out: minutes, not hours.
MAX_FILES = 20_000
MAX_FILE_BYTES = 1 << 20
# Installed packages are not the standard library, and caches are no text.
_SKIPPED = {"site-packages", "dist-packages", "__pycache__"}


@dataclass(frozen=True, slots=True)
class FileFigure:
    """What happened to the lines of one directory; `changed` are places, `file:line`, never the text."""

    name: str
    files: int
    lines: int
    changed: tuple[str, ...]
    upstream_changed: int | None = None

    @property
    def per_10_000(self) -> float:
        """Lines changed of ten thousand."""
        return 10_000 * len(self.changed) / self.lines if self.lines else 0.0


def default_directories() -> dict[str, Path]:
    """Give what most machines have: the standard library of this interpreter, /etc and the packages' documents."""
    found = {
        "Python standard library": Path(sysconfig.get_path("stdlib")),
        "/etc": Path("/etc"),
        "/usr/share/doc": Path("/usr/share/doc"),
    }
    return {name: path for name, path in found.items() if path.is_dir()}


def score_files(
    name: str,
    directory: Path,
    redact: Callable[[str], str],
    upstream: Callable[[list[str]], int] | None = None,
) -> FileFigure:
    """Redact every line of every text file below a directory, each line by itself; blank lines do not count."""
    files = count = 0
    changed: list[str] = []
    theirs = 0
    for path, text in _texts(directory):
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        files += 1
        count += len(lines)
        changed += [
            f"{path.relative_to(directory)}:{number}" for number, line in lines if redact(line) != line
        ]
        if upstream is not None:
            theirs += upstream([line for _, line in lines])
    return FileFigure(name, files, count, tuple(changed), None if upstream is None else theirs)


def _texts(directory: Path) -> Iterator[tuple[Path, str]]:
    found = 0
    for path in sorted(directory.rglob("*")):
        if path.is_symlink() or not _SKIPPED.isdisjoint(path.parts) or not path.is_file():
            continue
        try:
            raw = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else b"\0"
            text = "" if b"\0" in raw else raw.decode()
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            found += 1
            yield path, text
        if found >= MAX_FILES:
            return
