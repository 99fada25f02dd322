"""Claims about `herma.content.ioc.signature`."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from herma.content.ioc.signature import (
    PublicKey,
    is_signed_by,
    new_signing_key,
    read_public_key,
    read_signing_key,
    sign,
)

KEY = new_signing_key()
OTHER = new_signing_key()
MANIFEST = b'{"schema": 2}\n'


def test_who_signed_is_found_among_several() -> None:
    """One key that is trusted is enough, and it is named."""
    assert is_signed_by(MANIFEST, sign(MANIFEST, KEY), [OTHER.public, KEY.public]) == KEY.public
    assert is_signed_by(MANIFEST, sign(MANIFEST, KEY), [OTHER.public]) is None
    assert is_signed_by(MANIFEST, sign(MANIFEST, KEY), []) is None


def test_signatures_of_other_keys_are_kept_when_asked_for() -> None:
    """During a change of keys both are there; one key signs once."""
    both = sign(MANIFEST, OTHER, sign(MANIFEST, KEY))
    assert is_signed_by(MANIFEST, both, [KEY.public])
    assert is_signed_by(MANIFEST, both, [OTHER.public])
    assert len(json.loads(sign(MANIFEST, KEY, both))["signatures"]) == 2


@given(st.binary(max_size=40))
def test_a_signature_is_about_these_bytes_only(other: bytes) -> None:
    """Any other manifest is not signed by it."""
    assert other == MANIFEST or is_signed_by(other, sign(MANIFEST, KEY), [KEY.public]) is None


def test_a_signature_of_the_same_bytes_for_another_purpose_does_not_count() -> None:
    """The signed bytes begin with what they are for."""
    bare = Ed25519PrivateKey.from_private_bytes(KEY.raw).sign(MANIFEST)
    entry = {"key": KEY.public.name, "signature": base64.b64encode(bare).decode()}
    raw = json.dumps({"schema": 1, "signatures": [entry]}).encode()
    assert is_signed_by(MANIFEST, raw, [KEY.public]) is None


def test_keys_are_read_from_their_files() -> None:
    """PEM or 32 bytes; the private half never shows."""
    assert read_signing_key(KEY.pem()) == read_signing_key(KEY.raw) == KEY
    assert read_public_key(KEY.public.pem()) == read_public_key(KEY.public.raw) == KEY.public
    assert KEY.raw.hex() not in repr(KEY)
    assert repr(KEY.raw) not in repr(KEY)
    assert len(KEY.public.name) == 16


def _pem(key: Any) -> tuple[bytes, bytes]:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


WRONG = {
    "RSA": _pem(rsa.generate_private_key(65537, 2048)),
    "ECDSA": _pem(ec.generate_private_key(ec.SECP256R1())),
    "Ed448": _pem(ed448.Ed448PrivateKey.generate()),
    "X25519": _pem(x25519.X25519PrivateKey.generate()),
    "nothing": (b"", b""),
    "text": (b"not a key\n", b"not a key\n"),
    "33 bytes": (b"x" * 33, b"x" * 33),
}


@pytest.mark.parametrize(("private", "public"), WRONG.values(), ids=WRONG.keys())
def test_other_kinds_of_keys_are_refused(private: bytes, public: bytes) -> None:
    """The algorithm is not a choice that a file makes."""
    with pytest.raises(ValueError, match="Ed25519"):
        read_signing_key(private)
    with pytest.raises(ValueError, match="Ed25519"):
        read_public_key(public)


def test_a_private_key_is_no_public_one() -> None:
    """Whoever configures it gave the wrong file away."""
    with pytest.raises(ValueError, match="private key"):
        read_public_key(KEY.pem())
    with pytest.raises(ValueError, match="private key"):
        read_signing_key(KEY.public.pem())


def test_a_key_with_a_password_is_refused() -> None:
    """There is nobody to ask."""
    key = Ed25519PrivateKey.generate()
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"fake-password"))
    with pytest.raises(ValueError, match="without a password"):
        read_signing_key(locked)


@pytest.mark.parametrize("number", [0, 1, 2**255 - 20, 2**255 - 19, 1 + 2**255])
def test_a_key_for_which_anybody_can_sign_is_refused(number: int) -> None:
    """Points of small order; a file of zeros is one."""
    with pytest.raises(ValueError, match="anybody"):
        read_public_key(number.to_bytes(32, "little"))


ENTRY = {"key": KEY.public.name, "signature": base64.b64encode(KEY.sign(MANIFEST)).decode()}
BROKEN: dict[str, Any] = {
    "no mapping": [],
    "another schema": {"schema": 2, "signatures": [ENTRY]},
    "more": {"schema": 1, "signatures": [ENTRY], "alg": "none"},
    "no signature": {"schema": 1, "signatures": []},
    "no list": {"schema": 1, "signatures": ENTRY},
    "many": {"schema": 1, "signatures": [ENTRY] * 17},
    "no key": {"schema": 1, "signatures": [{"signature": ENTRY["signature"]}]},
    "a number": {"schema": 1, "signatures": [ENTRY | {"signature": 1}]},
    "short": {"schema": 1, "signatures": [ENTRY | {"signature": "AAAA"}]},
    "no base64": {"schema": 1, "signatures": [ENTRY | {"signature": ENTRY["signature"][:-2] + "!!"}]},
}


@pytest.mark.parametrize("value", BROKEN.values(), ids=BROKEN.keys())
def test_other_forms_are_no_signatures(value: Any) -> None:
    """A file that cannot be read in one way is an error, not an unsigned manifest."""
    with pytest.raises(ValueError, match="signature"):
        is_signed_by(MANIFEST, json.dumps(value).encode(), [KEY.public])


@pytest.mark.parametrize("raw", [b"", b"x" * 20_000])
def test_bytes_that_are_no_signature_file_are_refused(raw: bytes) -> None:
    """Empty or too large."""
    with pytest.raises(ValueError, match="signature"):
        is_signed_by(MANIFEST, raw, [PublicKey(KEY.public.raw)])
