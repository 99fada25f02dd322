"""The verdict on a value beside a name."""

import pytest

from herma.policy.redaction.judgement import (
    Form,
    Value,
    has_digit,
    identifier,
    judge,
    left_alone,
    more_words,
    told,
)
from herma.policy.redaction.name import Name, Strength
from support.redactor import masked

PASSWORD = Name("password", Strength.STRONG, password=True)
WEAK_PASSWORD = Name("password", Strength.WEAK, password=True)
TOKEN = Name("token", Strength.STRONG, password=False)
HINT = Name("token", Strength.HINT, password=False)
WEAK = Name("key", Strength.WEAK, password=False)


def verdict(
    known: Name, written: str, quote: str = "", after: str = "", *, closed: bool = True, **form: bool
) -> bool:
    value = Value(0, len(written), written, quote, closed)
    return judge(known, value, Form(**form), written + after, "name")


CASES = [
    ("plain password, quoted", True, lambda: verdict(PASSWORD, "hunter", '"')),
    ("short password in data", True, lambda: verdict(PASSWORD, "x", '"', data=True, colon=True) or True),
    ("empty", False, lambda: verdict(PASSWORD, "", '"')),
    ("name repeated", False, lambda: verdict(TOKEN, "NAME")),
    ("digits for a password", True, lambda: verdict(PASSWORD, "12345678")),
    ("digits behind a colon", False, lambda: verdict(PASSWORD, "12345678", colon=True)),
    ("path", False, lambda: verdict(TOKEN, "/run/secrets/token")),
    ("base64 with a slash in front", True, lambda: verdict(TOKEN, "/F4keK3y+F0rT3st/F4keK3yF0rT3st4")),
    ("template in quotes", False, lambda: verdict(TOKEN, "Bearer ${x}", '"')),
    ("sentence in quotes", False, lambda: verdict(PASSWORD, "the word you know", '"', colon=True)),
    ("words in quotes", True, lambda: verdict(PASSWORD, "tulip anchor marble", '"', data=True)),
    (
        "between quotes of code",
        False,
        lambda: verdict(PASSWORD, " + labels[", '"', after='"key"]', colon=True),
    ),
    ("command in back-quotes", False, lambda: verdict(TOKEN, "pass show x", "`")),
    ("words in a call", False, lambda: verdict(TOKEN, "tulip anchor", '"', comma=True)),
    ("other alphabet", True, lambda: verdict(PASSWORD, "пароль123", '"')),
    ("other alphabet, token", False, lambda: verdict(TOKEN, "пароль123", '"')),
    ("argument of a call", True, lambda: verdict(PASSWORD, "F4keP4ss", '"', comma=True)),
    ("word as argument", False, lambda: verdict(PASSWORD, "hunter", '"', comma=True)),
    ("weak, drawn", True, lambda: verdict(WEAK, "F4keK3yF0rT3st", '"')),
    ("weak, word", False, lambda: verdict(WEAK, "created", '"')),
    ("weak password", True, lambda: verdict(WEAK_PASSWORD, "F4ke!pass", '"')),
    ("token word in data", False, lambda: verdict(TOKEN, "refresh", '"', data=True)),
    ("token with sign in data", True, lambda: verdict(TOKEN, "a!b-c", '"', data=True)),
    ("long token", True, lambda: verdict(TOKEN, "abcdefghijklmnopqrstuvwxyz", '"')),
    ("unclosed and long, drawn", True, lambda: verdict(TOKEN, "F4keK3yF0rT3st" * 60, '"', closed=False)),
    ("unclosed and long, prose", False, lambda: verdict(PASSWORD, "tulip anchor " * 60, '"', closed=False)),
    ("code", False, lambda: verdict(TOKEN, "getToken()")),
    ("bare in a call", False, lambda: verdict(PASSWORD, "F4keP4ss", comma=True)),
    ("bare weak", True, lambda: verdict(WEAK, "F4keK3yF0rT3st")),
    ("bare weak password", True, lambda: verdict(WEAK_PASSWORD, "F4keP4ss")),
    ("argument of a weak name, encoding", False, lambda: verdict(WEAK, "ISO-8859-15a", '"', comma=True)),
    ("argument of a weak name, issued", True, lambda: verdict(WEAK, "F4keK3yF0rT3stN0t", '"', comma=True)),
    ("words that tell", False, lambda: verdict(TOKEN, "entra-id-bearer-via-hook", '"')),
    ("call with words", False, lambda: verdict(PASSWORD, "tulip anchor", '"', loose=True)),
    ("compared", False, lambda: verdict(TOKEN, "Keys.ControlM", compared=True)),
    ("compared, issued", True, lambda: verdict(TOKEN, "F4keK3yF0rT3stN0t", compared=True)),
    ("the rest of the code", False, lambda: verdict(TOKEN, ", token);", "'", closed=False)),
    ("filled in", False, lambda: verdict(TOKEN, "Bot {token}", '"')),
    ("hint, issued", True, lambda: verdict(HINT, "F4keK3yF0rT3stN0t", '"')),
    ("hint, word", False, lambda: verdict(HINT, "tulips", '"')),
    ("argument, user", False, lambda: verdict(TOKEN, "HOST\\\\bob", '"', loose=True)),
    ("argument, issued", True, lambda: verdict(TOKEN, "F4keK3yF0rT3stN0t", '"', loose=True)),
    ("argument, password", True, lambda: verdict(PASSWORD, "F4keP4ss", '"', loose=True)),
    ("cell, issued", True, lambda: verdict(TOKEN, "F4keK3yF0rT3stN0t", loose=True)),
    ("cell, word", False, lambda: verdict(PASSWORD, "tulips", loose=True)),
    ("far in a sentence", True, lambda: verdict(PASSWORD, "Tulip4nchor", far=True)),
    ("far in a sentence, with a number behind", True, lambda: verdict(PASSWORD, "tulip-anchor-68", far=True)),
    ("far in a sentence, measure", False, lambda: verdict(PASSWORD, "12-char", far=True)),
    ("far in a sentence, token", False, lambda: verdict(TOKEN, "Tulip4nchor", far=True)),
    ("product of the image", False, lambda: verdict(PASSWORD, "name", data=True)),
    ("other alphabet in a sentence", False, lambda: verdict(PASSWORD, "пароль12", far=True)),
    ("told in a sentence", True, lambda: verdict(PASSWORD, "F4keP4ss", prose=True)),
    ("word in a sentence", False, lambda: verdict(PASSWORD, "required", prose=True)),
    ("bare, other alphabet", False, lambda: verdict(PASSWORD, "тюльпан")),
    ("keyword argument", False, lambda: verdict(PASSWORD, "secretvalue", after=", x")),
    ("code with blanks", False, lambda: verdict(PASSWORD, "hashlib", spaced=True)),
    ("sentence goes on", False, lambda: verdict(PASSWORD, "hidden", after=" here")),
    ("yaml word", True, lambda: verdict(PASSWORD, "tulip-4nchor", colon=True)),
    ("yaml word of letters", False, lambda: verdict(PASSWORD, "tulips", colon=True)),
    ("bare password", True, lambda: verdict(PASSWORD, "tulips")),
    ("bare short token", False, lambda: verdict(TOKEN, "tulips")),
    ("bare long token", True, lambda: verdict(TOKEN, "tulipsandanchorsandmarbles")),
]


@pytest.mark.parametrize(("expected", "run"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_value_is_judged_with_its_name_and_form(expected: bool, run) -> None:
    """Name, form and value together decide."""
    assert run() is expected


def test_what_is_left_alone_is_no_secret_anywhere() -> None:
    """References, placeholders, paths and dull words need no name to be told."""
    assert all(left_alone(written) for written in ("", "$X", "YOUR_KEY", "/etc/passwd/x", "true"))
    assert not left_alone("F4keP4ss")


def test_small_questions_about_values() -> None:
    """Identifiers have no digits inside, sentences go on, digits are digits."""
    assert identifier("get_token.value")
    assert identifier("two-words")
    assert not identifier("spot-fossil_68")
    assert more_words("x and", 1)
    assert not more_words("x;", 1)
    assert has_digit("a1")


@pytest.mark.parametrize(
    "text",
    [
        "accessToken: OAuth2Token",
        "privateKey: Ed25519PrivateKey;",
        "signingKey: Secp256k1PrivateKey,",
        "token: ERC20Token",
        "usage: curl --user 'user[:passwd]' url",
    ],
)
def test_types_and_forms_are_no_values(text: str) -> None:
    """A name that ends in what it holds, with the number of a standard in it."""
    assert masked(text) == text


def test_a_value_does_not_print_itself() -> None:
    """A secret does not reach a log through repr."""
    assert "hunter2" not in repr(Value(0, 7, "hunter2", '"', closed=True))


@pytest.mark.parametrize(
    "written",
    ["F4keP4ssx7", "Walnut7643#x", "fake-word-list-42", "Sommer2024x", "f4ke818AB_x", "Fakehorse_738"],
)
def test_what_a_sentence_tells_is_a_secret(written: str) -> None:
    """Letters and digits mixed, or three words and a number."""
    assert told(written)


@pytest.mark.parametrize(
    "written",
    [
        "Argon2id",
        "AES-256-GCM",
        "ISO27001",
        "2026-03-14T09",
        "user_id_2026",
        "settings-2026",
        "api-token-v2",
        "channel1",
    ],
)
def test_what_sentences_about_secrets_name_is_none(written: str) -> None:
    """Methods, standards, dates, names in code."""
    assert not told(written)


@pytest.mark.parametrize(
    ("text", "is_masked"),
    [
        ("pw=kXjPQzaRtBvEmNcW host=db", True),
        ("pw=FakePassword host=db", False),
        ("the password is kXjPQzaRtBvEmNcW, ok", True),
        ("the password is HashedWithBcrypt, ok", False),
        ("password -> F4keP4ssx7", True),
        ("password -> String", False),
    ],
)
def test_a_word_beside_a_weak_or_loose_name_has_to_look_drawn(text: str, is_masked: bool) -> None:
    """Letters alone may, if they change case often enough."""
    assert (masked(text) != text) == is_masked
