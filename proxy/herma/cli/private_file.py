"""Writes files that only their owner may read, and never half."""

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["create_private", "replace_private"]


def create_private(path: Path, content: bytes) -> None:
    """Create a file of mode 0600.

    Raises:
        FileExistsError: There is one already, or a link of that name; it is left as it is.
    """
    # O_EXCL: neither an existing file nor what a link points to is written.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        # Also when it was interrupted: half a key would be kept as a whole one.
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def replace_private(path: Path, content: bytes) -> None:
    """Put a file of mode 0600 in the place of another at once: a reader sees the old one or the new one."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    create_private(fresh, content)
    try:
        fresh.replace(path)
    except OSError:
        fresh.unlink()
        raise
