"""What a person who logs in may do."""

from enum import StrEnum

from herma.policy.grant import Scope

__all__ = ["Role"]


class Role(StrEnum):
    """The part that a person plays; `scopes` says what it may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def scopes(self) -> frozenset[Scope]:
        """Give the scopes, as a key would have them."""
        return _SCOPES[self]


_VIEWER = frozenset({Scope.STATUS, Scope.READ})
_SCOPES = {
    Role.VIEWER: _VIEWER,
    Role.OPERATOR: _VIEWER | {Scope.RUN, Scope.APPROVE, Scope.CRON},
    Role.ADMIN: frozenset({Scope.ADMIN}),
}
