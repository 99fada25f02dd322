"""Names that announce a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.name import MAX_NAMES, Names, Strength, words_of
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


@pytest.mark.parametrize("name", ["SECRET_STRIPE", "tokenGithub", "api_key_openai", "password.main_db"])
def test_a_product_behind_the_word_is_a_hint(name: str) -> None:
    """Only a value that a machine issued is masked then."""
    known = NAMES.classify(name)
    assert known is not None
    assert known.strength == Strength.HINT


@pytest.mark.parametrize(
    "name",
    [
        "token_address",
        "secret_name",
        "api_key_id_hash",
        "passwordPolicy",
        "stripe_main_db",
        "SignatureValue",
        "PASSWORD_RESET_TIMEOUT",
    ],
)
def test_a_property_behind_the_word_is_none(name: str) -> None:
    """Where it is kept, what it is called, how long it is."""
    assert NAMES.classify(name) is None


@pytest.mark.parametrize("name", ["mật khẩu", "Lösenord", "كلمة المرور", "contraseña", "mot de passe"])
def test_names_of_other_languages_are_known(name: str) -> None:
    """With accents, in other scripts, in several words."""
    known = NAMES.classify(name)
    assert known is not None
    assert known.password


@pytest.mark.parametrize(
    "name", ["primarykey", "qualtricscachekey", "compass", "bypass", "oauth2", "tiktoken"]
)
def test_a_word_that_only_ends_like_one_announces_none(name: str) -> None:
    """Written as one word, a name is judged by what stands before its end."""
    assert NAMES.classify(name) is None


@pytest.mark.parametrize("name", ["datadogkey", "bitlypat", "surveymonkeycredential", "autodeskpass"])
def test_a_vendor_and_a_word_written_as_one_announce_a_secret(name: str) -> None:
    """No separator, no change of case."""
    assert NAMES.classify(name) is not None


@pytest.mark.parametrize(
    ("seen", "name", "kept"),
    [
        (" path=/", "path", True),
        (" path=", "path", True),
        ("\npaths\n", "paths", True),
        (" tokeniz", "tokenizer", False),
        ("_path=/", "a_path", False),
        (" path.x", "path.x", False),
        (" path", "path", False),
        ("", "path", False),
    ],
)
def test_a_name_that_announces_nothing_is_known_by_its_surroundings(seen: str, name: str, kept: bool) -> None:
    """Where they tell that the name is whole, no place like it is looked at again."""
    names = Names([])
    names.forget(seen, name)
    assert (seen in names.nameless) == kept


def test_surroundings_are_remembered_within_bounds() -> None:
    """A text made of new names does not grow the process."""
    names = Names([])
    for number in range(MAX_NAMES + 3):
        names.forget(f" n{number}=x", f"n{number}")
    assert len(names.nameless) == 3


def test_the_end_of_a_digest_names_nothing() -> None:
    """Lists of files hold digests that end in `pw`; behind a sign the same letters are a word."""
    assert NAMES.classify("F4keFRfFeLJoj90UYVyjeKIzGfY05JhUFy7IfZ59pw") is None
    assert NAMES.classify("F4keFRfFeLJoj90UYVyjeKIzGfY05JhUFy7IfZ59_pw") is not None
