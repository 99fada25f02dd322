"""Values by themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction import value as values

REFERENCES = [
    "$TOKEN",
    "${TOKEN}",
    "${TOKEN:-x}",
    "$(pass show x)",
    "${{ secrets.X }}",
    "<your key>",
    "{token}",
    "{{ x }}",
    "%TOKEN%",
    "%s",
    "%(x)s",
    "`pass`",
    "$1",
    "$A$B",
    "@secret.txt",
    ".*/name:",
    "sha256=F4keFRfFeLJoj90UYVyjeKIzGfY05JhUFy7IfZ59pw",
    "(user, password)",
]
CODE = [
    "os.environ['X']",
    "process.env.X",
    "getToken()",
    "await f(x)",
    "cfg.password",
    "self.token",
    "user.profile.token",
]
PLACEHOLDERS = [
    "sk-...",
    "YOUR_TOKEN",
    "your-api-key",
    "xxxxxxxx",
    "********",
    "AKIAIOSFODNN7EXAMPLE",
    "changeme",
    "<token>",
    "[token:01234567]",
    "sk-[token:01234567]",
    "0000",
]
DULL = ["true", "null", "string", "4096", "30s", "1.2.3", "bearer", "password", "required?"]
PATHS = [
    "/etc/ssl/key.pem",
    "./key.json",
    "~/.ssh/id",
    "https://idp.internal/token",
    "server.key",
    "C:\\keys",
]
DRAWN = ["F4keK3yF0rT3st", "fa4e0c0ffee1dead", "c2VjcmV0IHRleHQx", "f4ke0k3yn0tr3al7"]
WRITTEN = [
    "task-management-dashboard-v2",
    "pplx-embed-context-v1-large",
    "ShortIdentifierOfTheClass",
    "short",
    "lowercaseword",
    "12345678901",
]


@pytest.mark.parametrize("value", REFERENCES)
def test_a_reference_is_filled_in_elsewhere(value: str) -> None:
    """Variables, substitutions and templates are no secrets."""
    assert values.is_reference(value)


@pytest.mark.parametrize("value", CODE)
def test_an_expression_is_code(value: str) -> None:
    """Look-ups, calls and attributes are no secrets."""
    assert values.is_code(value)


@pytest.mark.parametrize("value", PLACEHOLDERS)
def test_a_placeholder_marks_where_a_secret_would_stand(value: str) -> None:
    """Examples, masks and what was masked already are no secrets."""
    assert values.is_placeholder(value)


@pytest.mark.parametrize("value", DULL)
def test_common_words_and_numbers_are_dull(value: str) -> None:
    """Types, flags and counts are no secrets."""
    assert values.is_dull(value)


@pytest.mark.parametrize("value", PATHS)
def test_a_file_or_address_is_where_a_secret_is_kept(value: str) -> None:
    """Paths and plain URLs are no secrets."""
    assert values.is_path(value)


@pytest.mark.parametrize("value", DRAWN)
def test_drawn_values_look_random(value: str) -> None:
    """Alternating digits and cases are drawn."""
    assert values.looks_random(value)
    assert values.looks_like_password(value)
    assert not values.is_reference(value)
    assert not values.is_placeholder(value)


@pytest.mark.parametrize("value", WRITTEN)
def test_written_values_do_not_look_random(value: str) -> None:
    """Words, identifiers and numbers are written."""
    assert not values.looks_random(value)


def test_a_long_run_of_letters_and_digits_is_no_word_though_it_counts_up() -> None:
    """Keys in examples of vendors; many of one kind alone are none."""
    assert values.looks_random("1234567890abcdef1234567890abcdef")
    assert not values.looks_random("1234567890abcdef")
    assert not values.looks_random("12345678901234567890123456789012")
    assert not values.looks_random("theLongestIdentifierOfThisClass17")


@pytest.mark.parametrize(
    ("value", "prose"),
    [("one", False), ("the word you say", True), ("forgot it?", True), ("tulip anchor", False)],
)
def test_a_sentence_is_prose(value: str, *, prose: bool) -> None:
    """Function words and final marks make a sentence."""
    assert values.is_prose(value) is prose


def test_a_placeholder_does_not_hide_what_stands_beside_it() -> None:
    """A secret with a placeholder glued to it is still a secret."""
    assert not values.is_placeholder("F4keK3yF0rT3st[token:01234567]")
    assert not values.looks_like_password("abc")


@given(st.text(max_size=80))
def test_any_value_is_judged(value: str) -> None:
    """No test fails on any text."""
    for judge in (
        values.is_reference,
        values.is_code,
        values.is_placeholder,
        values.is_dull,
        values.is_path,
        values.is_prose,
        values.looks_random,
        values.looks_like_password,
    ):
        assert judge(value) in {True, False}


@pytest.mark.parametrize(
    "value",
    [
        "exampleZk7pQ2vW9sXe",
        "Zk7pQ2vW9sXe_here",
        "my-secret-9f8e7d6c5b4a39281706",
        "xxxxZk7pQ2vW9sXe",
        "***Zk7pQ2vW9sXe",
        "Zk7pQ2vW9sXe...",
        "0123456789Zk7pQ2vW9sXe",
    ],
)
def test_a_mark_does_not_acquit_what_stands_beside_it(value: str) -> None:
    """Whoever marks a secret as an example has not made it one."""
    assert not values.is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        "your-super-secret-jwt-token-with-at-least-32-characters-long",
        "sk-your-key-here",
        "ghp_xxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "sk-...",
        "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx",
    ],
)
def test_what_is_left_of_a_placeholder_without_its_marks_is_nothing(value: str) -> None:
    """Documentation is full of them."""
    assert values.is_placeholder(value)


@pytest.mark.parametrize("value", ["$Zk7pQ2vW9sXe", "{Zk7pQ2vW9sXe}", "%Zk7pQ2vW9sXe%", "<Zk7pQ2vW9sXe>"])
def test_what_looks_drawn_is_not_the_name_of_a_variable(value: str) -> None:
    """Names are written."""
    assert not values.is_reference(value)


@pytest.mark.parametrize("value", ["(open", "[open", "&open", "@open", "`open", "!secret x"])
def test_signs_of_code_refer_to_nothing_between_quotes(value: str) -> None:
    """They are characters of a password there."""
    assert values.is_reference(value)
    assert not values.is_reference(value, quoted=True)


@pytest.mark.parametrize(
    "value",
    [
        "vault:secret/data/app#password",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
        "projects/acme/secrets/db-pass/versions/latest",
        "env:OPENAI_API_KEY",
        "file:/run/secrets/key",
        "%env(DB_PASS)%",
        "pk.eyJ1IjoiZmFrZSJ9",
        "pk_live_F4keK3yF0rT3st",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
    ],
)
def test_what_a_store_keeps_and_what_everybody_may_read_is_no_secret(value: str) -> None:
    """In quotes or not."""
    assert values.is_reference(value)
    assert values.is_reference(value, quoted=True)


@pytest.mark.parametrize("value", ["vault:v1:F4keK3yF0rT3st", "arnold:F4ke", "projects", "F4keK3yF0rT3st"])
def test_what_only_begins_like_a_reference_is_none(value: str) -> None:
    """What a vault encrypted is the value itself."""
    assert not values.is_reference(value)
