"""What a credential lets be fired."""

import hashlib
from typing import Any

import pytest

from herma.policy.fire.permit import FireFlaw, Permit, is_fire_token, permit_of
from herma.policy.fire.request import Fire
from herma.policy.token.claims import Claims
from support.tokens import NOW, claims

BODY = b'{"job_id":"0123456789ab"}'
DIGEST = hashlib.sha256(BODY).hexdigest()


def members(**over: Any) -> dict[str, Any]:
    return claims(
        **(
            {"purpose": "cron_fire", "job_id": "0123456789ab", "jti": "use-1", "sub": None, "scope": None}
            | over
        )
    )


def permitted(**over: Any) -> Permit | FireFlaw:
    said = members(**over)
    return permit_of(Claims("", said["exp"], said), "scheduler")


def test_right_claims_permit_one_job_once() -> None:
    """Its id, and how the token is known for as long as it is taken."""
    found = permitted()
    assert isinstance(found, Permit)
    assert (found.name, found.job_id, found.profile, found.body_sha256) == (
        "scheduler",
        "0123456789ab",
        "",
        None,
    )
    assert found.once is not None
    assert (found.once.issued, found.once.expires) == (NOW - 10, NOW + 300)


@pytest.mark.bypass(76)
@pytest.mark.parametrize(
    ("over", "flaw"),
    [
        ({"purpose": None}, FireFlaw.PURPOSE),
        ({"purpose": "CRON_FIRE"}, FireFlaw.PURPOSE),
        ({"purpose": ["cron_fire"]}, FireFlaw.PURPOSE),
        ({"purpose": "cron_fire "}, FireFlaw.PURPOSE),
        ({"jti": None}, FireFlaw.TOKEN_ID),
        ({"jti": ""}, FireFlaw.TOKEN_ID),
        ({"jti": 7}, FireFlaw.TOKEN_ID),
        ({"jti": "a" * 129}, FireFlaw.TOKEN_ID),
        ({"iat": None}, FireFlaw.ISSUED),
        ({"job_id": None}, FireFlaw.JOB),
        ({"job_id": "../../x"}, FireFlaw.JOB),
        ({"job_id": ["0123456789ab"]}, FireFlaw.JOB),
        ({"job_id": "*"}, FireFlaw.JOB),
        ({"profile": 7}, FireFlaw.CLAIMS),
        ({"profile": ""}, FireFlaw.CLAIMS),
        ({"profile": "../x"}, FireFlaw.CLAIMS),
        ({"body_sha256": "x"}, FireFlaw.CLAIMS),
        ({"body_sha256": DIGEST.upper()}, FireFlaw.CLAIMS),
        ({"body_sha256": 7}, FireFlaw.CLAIMS),
    ],
)
def test_claims_that_permit_nothing(over: dict[str, Any], flaw: FireFlaw) -> None:
    """Another purpose, no id, no time, no one job, or something that is not of its form."""
    assert permitted(**over) is flaw


def test_only_its_purpose_makes_a_fire_token() -> None:
    """An access token is none."""
    assert is_fire_token(members())
    assert not is_fire_token(claims())


def test_a_token_is_known_by_issuer_and_id() -> None:
    """The same id of another issuer is another token, and no two pairs run together."""
    pairs = [("ab", "c"), ("a", "bc"), ("a", "b"), ("1:a", "b"), ("a", "\ud800")]
    known = set()
    for issuer, token_id in pairs:
        found = permitted(iss=issuer, jti=token_id)
        assert isinstance(found, Permit)
        assert found.once is not None
        known.add(found.once.token_id)
    assert len(known) == len(pairs)


@pytest.mark.bypass(76)
@pytest.mark.parametrize(
    ("profile", "prefix", "right"),
    [
        ("", "", True),
        ("", "work", False),
        ("", "default", False),
        ("work", "work", True),
        ("work", "", False),
        ("work", "other", False),
        ("default", "", True),
        ("default", "default", True),
        ("default", "work", False),
    ],
)
def test_the_profile_of_the_path(profile: str, prefix: str, right: bool) -> None:
    """It is the one that the credential is for; none is the default."""
    assert Permit("k", "a", profile).judge_path(prefix) is (None if right else FireFlaw.PROFILE)


@pytest.mark.bypass(76)
@pytest.mark.parametrize(
    ("permit", "fire", "flaw"),
    [
        (Permit("k", "0123456789ab"), Fire("0123456789ab"), None),
        (Permit("k", "0123456789ab"), Fire("0123456789ac"), FireFlaw.JOB),
        (Permit("k", "0123456789ab"), Fire("0123456789a"), FireFlaw.JOB),
        (Permit("k", "0123456789ab"), Fire("0123456789AB"), FireFlaw.JOB),
        (Permit("k", "0123456789ab"), Fire("0123456789ab", "default"), None),
        (Permit("k", "0123456789ab"), Fire("0123456789ab", "work"), FireFlaw.PROFILE),
        (Permit("k", "0123456789ab", "work"), Fire("0123456789ab", "work"), None),
        (Permit("k", "0123456789ab", "work"), Fire("0123456789ab"), None),
        (Permit("k", "0123456789ab", "work"), Fire("0123456789ab", "default"), FireFlaw.PROFILE),
        (Permit("k", "0123456789ab", body_sha256=DIGEST), Fire("0123456789ab"), None),
        (Permit("k", "0123456789ab", body_sha256="0" * 64), Fire("0123456789ab"), FireFlaw.BODY),
    ],
)
def test_the_body_is_the_one_that_was_signed_for(permit: Permit, fire: Fire, flaw: FireFlaw | None) -> None:
    """Its job, its profile, and where the token has a digest, every byte of it."""
    assert permit.judge_body(fire, BODY) is flaw
