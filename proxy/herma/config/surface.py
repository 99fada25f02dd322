"""Who may use an operation of the upstream, where that is not what its profile says."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from dataclasses import dataclass
from enum import StrEnum

from herma.config.option import option
from herma.policy.grant import Scope

__all__ = ["Surface", "SurfaceScope"]


class SurfaceScope(StrEnum):
    """Who may use an operation: a scope, or nobody."""

    OFF = "off"
    STATUS = "status"
    READ = "read"
    RUN = "run"
    APPROVE = "approve"
    CRON = "cron"
    ADMIN = "admin"

    @property
    def scope(self) -> Scope | None:
        """Give the scope that is needed; None where none is enough."""
        return None if self is SurfaceScope.OFF else Scope(self.value)


@dataclass(frozen=True, slots=True)
class Surface:
    """Who may use one operation of the upstream."""

    scope: SurfaceScope = option("The scope that it needs; `off` switches it off for everybody.")
