"""People who logged in at an identity provider."""

import pytest

from herma.identity import Member, by_session
from herma.policy.browser.role import Role

RULES = "d" * 64
ALICE = Member("auth0|alice", "alice@good.com", Role.OPERATOR, RULES)


def test_a_session_says_whose_it_is() -> None:
    """Under the rules that it was opened by."""
    assert Member.of_session(ALICE.user, ALICE.binding, RULES) == ALICE


def test_a_member_is_a_person_and_called_like_no_account() -> None:
    """The name of an account has no colon."""
    assert ALICE.principal.name == "user:oidc:auth0|alice"
    assert ALICE.principal.scopes == Role.OPERATOR.scopes
    assert by_session(ALICE.principal)


@pytest.mark.parametrize(
    ("user", "binding"),
    [
        ("alice", ALICE.binding), (ALICE.user, ""), (ALICE.user, RULES), (ALICE.user, f"{RULES} root x"), (ALICE.user, f"{'e' * 64} operator alice@good.com"), ("", ""),
    ],
)  # fmt: skip
def test_a_session_of_other_rules_is_nobodys(user: str, binding: str) -> None:
    """Nor is one of an account with a password."""
    assert Member.of_session(user, binding, RULES) is None
