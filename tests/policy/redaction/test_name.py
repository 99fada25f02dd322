"""Names that announce a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.name import Strength, words_of
from support.redactor import redactor

NAMES = redactor().finder.names

SECRET = [
    "DB_PASSWORD",
    "apiKey",
    "APIKey",
    "X-Vault-Token",
    "spring.datasource.password",
    "openaiAdminKey",
    "PGPASSWORD",
    "TF_TOKEN_app_terraform_io",
    "access_token_2",
    "AWS_SECRET_ACCESS_KEY",
    "AWSAccessKeyId",
    "clientSecret",
    "srcstorepass",
    "密码",
    "API_SERVER_KEY",
    "NPM_TOKEN_PROD",
]
PLAIN = [
    "max_tokens",
    "MAX_TOKEN",
    "token_count",
    "password_file",
    "API_KEY_HEADER",
    "public_key",
    "cache_key",
    "session_key",
    "pattern_key",
    "eos_token_id",
    "TOKENIZERS_PARALLELISM",
    "secretary",
    "key",
    "PASSWORD_HASHERS",
    "imagePullSecrets",
    "keyboard",
    "",
    "bypass",
]


@pytest.mark.parametrize("name", SECRET)
def test_a_name_whose_last_word_is_a_secret_announces_one(name: str) -> None:
    """Separators, case and a numbered or staged ending do not matter."""
    assert NAMES.classify(name) is not None


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_of_something_else_announces_none(name: str) -> None:
    """Counts, files, headers and public keys are no secrets."""
    assert NAMES.classify(name) is None


def test_a_key_needs_a_word_that_makes_it_secret() -> None:
    """`encryption_key` is strong, `wandb_key` needs a value that looks drawn."""
    strong, weak = NAMES.classify("encryption_key"), NAMES.classify("wandb_key")
    assert strong is not None
    assert strong.strength == Strength.STRONG
    assert weak is not None
    assert weak.strength == Strength.WEAK


def test_a_name_beyond_the_bound_announces_none() -> None:
    """A name of a page is no name."""
    assert NAMES.classify("a" * 200 + "_password") is None


def test_names_are_remembered_within_bounds() -> None:
    """A text made of new names does not grow the process."""
    for number in range(5000):
        NAMES.classify(f"name{number}_token")
    assert len(NAMES._cache) <= 4096


@given(st.text(max_size=60))
def test_any_text_is_classified(name: str) -> None:
    """Classification never fails."""
    NAMES.classify(name)
    assert all(word == word.lower() for word in words_of(name))
