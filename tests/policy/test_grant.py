"""What a principal may do, and whose things it may touch."""

import pytest

from herma.policy.grant import Principal, Scope


def _with(*scopes: Scope, name: str = "one", group: str = "") -> Principal:
    return Principal(name, frozenset(scopes), group)


@pytest.mark.parametrize("scope", Scope)
def test_admin_covers_every_scope(scope: Scope) -> None:
    """Whatever a route needs, `admin` has it."""
    assert _with(Scope.ADMIN).may(scope)


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("held", [scope for scope in Scope if scope is not Scope.ADMIN])
def test_every_other_scope_covers_itself_only(held: Scope, scope: Scope) -> None:
    """No scope follows from another."""
    assert _with(held).may(scope) == (held is scope)


def test_no_scope_allows_nothing() -> None:
    """An empty set is not a wildcard."""
    assert not any(_with().may(scope) for scope in Scope)


@pytest.mark.parametrize(
    ("caller", "owner", "shares"),
    [
        (_with(name="one"), _with(name="one"), True),
        (_with(name="one"), _with(name="two"), False),
        (_with(Scope.ADMIN, name="one"), _with(name="two"), True),
        (_with(name="one"), _with(Scope.ADMIN, name="two"), False),
        (_with(name="one", group="team"), _with(name="two", group="team"), True),
        (_with(name="one", group="team"), _with(name="two", group="other"), False),
        (_with(name="one", group=""), _with(name="two", group=""), False),
    ],
    ids=["itself", "another", "admin", "owner is admin", "same group", "other group", "no group is no group"],
)
def test_who_may_touch_what_another_started(caller: Principal, owner: Principal, shares: bool) -> None:
    """The key itself, its group, and `admin`; two keys without a group share nothing."""
    assert caller.shares_with(owner) is shares
