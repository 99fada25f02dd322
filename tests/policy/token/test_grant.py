"""What tokens open."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.browser.role import Role
from herma.policy.grant import Principal, Scope
from herma.policy.token.claims import Claims
from herma.policy.token.form import Flaw
from herma.policy.token.grant import TokenGrant, bounded, safe_name

RUN, READ, ADMIN, STATUS = Scope.RUN, Scope.READ, Scope.ADMIN, Scope.STATUS
SOME = frozenset({RUN, READ})


def said(subject: str = "worker-1", **members: object) -> Claims:
    return Claims(subject, 0, members)


def scopes(grant: TokenGrant, **members: object) -> frozenset[Scope] | Flaw:
    found = grant.principal(said(**members))
    return found.scopes if isinstance(found, Principal) else found


def test_a_token_has_the_scopes_that_it_lists() -> None:
    """Within the bound, with blanks between them or as a list; words that are no scopes say nothing."""
    grant = TokenGrant("ci", SOME)
    assert grant.principal(said(scope="openid run  cron")) == Principal("jwt:ci:worker-1", frozenset({RUN}))
    assert scopes(grant, scope=["run", "read", "email"]) == SOME
    assert scopes(grant, scope="RUN") == frozenset()
    assert scopes(grant, scope="") == frozenset()


def test_what_is_shared_and_capped_is_the_configurations() -> None:
    """A claim of that name says nothing."""
    grant = TokenGrant("ci", SOME, group="team", max_concurrent_runs=2)
    found = grant.principal(said(scope="run", group="admins", groups=["admins"], max_concurrent_runs=9))
    assert found == Principal("jwt:ci:worker-1", frozenset({RUN}), "team", 2)


def test_the_claim_may_have_another_name_or_place() -> None:
    """A member's name, whatever is in it, or a pointer with a slash before it."""
    assert scopes(TokenGrant("ci", SOME, scope_claim="scp"), scp="run", scope="read") == {RUN}
    assert scopes(TokenGrant("ci", SOME, scope_claim="https://x/s"), **{"https://x/s": "run"}) == {RUN}
    nested = TokenGrant("ci", SOME, group_claim="/realm_access/roles", roles={"ops": Role.OPERATOR})
    assert scopes(nested, realm_access={"roles": ["ops"]}) == SOME
    assert scopes(nested, realm_access=None) == frozenset()
    assert scopes(nested) == frozenset()


def test_groups_give_roles() -> None:
    """Each its scopes, beside those that are listed; the bound holds for all of them together."""
    roles = {"ops": Role.OPERATOR, "root": Role.ADMIN, "see": Role.VIEWER}
    wide, narrow = TokenGrant("ci", frozenset({ADMIN}), roles=roles), TokenGrant("ci", SOME, roles=roles)
    assert scopes(wide, groups=["see"], scope="run") == {READ, STATUS, RUN}
    assert scopes(wide, groups="root") == {ADMIN}
    assert scopes(narrow, groups=["root"]) == SOME
    assert scopes(narrow, groups=["see", "nobody", ""]) == {READ}
    assert scopes(narrow, groups="see ops") == frozenset()


def test_a_token_without_any_has_the_default() -> None:
    """Issuers of workloads list no scopes; who lists one has that."""
    grant = TokenGrant("k8s", SOME, default_scopes=frozenset({RUN, ADMIN}))
    assert scopes(grant) == SOME
    assert scopes(grant, scope="read") == {READ}
    assert scopes(TokenGrant("k8s", SOME)) == frozenset()


@pytest.mark.parametrize("claim", [7, {"run": True}, True, ["run", 7], [["run"]]])
def test_a_claim_of_another_form_is_a_flaw(claim: object) -> None:
    """It is not guessed what it was to mean."""
    grant = TokenGrant("ci", SOME)
    assert scopes(grant, scope=claim) is Flaw.CLAIMS
    assert scopes(grant, groups=claim, scope="run") is Flaw.CLAIMS


def test_only_those_who_are_named_come_in() -> None:
    """By their subject, by a group, or by both where both are named."""
    by_subject = TokenGrant("ci", SOME, subjects=frozenset({"worker-1"}))
    assert isinstance(by_subject.principal(said()), Principal)
    for other in ("worker-10", "worker-", "Worker-1", "worker-1 "):
        assert by_subject.principal(said(other)) is Flaw.SUBJECT
    by_group = TokenGrant("ci", SOME, groups=frozenset({"team"}))
    assert isinstance(by_group.principal(said(groups=["x", "team"])), Principal)
    for members in ({}, {"groups": []}, {"groups": ["teams"]}, {"groups": "x team"}):
        assert by_group.principal(said(**members)) is Flaw.SUBJECT
    both = TokenGrant("ci", SOME, subjects=frozenset({"worker-1"}), groups=frozenset({"team"}))
    assert both.principal(said("other", groups=["team"])) is Flaw.SUBJECT
    assert both.principal(said()) is Flaw.SUBJECT


def test_the_bound_holds() -> None:
    """Nobody gets what is beyond it, and `admin` is all that is within."""
    assert bounded(frozenset({ADMIN}), SOME) == SOME
    assert bounded(frozenset({ADMIN, RUN}), frozenset({ADMIN})) == {ADMIN, RUN}
    assert bounded(SOME, frozenset({RUN})) == {RUN}
    assert bounded(frozenset(), SOME) == frozenset()


@pytest.mark.parametrize(
    "plain", ["worker-1", "a@b.example", "system:serviceaccount:ns:bot", "auth0|5f7c", "repo/x"]
)
def test_a_plain_subject_stays_readable(plain: str) -> None:
    """It is what the operator looks for in the audit."""
    assert safe_name(plain) == plain


@pytest.mark.parametrize(
    "odd",
    ["", " a", "a b", "a\n", "#a", "-a", "ä", "a" * 101, "\x1b[31m", "a\u202eb", "\udc80", "a,b", "\x00"],
)
def test_another_subject_becomes_a_digest(odd: str) -> None:
    """It is bounded, and has nothing in it that a terminal or a page would act on."""
    assert safe_name(odd).startswith("#")
    assert len(safe_name(odd)) == 41
    assert safe_name(odd)[1:].isalnum()


@given(st.text(), st.text())
def test_two_subjects_have_two_names(first: str, second: str) -> None:
    """What belongs to one is never the other's."""
    assert (safe_name(first) == safe_name(second)) == (first == second)
    assert safe_name(first).isprintable()
    assert len(safe_name(first)) <= 100
