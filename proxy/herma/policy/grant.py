"""Who is asking, and what they may do."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Principal", "Scope"]


class Scope(StrEnum):
    """What a key may do. `admin` covers every other scope."""

    STATUS = "status"
    READ = "read"
    RUN = "run"
    APPROVE = "approve"
    CRON = "cron"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller: a key's name, its scopes, and the group it shares runs with (if any).

    `max_concurrent_runs` is the key's own cap; None means only the common cap applies.
    """

    name: str
    scopes: frozenset[Scope]
    group: str = ""
    max_concurrent_runs: int | None = None

    def may(self, scope: Scope) -> bool:
        """Tell whether the scopes cover `scope`."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def shares_with(self, owner: "Principal") -> bool:
        """Tell whether this caller may touch what `owner` started."""
        return (
            self.name == owner.name
            or Scope.ADMIN in self.scopes
            or (self.group != "" and self.group == owner.group)
        )
