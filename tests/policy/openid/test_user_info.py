"""What an issuer says beside the ID token."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.browser.role import Role
from herma.policy.openid.admission import Admission, RoleEntry
from herma.policy.openid.email import Email
from herma.policy.openid.user_info import completed, lacking

HOUSE = Admission(domains=frozenset({"good.com"}), default=Role.VIEWER)
GROUPS = Admission(roles=(RoleEntry(Role.ADMIN, group="agents"),))
SUBJECTS = Admission(subjects=frozenset({"a"}), default=Role.VIEWER)
TOKEN: dict[str, Any] = {"sub": "a"}
EMAIL: dict[str, Any] = {"email": "a@good.com", "email_verified": True}


@pytest.mark.parametrize(
    ("rules", "claims", "lacks"),
    [
        (HOUSE, {}, True),
        (HOUSE, EMAIL, False),
        (HOUSE, {"email": "a@good.com"}, True),
        (Admission(roles=(RoleEntry(Role.ADMIN, email=Email("a", "good.com")),)), {}, True),
        (GROUPS, {}, True),
        (GROUPS, {"groups": []}, False),
        (
            Admission(groups=frozenset({"x"}), default=Role.VIEWER, groups_claim="/realm/roles"),
            {"realm": {}},
            False,
        ),
        (Admission(groups=frozenset({"x"}), default=Role.VIEWER, groups_claim="/realm/roles"), {}, True),
        (SUBJECTS, {}, False),
    ],
)
def test_only_what_the_rules_look_at_can_be_lacking(
    rules: Admission, claims: dict[str, Any], lacks: bool
) -> None:
    """Who is let in by subject needs nothing more."""
    assert lacking({**TOKEN, **claims}, rules) is lacks


def test_what_is_lacking_is_put_in_and_nothing_else() -> None:
    """Neither a claim that nobody looks at, nor one that the token has."""
    said = {"sub": "a", **EMAIL, "groups": ["agents"], "iss": "x", "aud": "x"}
    assert completed(TOKEN, said, HOUSE) == {**TOKEN, **EMAIL}
    assert completed({**TOKEN, "groups": []}, said, GROUPS) == {**TOKEN, "groups": []}
    assert completed(TOKEN, said, GROUPS) == {**TOKEN, "groups": ["agents"]}


def test_an_address_and_its_proof_come_from_one_place() -> None:
    """The proof of another address proves nothing."""
    token = {**TOKEN, "email": "a@good.com"}
    assert completed(token, {"sub": "a", "email": "a@evil.com", "email_verified": True}, HOUSE) == {
        "sub": "a", "email": "a@evil.com", "email_verified": True
    }  # fmt: skip
    assert completed(token, {"sub": "a", "email_verified": True}, HOUSE) == token
    kept = {**TOKEN, "email": "a@good.com", "email_verified": False}
    assert completed(kept, {"sub": "a", **EMAIL}, HOUSE) == kept


@pytest.mark.parametrize(
    "said", [None, [], "a", {}, EMAIL, {"sub": "b", **EMAIL}, {"sub": ["a"], **EMAIL}, {"sub": "A", **EMAIL}]
)
def test_what_is_about_somebody_else_counts_for_nothing(said: object) -> None:
    """Nor what does not say about whom it is."""
    assert completed(TOKEN, said, HOUSE) is None
    assert completed({}, said, HOUSE) is None


VALUES = st.none() | st.booleans() | st.text(max_size=4)
CLAIMS = st.dictionaries(st.sampled_from(["sub", "email", "email_verified", "groups", "iss"]), VALUES)


@given(CLAIMS, CLAIMS)
def test_who_somebody_is_never_changes(claims: dict[str, Any], said: dict[str, Any]) -> None:
    """Whatever is said; and an address goes with its own proof."""
    found = completed(claims, said, HOUSE)
    if found is not None:
        assert found["sub"] == claims["sub"]
        assert found.get("iss") == claims.get("iss")
        pair = (found.get("email"), found.get("email_verified"))
        assert pair in {(one.get("email"), one.get("email_verified")) for one in (claims, said)}
