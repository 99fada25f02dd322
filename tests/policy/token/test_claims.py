"""What the claims of a token have to say."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.token.claims import LEEWAY_S, Claims, Expected, judge_claims
from herma.policy.token.form import Flaw
from support.tokens import AUDIENCE, ISSUER, NOW, claims

EXPECTED = Expected(ISSUER, AUDIENCE, 3600)


def judged(now: float = NOW, **over: object) -> Claims | Flaw:
    return judge_claims(claims(**over), EXPECTED, now)


def test_right_claims_are_taken() -> None:
    """With the subject, the end, and all that was said."""
    found = judged()
    assert found == Claims("worker-1", NOW + 300, claims())
    assert "worker-1" in repr(found)
    assert "scope" not in repr(found)


@pytest.mark.parametrize(
    "issuer",
    [
        None,
        "",
        ISSUER + "/",
        ISSUER.upper(),
        ISSUER[:-1],
        "https://evil.example.com",
        [ISSUER],
        {"iss": ISSUER},
        1,
    ],
)
def test_the_issuer_is_compared_as_it_is_written(issuer: object) -> None:
    """No slash more or less, no letter case, no list that holds it."""
    assert judged(iss=issuer) is Flaw.ISSUER


@pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["other", AUDIENCE]])
def test_the_audience_is_one_of_those_that_are_named(audience: object) -> None:
    """A token may be for several (RFC 7519 section 4.1.3)."""
    assert isinstance(judged(aud=audience), Claims)


@pytest.mark.parametrize(
    "audience",
    [
        None,
        "",
        [],
        [""],
        "other",
        AUDIENCE + "2",
        AUDIENCE[:-1],
        f"other {AUDIENCE}",
        [[AUDIENCE]],
        [AUDIENCE, 1],
        {AUDIENCE: True},
        True,
    ],
)
def test_a_token_for_somebody_else_is_refused(audience: object) -> None:
    """Nor is a part of a name a name, or a list a list that holds something else as well."""
    assert judged(aud=audience) is Flaw.AUDIENCE


@pytest.mark.parametrize("subject", [None, "", 7, ["worker-1"], "x" * 513])
def test_a_token_names_whom_it_is_about(subject: object) -> None:
    """With a text that has an end."""
    assert judged(sub=subject) is Flaw.CLAIMS


@pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
@pytest.mark.parametrize("time", ["1900000300", 1900000300.5, True, -1, 2**53, 10**400, [NOW], {}])
def test_a_time_is_a_whole_number_of_seconds(name: str, time: object) -> None:
    """What parsers may read differently is no time."""
    assert judged(**{name: time}) is Flaw.CLAIMS


def test_a_token_has_an_end() -> None:
    """One without would open for ever."""
    assert judged(exp=None) is Flaw.CLAIMS


def test_clocks_may_differ_a_little() -> None:
    """At the end and at the beginning, by the leeway and no more."""
    assert isinstance(judged(now=NOW + 300 + LEEWAY_S - 1), Claims)
    assert judged(now=NOW + 300 + LEEWAY_S) is Flaw.EXPIRED
    for name in ("nbf", "iat"):
        assert isinstance(judged(**{name: NOW + LEEWAY_S}), Claims)
        assert judged(**{name: NOW + LEEWAY_S + 1}) is Flaw.EARLY


def test_a_token_is_not_issued_for_too_long() -> None:
    """Counted from when it says that it was issued, and from now where it says nothing or a time to come."""
    assert isinstance(judged(exp=NOW + 3500, iat=NOW - 100), Claims)
    assert judged(exp=NOW + 3500, iat=NOW - 200) is Flaw.LIFETIME
    assert isinstance(judged(exp=NOW + 3600, iat=None), Claims)
    assert judged(exp=NOW + 3600 + LEEWAY_S + 1, iat=None) is Flaw.LIFETIME
    assert judged(exp=NOW + 3600 + LEEWAY_S + 1, iat=NOW + 20) is Flaw.LIFETIME
    assert judged(exp=10**12) is Flaw.LIFETIME


@pytest.mark.parametrize("missing", [("", "a", 1), ("a", "", 1), ("a", "b", 0)])
def test_what_is_not_said_would_be_anything(missing: tuple[str, str, float]) -> None:
    """Nobody is expected from an issuer without a name."""
    with pytest.raises(ValueError, match="without one, any would do"):
        Expected(*missing)


@given(
    st.dictionaries(
        st.sampled_from(["iss", "aud", "sub", "exp", "iat", "nbf"]),
        st.none() | st.integers() | st.floats() | st.text(max_size=5) | st.just(ISSUER) | st.just(AUDIENCE),
    )
)
def test_anything_else_is_a_flaw(members: dict[str, object]) -> None:
    """Never an error; and what is taken has an end that is near."""
    found = judge_claims(members, EXPECTED, NOW)
    assert isinstance(found, Flaw) or found.expires <= NOW + 3600 + LEEWAY_S


def test_a_token_that_is_about_nobody_is_taken_where_that_is_said() -> None:
    """A subject that is there must still be one."""
    lenient = Expected(ISSUER, AUDIENCE, 3600, subject=False)
    assert judge_claims(claims(sub=None), lenient, NOW) == Claims("", NOW + 300, claims(sub=None))
    assert judge_claims(claims(sub=""), lenient, NOW) is Flaw.CLAIMS
    assert judged(sub=None) is Flaw.CLAIMS
