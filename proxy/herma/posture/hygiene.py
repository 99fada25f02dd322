"""Finds, and closes, what others of a machine can read or change in the home of an agent server.

Rule 1: no link is followed, not even the home itself; each name is opened below the descriptor of its directory.
Rule 2: what is changed is what was judged: mode, kind and owner are read from the open descriptor, and set on it.
Rule 3: modes are only narrowed. Nothing is moved, deleted, or given to another owner.
Rule 4: a file with a second name is left alone: the other one may be outside of the home.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from herma.posture.private_names import MARKERS, Place, place_of

__all__ = ["Flaw", "HomeError", "Report", "Untidy", "tidy"]

# A home with ten years of sessions has some ten thousand files.
MAX_ENTRIES: Final = 200_000
# `profiles/<name>/sessions/saved/<id>` are five; agents nest what they keep a little deeper.
MAX_DEPTH: Final = 16
PROGRESS_ENTRIES: Final = 5_000

_OTHERS: Final = 0o077
_WRITABLE: Final = 0o022
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a pipe that was put in the place of a file must not make us wait.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HomeError(Exception):
    """The directory is no home of an agent server; the message says why."""


class Flaw(StrEnum):
    """What is wrong with one file or directory."""

    MODE = "mode"
    OWNER = "owner"
    LINK = "link"
    HARD_LINK = "hard-link"
    KIND = "kind"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Untidy:
    """One file or directory that is not as it should be; `path` is below the home, and `.` is the home."""

    path: str
    flaw: Flaw
    mode: int
    wanted: int
    fixed: bool = False


@dataclass(slots=True)
class Report:
    """What was looked at and found."""

    looked: int = 0
    private: int = 0
    found: list[Untidy] = field(default_factory=list)

    @property
    def left(self) -> list[Untidy]:
        """What is still wrong."""
        return [one for one in self.found if not one.fixed]


def tidy(home: str, *, fix: bool = False, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Look through a home; with `fix`, narrow the modes that are too wide.

    Raises:
        HomeError: It is no directory, a link to one, or nothing of an agent server is in it.
    """
    try:
        # With a slash behind its name, a link would be followed.
        descriptor = os.open(home.rstrip("/") or home, _DIRECTORY)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
        raise HomeError(f"cannot be opened as a directory ({reason}); name the directory itself") from None
    try:
        # By the descriptor: a path could be another directory by now.
        if not any(name in MARKERS for name in os.listdir(descriptor)):  # noqa: PTH208 - pathlib takes no descriptor
            raise HomeError(f"has none of {', '.join(MARKERS)}; name the home of an agent server")
        walk = _Walk(os.fstat(descriptor).st_uid, fix=fix, progress=progress)
        walk.directory(descriptor, (), Place.PRIVATE)
    except OSError:
        raise HomeError("cannot be read by this user; run as its owner") from None
    finally:
        os.close(descriptor)
    return walk.report


class _Walk:
    """One pass through a home."""

    def __init__(self, owner: int, *, fix: bool, progress: Callable[[int], None]) -> None:
        self._owner = owner
        self._fix = fix
        self._progress = progress
        self.report = Report()

    def directory(self, descriptor: int, path: tuple[str, ...], place: Place) -> None:
        """Judge an open directory, and what is in it."""
        self._judge(descriptor, os.fstat(descriptor), path, place)
        for name in self._names(descriptor, path):
            below = (*path, name)
            if self.report.looked >= MAX_ENTRIES or len(below) > MAX_DEPTH:
                self._tell(path, Flaw.UNSEEN, 0, 0)
                return
            self.report.looked += 1
            if self.report.looked % PROGRESS_ENTRIES == 0:
                self._progress(self.report.looked)
            self._entry(descriptor, name, below)

    def _names(self, descriptor: int, path: tuple[str, ...]) -> list[str]:
        try:
            return sorted(os.listdir(descriptor))
        except OSError:
            # A disk that fails, or a file system that went away: what was found until now is still told.
            self._tell(path, Flaw.UNSEEN, 0, 0)
            return []

    def _entry(self, above: int, name: str, path: tuple[str, ...]) -> None:
        try:
            status = os.stat(name, dir_fd=above, follow_symlinks=False)
        except FileNotFoundError:
            return  # The agent server works on: a journal comes and goes.
        except OSError:
            self._tell(path, Flaw.UNSEEN, 0, 0)
            return
        if stat.S_ISDIR(status.st_mode):
            place = place_of(path, directory=True)
            if place is Place.OTHER:
                return
            with self._opened(above, name, _DIRECTORY, path) as descriptor:
                if descriptor is not None:
                    self.directory(descriptor, path, place)
        elif place_of(path, directory=False) is Place.PRIVATE or (
            stat.S_ISLNK(status.st_mode) and place_of(path, directory=True) is not Place.OTHER
        ):
            self._private(above, name, path, status)

    def _private(self, above: int, name: str, path: tuple[str, ...], status: os.stat_result) -> None:
        if stat.S_ISLNK(status.st_mode):
            # The file behind it may be anybody's, and who may turn the link decides what the agent server reads.
            self._tell(path, Flaw.LINK, 0, 0)
        elif not stat.S_ISREG(status.st_mode):
            self._tell(path, Flaw.KIND, stat.S_IMODE(status.st_mode), 0)
        elif self._fix and self._is_wide(status):
            with self._opened(above, name, _FILE, path) as descriptor:
                if descriptor is not None:
                    self._open_file(descriptor, path)
        else:
            self._judge(None, status, path, Place.PRIVATE)

    def _open_file(self, descriptor: int, path: tuple[str, ...]) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            self._judge(descriptor, status, path, Place.PRIVATE)
        else:
            # Put there since it was looked at.
            self._tell(path, Flaw.KIND, stat.S_IMODE(status.st_mode), 0)

    @staticmethod
    def _is_wide(status: os.stat_result) -> bool:
        return bool(stat.S_IMODE(status.st_mode) & _OTHERS)

    @contextmanager
    def _opened(self, above: int, name: str, flags: int, path: tuple[str, ...]) -> Iterator[int | None]:
        try:
            descriptor = os.open(name, flags, dir_fd=above)
        except FileNotFoundError:
            yield None
            return
        except OSError:
            # It may not be read, or was turned into a link since it was looked at.
            self._tell(path, Flaw.UNSEEN, 0, 0)
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _judge(
        self, descriptor: int | None, status: os.stat_result, path: tuple[str, ...], place: Place
    ) -> None:
        mode, directory = stat.S_IMODE(status.st_mode), stat.S_ISDIR(status.st_mode)
        self.report.private += place is Place.PRIVATE
        # Who may write to a directory may put another file in the place of a private one.
        excess = _OTHERS if place is Place.PRIVATE else _WRITABLE
        wanted = mode & ~excess & (0o777 if directory else 0o600)
        if status.st_uid != self._owner:
            self._tell(path, Flaw.OWNER, mode, wanted)
        elif not mode & excess:
            return
        elif not directory and status.st_nlink > 1:
            self._tell(path, Flaw.HARD_LINK, mode, wanted)
        else:
            fixed = self._fix and descriptor is not None and _narrow(descriptor, wanted)
            self._tell(path, Flaw.MODE, mode, wanted, fixed=fixed)

    def _tell(
        self, path: tuple[str, ...], flaw: Flaw, mode: int, wanted: int, *, fixed: bool = False
    ) -> None:
        self.report.found.append(Untidy("/".join(path) or ".", flaw, mode, wanted, fixed))


def _narrow(descriptor: int, mode: int) -> bool:
    try:
        os.fchmod(descriptor, mode)
    except OSError:
        return False  # Another user's, or a file system that is read only or knows no modes.
    return stat.S_IMODE(os.fstat(descriptor).st_mode) == mode
