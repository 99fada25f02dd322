"""Making keys and storing them unreadable."""

import hashlib

import pytest

from herma.identity import KeyHash, hash_key, new_key
from herma.policy.secret import Secret

FAKE = Secret(b"obviously-fake-key-for-tests-0001")
SALT = bytes(range(16))


def test_new_key_has_256_bits_in_plain_characters() -> None:
    """A key survives shells, URLs and YAML without quoting, and two are never the same."""
    first, second = new_key(), new_key()
    assert first != second
    assert len(first.reveal()) == 43
    assert set(first.reveal()) <= set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_hash_is_sha256_over_salt_and_key() -> None:
    """The stored form can be made by other tools too."""
    expected = hashlib.sha256(SALT + FAKE.reveal()).hexdigest()
    assert hash_key(FAKE, SALT) == f"sha256:{SALT.hex()}:{expected}"


def test_salt_is_random_unless_given() -> None:
    """The same key stored twice looks different."""
    assert hash_key(FAKE) != hash_key(FAKE)


def test_stored_form_is_read_back() -> None:
    """What is written can be read, in either case of hex digits, and says the same."""
    text = hash_key(FAKE, SALT)
    assert KeyHash.parse(text) == KeyHash.of(FAKE.reveal(), SALT)
    assert str(KeyHash.parse(text)) == text
    assert KeyHash.parse("sha256:" + text.removeprefix("sha256:").upper()) == KeyHash.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sha256",
        "sha256::",
        "md5:" + "00" * 16 + ":" + "00" * 32,
        "SHA256:" + "00" * 16 + ":" + "00" * 32,
        "sha256:" + "00" * 7 + ":" + "00" * 32,
        "sha256:" + "00" * 65 + ":" + "00" * 32,
        "sha256:" + "00" * 16 + ":" + "00" * 31,
        "sha256:" + "00" * 16 + ":" + "00" * 33,
        "sha256:" + "00" * 16 + ":" + "00" * 32 + ":00",
        "sha256:" + "00 " * 16 + ":" + "00" * 32,
        "sha256:" + "0" * 31 + ":" + "00" * 32,
        "sha256:" + "zz" * 16 + ":" + "00" * 32,
        "sha256:" + "\u0660" * 32 + ":" + "00" * 32,
    ],
)
def test_anything_else_is_no_key_hash(text: str) -> None:
    """A stored form is read exactly, and a wrong one is not repeated in the error."""
    with pytest.raises(ValueError, match="sha256:<salt hex>:<digest hex>") as caught:
        KeyHash.parse(text)
    assert "00" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_key_hash_does_not_show_in_repr() -> None:
    """A log line with a record in it does not help to guess offline."""
    text = repr(KeyHash.parse(hash_key(FAKE, SALT)))
    assert SALT.hex() not in text
    assert hash_key(FAKE, SALT)[-64:] not in text
