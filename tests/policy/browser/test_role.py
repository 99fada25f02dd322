"""What a person may do, by the part that is played."""

from herma.policy.browser.role import Role
from herma.policy.grant import Principal, Scope


def test_a_viewer_reads_and_does_nothing() -> None:
    """Nothing that starts, approves or schedules."""
    assert Role.VIEWER.scopes == {Scope.STATUS, Scope.READ}


def test_an_operator_works_with_the_agent_and_does_not_change_it() -> None:
    """Everything but what is the administrator's."""
    assert Role.OPERATOR.scopes == set(Scope) - {Scope.ADMIN}


def test_an_admin_may_all() -> None:
    """By the one scope that covers the others."""
    assert all(Principal("user:a", Role.ADMIN.scopes).may(scope) for scope in Scope)
