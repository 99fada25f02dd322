"""Stored passwords: one scheme, strong enough, cheap enough."""

import pytest

from herma.policy.browser.password_hash import (
    MAX_MEMORY_KIB,
    MAX_PASSWORD_CHARACTERS,
    PasswordHash,
    prepared,
)

SALT = "Zml4ZWQtc2FsdC0xNmJ5dA"
DIGEST = "o6WLtgm1EvKSC8QX4bPZzi5f3HOLm+2RBieI5IFO7VE"


def form(parameters: str = "m=19456,t=2,p=1", salt: str = SALT, digest: str = DIGEST) -> str:
    return f"$argon2id$v=19${parameters}${salt}${digest}"


@pytest.mark.parametrize(
    "parameters",
    ["m=47104,t=1,p=1", "m=19456,t=2,p=1", "m=12288,t=3,p=1", "m=9216,t=4,p=1", "m=7168,t=5,p=1", "m=65536,t=3,p=4",
     "m=262144,t=16,p=8"],
)  # fmt: skip
def test_what_owasp_calls_equal_is_accepted_and_written_back_the_same(parameters: str) -> None:
    """Memory may be traded against passes, along one line."""
    assert PasswordHash.parse(form(parameters)).reveal() == form(parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        "m=19455,t=2,p=1",
        "m=19456,t=1,p=1",
        "m=47103,t=1,p=1",
        "m=7167,t=16,p=1",
        "m=7168,t=4,p=1",
        "m=8,t=1,p=1",
    ],
)
def test_what_is_cheap_to_guess_is_refused(parameters: str) -> None:
    """The message says what was found, what was expected, and how to get it."""
    with pytest.raises(ValueError, match=r"found argon2id with .*expected at least .*herma key password"):
        PasswordHash.parse(form(parameters))


@pytest.mark.parametrize(
    "parameters",
    [f"m={MAX_MEMORY_KIB + 1},t=2,p=1", "m=65536,t=17,p=1", "m=65536,t=2,p=9", "m=999999999,t=2,p=1"],
)
def test_what_would_exhaust_the_gate_is_refused(parameters: str) -> None:
    """A configuration must not be able to take the machine's memory with each login."""
    with pytest.raises(ValueError, match="expected at most"):
        PasswordHash.parse(form(parameters))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain password",
        form().replace("argon2id", "argon2i"),
        form().replace("argon2id", "argon2d"),
        form().replace("v=19", "v=16"),
        form().replace("$v=19", ""),
        "$2b$12$abcdefghijklmnopqrstuuE5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy",
        "scrypt$16384$8$1$abc$def",
        form("m=019456,t=2,p=1"),
        form("m=19456,t=2"),
        form("t=2,m=19456,p=1"),
        form("m=19456,t=2,p=0"),
        form("m=19456,t=2,p=1,keyid=AAAA"),
        form("m=\u0661\u0669456,t=2,p=1"),
        form() + "\n",
        form() + "=",
        form(salt="c2hvcnQ"),
        form(digest="c2hvcnQ"),
        form(salt="A" * 120),
        form(salt="A" * 29),
        form(salt="A" * 25),
        form(salt="Zml4ZWQtc2FsdC0xNmJ5dB"),
    ],
    ids=range(22),
)
def test_anything_else_is_refused_and_not_repeated(text: str) -> None:
    """Other schemes, other orders, other spellings of the same bytes, salts that are too short or too long."""
    with pytest.raises(ValueError, match="expected argon2id as") as caught:
        PasswordHash.parse(text)
    assert DIGEST not in str(caught.value)


def test_a_hash_does_not_show_by_accident() -> None:
    """A person's password can be guessed from it."""
    stored = PasswordHash.parse(form())
    assert repr(stored) == str(stored) == f"{stored}" == "PasswordHash('***')"


def test_cost_compares_hashes() -> None:
    """More memory or more passes is more work."""
    assert PasswordHash.parse(form("m=19456,t=3,p=1")).cost > PasswordHash.parse(form()).cost


def test_a_password_has_the_same_bytes_on_every_keyboard() -> None:
    """One letter and its composition are one."""
    assert prepared("u\u0308bel") == prepared("\u00fcbel") == "\u00fcbel".encode()


@pytest.mark.parametrize("text", ["", "a\0b", "\ud800", "x" * (MAX_PASSWORD_CHARACTERS + 1)])
def test_what_cannot_be_a_password_is_none(text: str) -> None:
    """Empty, cut short by some reader, not a text, or longer than anybody types."""
    assert prepared(text) is None
