"""Tokens that were used, in a file: they stay used over restarts, and for all gates of one machine.

Rules of the file:

1. It is this user's alone, in a directory that nobody else may change: whoever could remove a line could use a token again.
2. A use is on the disk before anything is started because of it.
3. A file that cannot be read, or is somebody else's kind of file, is refused and left as it is. It remembers when it was made; what was
   issued before counts as used.
"""

import asyncio
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from herma.errors import StoreError
from herma.policy.token.spent import MAX_SPENT, Once, Spending, outdated

__all__ = ["SpentFile"]

# Another gate writes for milliseconds. A worker waits for a second in all (see `channel`).
_BUSY_S = 0.5
# `Herm`, in the header of the file (SQLite's application_id).
_APPLICATION = 0x4865726D
_VERSION = 1
_WRITABLE_BY_OTHERS = 0o022
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

_SCHEMA = f"""
    BEGIN IMMEDIATE;
    CREATE TABLE began (at REAL NOT NULL);
    CREATE TABLE spent (token_id TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
    CREATE INDEX spent_until ON spent (until);
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
"""


class SpentFile:
    """Remembers in a SQLite file, which is made if it is not there.

    Raises:
        StoreError: the file or its directory must not be trusted, or the file is none of these; the message never repeats of it.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.time, *, limit: int = MAX_SPENT) -> None:
        self._clock = clock
        self._limit = limit
        _judge(path)
        try:
            self._database = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            self._since = _began(self._database, clock())
            # Where the file system cannot share memory (a network's), SQLite stays with its older journal.
            for pragma in ("journal_mode = WAL", "synchronous = FULL"):
                self._database.execute(f"PRAGMA {pragma}")
        except sqlite3.Error as error:
            raise StoreError(
                "the file of used tokens cannot be read as one; move it away, and tokens from before count as used"
            ) from error
        # One thread, so that one statement runs at a time and the event loop waits for no disk.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="spent-file")

    async def spend(self, once: Once) -> Spending:
        """Note the use of a token, if it is the first."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._spend, once)
        except (sqlite3.Error, RuntimeError) as error:
            raise StoreError("the file of used tokens cannot be written") from error

    async def close(self) -> None:
        """Close the file."""
        self._thread.shutdown()
        self._database.close()

    def _spend(self, once: Once) -> Spending:
        # `with` commits, or takes everything back.
        with self._database as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM spent WHERE until <= ?", (self._clock(),))
            if _first(database, "SELECT count(*) FROM spent WHERE token_id = ?", once.token_id):
                return Spending.AGAIN
            if outdated(once, self._since):
                return Spending.OUTDATED
            if int(_first(database, "SELECT count(*) FROM spent")) >= self._limit:
                return Spending.FULL
            database.execute("INSERT INTO spent VALUES (?, ?)", (once.token_id, once.until))
            return Spending.FIRST


def _judge(path: str) -> None:
    """Make the file where there is none, and refuse one that somebody else controls.

    SQLite opens it by its name once more: what stands in a directory that nobody else may change is still the same then.
    """
    try:
        directory = Path(path).parent.stat()
        descriptor = os.open(path, _FLAGS, 0o600)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
        raise StoreError(f"the file of used tokens cannot be opened ({reason})") from None
    try:
        file = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    trusted = {0, os.geteuid()}
    if not stat.S_ISREG(file.st_mode) or file.st_nlink != 1:
        raise StoreError("the file of used tokens is no regular file with one name")
    if file.st_uid not in trusted or directory.st_uid not in trusted:
        raise StoreError("the file of used tokens, or its directory, belongs to another user")
    if stat.S_IMODE(file.st_mode) & 0o077:
        raise StoreError("other users may read or write the file of used tokens; run chmod 0600 on it")
    if directory.st_mode & _WRITABLE_BY_OTHERS:
        raise StoreError(
            "other users may change the directory of the file of used tokens; run chmod go-w on it"
        )


def _began(database: sqlite3.Connection, now: float) -> float:
    """Return when the memory began; make it where the file is empty."""
    application = _first(database, "PRAGMA application_id")
    if application == 0 and not _first(database, "SELECT count(*) FROM sqlite_schema"):
        with database:
            try:
                database.executescript(_SCHEMA)
                database.execute("INSERT INTO began VALUES (?)", (now,))
            except sqlite3.OperationalError:
                # Another gate that starts now was first; what it made is judged like any other.
                database.rollback()
    if (
        _first(database, "PRAGMA application_id") != _APPLICATION
        or _first(database, "PRAGMA user_version") != _VERSION
        or _first(database, "PRAGMA quick_check(1)") != "ok"
    ):
        raise sqlite3.DatabaseError("not a file of used tokens")
    return float(_first(database, "SELECT max(at) FROM began"))


def _first(database: sqlite3.Connection, statement: str, *values: object) -> int | float | str:
    with closing(database.execute(statement, values)) as cursor:
        found: int | float | str = cursor.fetchone()[0]
        return found
