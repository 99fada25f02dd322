"""What an ID token has to say."""

import pytest

from herma.policy.openid.id_token import is_for_this_login

CLAIMS = {"aud": "herma", "iat": 1_800_000_000, "nonce": "n-0S6_WzA2Mj"}


@pytest.mark.parametrize(
    "more",
    [{}, {"aud": ["herma"]}, {"azp": "herma"}, {"aud": ["herma", "other"], "azp": "herma"}],
)
def test_a_token_of_this_login_is_taken(more: dict[str, object]) -> None:
    """For one party, or for several that name this one."""
    assert is_for_this_login({**CLAIMS, **more}, "herma", "n-0S6_WzA2Mj")


@pytest.mark.parametrize(
    "more",
    [
        {"nonce": "other"}, {"nonce": None}, {"nonce": ["n-0S6_WzA2Mj"]}, {"nonce": "n-0S6_WzA2M"}, {"nonce": ""}, {"nonce": "\ud800"}, {"azp": "other"}, {"azp": ["herma"]}, {"azp": ""},
        {"aud": ["herma", "other"]}, {"aud": ["herma", "other"], "azp": "other"}, {"aud": []}, {"iat": None}, {"iat": "1800000000"},
    ],
)  # fmt: skip
def test_a_token_of_another_login_is_not(more: dict[str, object]) -> None:
    """Another nonce, another party, no time."""
    assert not is_for_this_login({**CLAIMS, **more}, "herma", "n-0S6_WzA2Mj")


def test_what_is_missing_is_not_assumed() -> None:
    """Neither nonce nor time of issue."""
    for name in ("nonce", "iat"):
        assert not is_for_this_login(
            {key: value for key, value in CLAIMS.items() if key != name}, "herma", "n-0S6_WzA2Mj"
        )
