"""Which of an issuer's people may come in, and what part they play."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.browser.role import Role
from herma.policy.openid.admission import Admission, Admitted, RoleEntry, Unwelcome, admit
from herma.policy.openid.email import Email, parse_email

ALICE = parse_email("alice@good.com")
CLAIMS: dict[str, Any] = {
    "sub": "248289761001",
    "email": "alice@good.com",
    "email_verified": True,
    "groups": ["staff", "agents"],
}
GOOD = frozenset({"good.com"})
EVERYBODY_OF = {"domains": GOOD, "default": Role.VIEWER}


def judged(rules: Admission, **claims: object) -> Admitted | Unwelcome:
    return admit({**CLAIMS, **claims}, rules)


def role(rules: Admission, **claims: object) -> Role | Unwelcome:
    found = judged(rules, **claims)
    return found.role if isinstance(found, Admitted) else found


def test_who_fits_comes_in_by_subject_and_is_shown_by_address() -> None:
    """Without an address that is vouched for, the subject is shown."""
    rules = Admission(groups=frozenset({"staff"}), default=Role.VIEWER)
    assert judged(rules) == Admitted("248289761001", "alice@good.com", Role.VIEWER)
    assert judged(rules, email_verified=False) == Admitted("248289761001", "248289761001", Role.VIEWER)


@pytest.mark.parametrize(
    "email",
    ["alice@evil.com", "a@evil.com@good.com", "alice@good.com@evil.com", "alice@sub.good.com", "alice@notgood.com", "alice@good.com.evil.com", "alice@good.co", None, ["alice@good.com"], '"x@evil.com"@good.com'],
)  # fmt: skip
def test_a_house_is_compared_whole(email: object) -> None:
    """No sub-domain, no ending, no second `@`."""
    assert role(Admission(**EVERYBODY_OF)) is Role.VIEWER
    assert role(Admission(**EVERYBODY_OF), email="ALICE@GOOD.COM") is Role.VIEWER
    assert role(Admission(**EVERYBODY_OF), email=email) is Unwelcome.EMAIL


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_without_proof_is_none(verified: object) -> None:
    """For the house and for the role."""
    by_address = Admission(roles=(RoleEntry(Role.ADMIN, email=ALICE),))
    assert role(by_address) is Role.ADMIN
    assert role(by_address, email_verified=verified) is Unwelcome.ROLE
    assert role(Admission(**EVERYBODY_OF), email_verified=verified) is Unwelcome.EMAIL


@pytest.mark.parametrize(
    "groups",
    [
        [],
        None,
        "agents,staff",
        "agents staff",
        ["Agents"],
        ["agents "],
        ["/agents"],
        [["agents"]],
        {"agents": True},
        1,
        ["x-agents"],
    ],
)
def test_groups_are_compared_whole(groups: object) -> None:
    """One text is one group; a list is taken text by text."""
    rules = Admission(groups=frozenset({"agents"}), default=Role.VIEWER)
    assert role(rules) is Role.VIEWER
    assert role(rules, groups="agents") is Role.VIEWER
    assert role(rules, groups=[1, None, "agents"]) is Role.VIEWER
    assert role(rules, groups=groups) is Unwelcome.GROUP


def test_groups_stand_where_the_configuration_says() -> None:
    """And nowhere else."""
    rules = Admission(
        groups=frozenset({"agents"}), default=Role.VIEWER, groups_claim="https://example.com/roles"
    )
    assert role(rules) is Unwelcome.GROUP
    assert role(rules, **{"https://example.com/roles": ["agents"]}) is Role.VIEWER
    rules = Admission(groups=frozenset({"agents"}), default=Role.VIEWER, groups_claim="/realm_access/roles")
    assert role(rules) is Unwelcome.GROUP
    assert role(rules, **{"/realm_access/roles": ["agents"]}) is Unwelcome.GROUP
    assert role(rules, realm_access={"roles": ["agents"]}) is Role.VIEWER
    assert role(rules, realm_access=["agents"]) is Unwelcome.GROUP


@pytest.mark.parametrize(
    "subject", [None, "", 248289761001, ["248289761001"], "a b", "a\n", "\u00e9", "x" * 256]
)
def test_a_subject_is_one_visible_word(subject: object) -> None:
    """It goes into the audit and names who owns what."""
    assert role(Admission(**EVERYBODY_OF), sub=subject) is Unwelcome.SUBJECT


def test_subjects_are_compared_whole() -> None:
    """As they are."""
    rules = Admission(subjects=frozenset({"248289761001"}), default=Role.OPERATOR)
    assert role(rules) is Role.OPERATOR
    for subject in ("248289761002", "24828976100", "2482897610011", "248289761001@x"):
        assert role(rules, sub=subject) is Unwelcome.SUBJECT


def test_every_list_that_is_given_has_to_fit() -> None:
    """The house alone is not enough where groups are asked for too."""
    rules = Admission(
        domains=GOOD, groups=frozenset({"agents"}), subjects=frozenset({"248289761001"}), default=Role.VIEWER
    )
    assert role(rules) is Role.VIEWER
    assert role(rules, groups=[]) is Unwelcome.GROUP
    assert role(rules, email="a@x.com") is Unwelcome.EMAIL
    assert role(rules, sub="x") is Unwelcome.SUBJECT


def test_the_first_entry_that_fits_gives_the_role() -> None:
    """Who fits none has the default one; without one they do not come in."""
    entries = (
        RoleEntry(Role.ADMIN, subject="s"),
        RoleEntry(Role.OPERATOR, email=ALICE),
        RoleEntry(Role.VIEWER, group="staff"),
        RoleEntry(Role.ADMIN, group="agents"),
    )
    rules = Admission(roles=entries)
    assert role(rules) is Role.OPERATOR
    assert role(rules, sub="s") is Role.ADMIN
    assert role(rules, email="Alice@good.com") is Role.VIEWER
    assert role(rules, email="x@good.com", groups=["agents"]) is Role.ADMIN
    assert role(rules, email="x@good.com", groups=[]) is Unwelcome.ROLE
    assert (
        role(Admission(domains=GOOD, roles=entries, default=Role.VIEWER), groups=[], email="x@good.com")
        is Role.VIEWER
    )


def test_rules_that_let_in_everybody_or_nobody_cannot_be_made() -> None:
    """An issuer may know the whole world."""
    with pytest.raises(ValueError, match="nobody"):
        Admission(domains=GOOD)
    with pytest.raises(ValueError, match="everybody"):
        Admission(default=Role.VIEWER)
    with pytest.raises(ValueError, match="everybody"):
        Admission(default=Role.VIEWER, roles=(RoleEntry(Role.ADMIN, group="x"),))


@pytest.mark.parametrize(
    "which", [{}, {"group": "x", "subject": "y"}, {"group": "x", "email": Email("a", "b.c")}]
)
def test_an_entry_is_about_one_thing(which: dict[str, Any]) -> None:
    """Not about none, which would fit nobody or everybody."""
    with pytest.raises(ValueError, match="an entry names"):
        RoleEntry(Role.VIEWER, **which)


ANY = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.lists(st.text(max_size=6), max_size=3)
)


@given(st.dictionaries(st.sampled_from(["sub", "email", "email_verified", "groups"]), ANY))
def test_claims_of_any_kind_never_let_in_who_is_not_of_the_house(claims: dict[str, object]) -> None:
    """Without an address that is vouched for there is no way in."""
    found = admit(claims, Admission(**EVERYBODY_OF))
    assert isinstance(found, Unwelcome) or str(claims["email"]).lower().endswith("@good.com")
