"""The files of this checkout that count: what git tracks and what it would."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

# An unpacked sdist has no git; there everything counts but caches.
_SKIPPED = {
    "__pycache__",
    ".venv",
    ".cache",
    ".git",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "dist",
}


@cache
def tracked() -> tuple[Path, ...]:
    """Give every file, relative to the root, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        found = [Path(name) for name in listed.stdout.decode().split("\0") if name]
    else:
        found = [path.relative_to(ROOT) for path in ROOT.rglob("*") if not _SKIPPED & set(path.parts)]
    return tuple(sorted(path for path in found if (ROOT / path).is_file()))


def python_files(top: str) -> tuple[Path, ...]:
    """Give the Python files below a directory."""
    return tuple(path for path in tracked() if path.suffix == ".py" and path.is_relative_to(top))
