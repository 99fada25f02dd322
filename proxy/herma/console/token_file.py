"""A file that proves who reads it: only the user of the gate and root can.

Every user of a machine can connect to its loopback, so a connection says nothing about who is there. The gate therefore writes a
token where only its own user reads, on demand, and `herma console` reads it there. The directory's name is random: nobody can be
there first. Its first line is a mark, so that no other secret is ever taken for a token.
"""

import os
import re
import secrets
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from herma.policy.secret import Secret

__all__ = ["TokenDirectory", "new_token", "read_token"]

_MODE: Final = 0o600
_PRIVATE: Final = 0o700
_MARK: Final = "herma-console-token\n"
_TOKEN_BYTES: Final = 32
_FORM: Final = re.compile(rb"herma-console-token\n([A-Za-z0-9_-]{43})\n")
# The mark, the token and two line ends, and one byte to see that there is no more.
_MAX_BYTES: Final = len(_MARK) + 43 + 2


def new_token() -> Secret:
    """Make a token of 256 bits."""
    return Secret(secrets.token_urlsafe(_TOKEN_BYTES).encode("ascii"))


def read_token(path: str) -> Secret | None:
    """Read a token that a gate has written; None when there is none that only its owner can read.

    The path comes from whoever listens where the gate should: what is no token of this form is not read further, and never shown.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        own = status.st_uid == os.geteuid() or os.geteuid() == 0
        if not own or not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) != _MODE:
            return None
        found = _FORM.fullmatch(os.read(descriptor, _MAX_BYTES))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return Secret(found[1]) if found is not None else None


class TokenDirectory:
    """Where tokens are written; it is made when the first one is, and gone with `close`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # A service has a directory of its own, and so has a person who is logged in; both are emptied by others in the end.
        service = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
        self._parents = [parent for parent in (service, environ.get("XDG_RUNTIME_DIR", "")) if parent]
        self._directory = ""

    def write(self, token: Secret) -> str:
        """Write a token to a new file of mode 0600; return its path.

        Raises:
            OSError: there is no place that can be written to.
        """
        if not self._usable():
            self._directory = self._made()
        path = Path(self._directory, secrets.token_hex(8))
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, _MODE)
            file.write(_MARK.encode() + token.reveal() + b"\n")
        return str(path)

    def holds(self, path: str) -> bool:
        """Tell whether a file that was written is still there; what tidies up may have taken it."""
        return self._usable() and os.path.lexists(path)

    def _usable(self) -> bool:
        """Tell whether the directory is still the one that was made: somebody may have put another in its place."""
        if not self._directory:
            return False
        try:
            status = os.lstat(self._directory)
        except OSError:
            return False
        own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        return own and stat.S_IMODE(status.st_mode) == _PRIVATE

    def remove(self, path: str) -> None:
        """Remove a file; one that is gone already is gone."""
        with suppress(OSError):
            Path(path).unlink()

    def close(self) -> None:
        """Remove everything."""
        if self._usable():
            for path in Path(self._directory).iterdir():
                self.remove(str(path))
            with suppress(OSError):
                Path(self._directory).rmdir()
        self._directory = ""

    def _made(self) -> str:
        for parent in self._parents:
            with suppress(OSError):
                return tempfile.mkdtemp(prefix="herma-console-", dir=parent)
        return tempfile.mkdtemp(prefix="herma-console-")
