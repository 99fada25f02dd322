"""Hashing and verifying passwords; argon2 is slow on purpose, so it never runs on the event loop.

It takes its memory each time it runs: few run at once, and few may wait. Who comes then is told to come again.
"""

import asyncio
import secrets
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type, hash_secret, verify_secret

from herma.policy.browser.password_hash import PasswordHash

__all__ = ["MAX_AT_ONCE", "MAX_WAITING", "PasswordChecker", "TooManyPasswords", "hash_password"]

# 64 MiB and a fifth of a second each, for a hash that `herma key password` makes.
MAX_AT_ONCE = 2
# Together some seconds: longer nobody waits for a login.
MAX_WAITING = 16

# RFC 9106 section 4 asks for as much as one can bear; OWASP's floor is 19 MiB and two passes.
_MEMORY_KIB = 64 * 1024
_PASSES = 2
_LANES = 1
_SALT_BYTES = 16
_DIGEST_BYTES = 32


class TooManyPasswords(Exception):  # noqa: N818 - it carries a decision, it does not report an error
    """Too many passwords are being verified already."""


def hash_password(password: bytes) -> PasswordHash:
    """Return the form in which a password is stored, under a random salt."""
    salt = secrets.token_bytes(_SALT_BYTES)
    made = hash_secret(password, salt, _PASSES, _MEMORY_KIB, _LANES, _DIGEST_BYTES, Type.ID)
    return PasswordHash.parse(made.decode("ascii"))


class PasswordChecker:
    """Verifies passwords, a few at once; it makes its threads when the first is needed."""

    def __init__(self, *, at_once: int = MAX_AT_ONCE, waiting: int = MAX_WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="password")
        self._lock = threading.Lock()
        self._free = at_once + waiting

    async def verify(self, stored: PasswordHash, password: bytes) -> bool:
        """Tell whether it is the password.

        A caller who is cancelled leaves at once; a thread that is at it finishes and only then makes room.

        Raises:
            TooManyPasswords: as many as may are being verified or wait.
        """
        with self._lock:
            if self._free == 0:
                raise TooManyPasswords
            self._free -= 1
        work = self._threads.submit(_verify, stored.reveal().encode("ascii"), password)
        work.add_done_callback(self._left)
        return await asyncio.wrap_future(work)

    def _left(self, _work: Future[bool]) -> None:
        with self._lock:
            self._free += 1


def _verify(stored: bytes, password: bytes) -> bool:
    try:
        return verify_secret(stored, password, Type.ID)
    except (VerificationError, InvalidHashError):
        return False
