"""People by name."""

from dataclasses import replace

import pytest

from herma.config.openid import OpenId, RoleFor
from herma.config.values import ClientName, IssuerUrl, Label
from herma.identity import Account, Accounts, Member, SignIn, by_session
from herma.policy.browser.password_hash import PasswordHash
from herma.policy.browser.role import Role
from herma.policy.grant import Principal, Scope
from herma.policy.secret import Secret
from support.issuer import ISSUER, ScriptedIssuer
from support.login import USERS

WEAKER = PasswordHash.parse(USERS[0]["password_hash"])
OTHER = PasswordHash.parse(USERS[2]["password_hash"])
COSTLY = PasswordHash.parse(USERS[0]["password_hash"].replace("m=7168", "m=65536"))
PROVIDER = OpenId(
    IssuerUrl(ISSUER), ClientName("herma"), roles=(RoleFor(Role.VIEWER, group=Label("agents")),)
)
ALICE = Account("alice", Role.ADMIN, WEAKER)


def test_a_person_is_no_key() -> None:
    """The name in logs has a colon, which no key's name has."""
    assert ALICE.principal == Principal("user:alice", frozenset({Scope.ADMIN}))
    assert by_session(ALICE.principal)
    assert not by_session(Principal("user", frozenset({Scope.ADMIN})))


def test_a_session_is_bound_to_all_that_a_person_is() -> None:
    """Another name, role or password is another binding; the same is the same after a reload."""
    others = [
        Account("bob", Role.ADMIN, WEAKER),
        Account("alice", Role.VIEWER, WEAKER),
        Account("alice", Role.ADMIN, OTHER),
    ]
    assert len({ALICE.binding, *(other.binding for other in others)}) == 4
    assert Account("alice", Role.ADMIN, PasswordHash.parse(WEAKER.reveal())).binding == ALICE.binding
    assert ALICE.binding not in repr(ALICE)


def test_names_are_exact() -> None:
    """No folding: two people never share one."""
    accounts = Accounts([ALICE])
    assert accounts.get("alice") is ALICE
    assert accounts.get("Alice") is accounts.get("alice ") is accounts.get("") is None
    assert len(accounts) == 1
    with pytest.raises(ValueError, match="same name"):
        Accounts([ALICE, ALICE])


def test_an_unknown_name_costs_what_the_costliest_known_one_costs() -> None:
    """And no password is right for it."""
    accounts = Accounts([ALICE, Account("bob", Role.VIEWER, COSTLY)])
    assert accounts.password_of("alice") == WEAKER
    decoy = accounts.password_of("nobody")
    assert decoy is not None
    assert decoy.cost == COSTLY.cost
    assert decoy.digest not in {WEAKER.digest, COSTLY.digest}
    assert accounts.password_of("somebody") == decoy


def test_where_nobody_logs_in_there_is_nothing_to_verify() -> None:
    """Not even a decoy."""
    assert Accounts().password_of("alice") is None


def test_a_session_is_somebodys_as_long_as_nothing_changed() -> None:
    """Of an account by its binding, of a member by the rules of the provider."""
    sign_in = SignIn(PROVIDER, Secret(b"fake key"), ScriptedIssuer())
    member = Member("alice", "alice@good.com", Role.VIEWER, sign_in.rules)
    accounts = Accounts([ALICE], sign_in)
    assert accounts.of_session(ALICE.user, ALICE.binding) is ALICE
    assert accounts.of_session(ALICE.user, "another role or password") is None
    assert accounts.of_session(member.user, member.binding) == member
    assert accounts.of_session(member.user, replace(member, rules="x" * 64).binding) is None
    assert accounts.of_session("nobody", ALICE.binding) is None
    assert Accounts([ALICE]).of_session(member.user, member.binding) is None
