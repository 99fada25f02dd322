"""One indicator: a value, how it is compared, and what follows when it is met."""

from dataclasses import dataclass
from enum import StrEnum

from herma.policy.decision import Finding, Level

__all__ = ["Action", "Indicator", "Matching"]


class Matching(StrEnum):
    """How a value is compared."""

    EXACT = "exact"
    SUBSTRING = "substring"
    CASEFOLD = "casefold"
    WORD = "word"
    PREFIX = "prefix"
    REGEX = "regex"
    PATH = "path"
    ADDRESS = "address"
    DOMAIN = "domain"
    URL = "url"
    EMAIL = "email"
    PACKAGE = "package"
    SCOPE = "scope"


class Action(StrEnum):
    """`block` refuses, `alert` only reports, `context` counts beside another indicator only."""

    BLOCK = "block"
    ALERT = "alert"
    CONTEXT = "context"


_LEVELS = {
    Action.BLOCK: Level.CRITICAL,
    Action.ALERT: Level.MEDIUM,
    Action.CONTEXT: Level.INFORMATIONAL,
}


@dataclass(frozen=True, slots=True)
class Indicator:
    """One published value; `entry_only` ones (server names, environment) mean nothing outside a server entry."""

    id: str
    value: str
    matching: Matching
    action: Action
    campaign: str
    ecosystem: str = ""
    versions: tuple[str, ...] = ()
    entry_only: bool = False

    def finding(self, place: str) -> Finding:
        """Say that the indicator was met at `place`."""
        return Finding(f"ioc-{self.id}", _LEVELS[self.action], place)
