"""Who may use an operation of the upstream, where that is not what its profile says."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from herma.config.option import derived, option
from herma.config.reader import Reader
from herma.errors import Source
from herma.policy.grant import Scope
from herma.yamlfile import Path

__all__ = ["Surface", "SurfaceScope", "finish"]


class SurfaceScope(StrEnum):
    """Who may use an operation: a scope, or nobody."""

    # An enumeration cannot be extended; that this one has every scope is tested.
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
    """Who may use one operation of the upstream. `at` is its place in the file."""

    scope: SurfaceScope = option("The scope that it needs; `off` switches it off for everybody.")
    at: Source = derived(default=Source(""))


def finish(reader: Reader, made: Surface, path: Path, _raw: Mapping[str, Any]) -> Surface:
    """Keep the place: whether the operation exists is known when the profile is read."""
    return replace(made, at=reader.key_at(path))
