"""The few errors that a caller has to tell apart, and the place a problem was found at.

A message says what was found, what was expected and how to fix it. It never repeats request data or a secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ConfigError", "ContentError", "HermaError", "Problem", "Source", "StoreError"]


class HermaError(Exception):
    """Base of all errors that Herma raises on purpose."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a file; lines and columns count from 1, 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Render as `file:line:column`, the form editors jump to."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a configuration or rule file."""

    source: Source
    code: str
    message: str

    def __str__(self) -> str:
        """Render as `file:line:col: code: message`."""
        return f"{self.source}: {self.code}: {self.message}"


class ConfigError(HermaError):
    """A configuration cannot be used; carries every problem, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        if not problems:
            raise ValueError("a ConfigError without problems says nothing")
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class ContentError(HermaError):
    """A rule, profile or indicator file cannot be used."""

    def __init__(self, message: str, source: Source) -> None:
        super().__init__(f"{source}: {message}")
        self.reason = message
        self.source = source


class StoreError(HermaError):
    """The shared state cannot be reached; whatever needs it is refused."""
