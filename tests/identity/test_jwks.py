"""Reading key sets."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.identity.jwks import MAX_KEYS, MAX_SET_BYTES, KeySetError, read_key_set
from support.tokens import encoded, key_set, signer

RSA = signer("RS256", "rsa")
RSA_ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
GOOD = signer("ES256", "good")


def usable(*keys: Any) -> list[str | None]:
    """List the ids of the keys that are used, beside one that always is."""
    return [key.kid for key in read_key_set(key_set(*keys, GOOD)) if key.kid != "good"]


@pytest.mark.parametrize("algorithm", ["RS256", "PS512", "ES256", "ES384", "ES512", "EdDSA"])
def test_a_key_verifies_the_algorithm_that_it_names(algorithm: str) -> None:
    """And no other."""
    (key,) = read_key_set(key_set(signer(algorithm, "one")))
    assert (key.kid, key.algorithms) == ("one", {algorithm})


def test_a_key_that_names_none_verifies_those_of_its_kind() -> None:
    """A curve has one algorithm, an RSA key several."""
    for algorithm, expected in (("ES384", {"ES384"}), ("EdDSA", {"EdDSA"}), ("RS256", RSA_ALGORITHMS)):
        (key,) = read_key_set(key_set(signer(algorithm, "one").jwk(alg=None, use=None, kid=None)))
        assert (key.kid, key.algorithms) == (None, expected)


def test_keys_for_something_else_are_passed_over() -> None:
    """For encryption, for signing only, or for an algorithm of another kind."""
    for over in (
        {"use": "enc"},
        {"use": 1},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"key_ops": []},
        {"alg": "RSA-OAEP"},
        {"alg": "HS256"},
        {"alg": "none"},
        {"alg": "ES256"},
        {"alg": ["RS256"]},
    ):
        assert usable(RSA.jwk(**over)) == [], over
    assert usable(RSA.jwk(key_ops=["verify"])) == ["rsa"]


def test_shared_secrets_are_no_keys() -> None:
    """Whoever reads the set could sign with them."""
    secret = {"kty": "oct", "k": encoded(b"fake-shared-secret-of-32-bytes-!").decode(), "kid": "oct"}
    for alg in ("HS256", "RS256", None):
        assert usable({**secret, "alg": alg}) == []
        assert usable({**RSA.jwk(), **secret, "kty": "RSA"}) == []


def test_private_keys_are_passed_over() -> None:
    """An issuer that publishes one has lost it."""
    numbers = RSA.private.private_numbers()
    assert usable({**RSA.jwk(), "d": encoded(numbers.d.to_bytes(256)).decode()}) == []
    assert usable({**signer("EdDSA", "one").jwk(), "d": "AAAA"}) == []


def test_weak_keys_are_passed_over() -> None:
    """RSA keys of less than 2048 bits, curves that nobody uses, and numbers that are no keys."""
    assert usable(signer("RS256", "weak", 1024)) == []
    assert usable(signer("RS256", "strong", 3072)) == ["strong"]
    huge = {**RSA.jwk(), "n": encoded((2**8200 + 1).to_bytes(1026)).decode()}
    even = {**RSA.jwk(), "e": encoded(b"\x02").decode()}
    one = {**RSA.jwk(), "e": encoded(b"\x01").decode()}
    assert usable(huge, even, one) == []
    for crv in ("secp256k1", "P-192", "Ed448", "X25519", "", 256, None):
        assert usable(signer("ES256", "odd").jwk(crv=crv)) == []
    assert usable(signer("ES256", "moved").jwk(crv="P-384", alg="ES384")) == []


def test_points_that_are_not_on_the_curve_are_passed_over() -> None:
    """They would tell about nobody's key, or make verifying do odd things."""
    off = encoded(b"\x01" * 32).decode()
    assert usable(signer("ES256", "off").jwk(x=off)) == []
    for x in ("", "!", off[:-2], 7, None):
        assert usable(signer("ES256", "off").jwk(x=x), signer("EdDSA", "off").jwk(x=x)) == []


@pytest.mark.parametrize("kid", ["", 7, ["a"], {}, "k" * 257])
def test_a_name_that_is_none_is_passed_over(kid: Any) -> None:
    """A token could not name it."""
    assert usable(RSA.jwk(kid=kid)) == []


@pytest.mark.parametrize("odd", [None, 7, "key", [], {}, {"kty": "RSA"}, {"kty": ["RSA"]}])
def test_what_is_no_key_is_passed_over(odd: Any) -> None:
    """The rest of the set counts."""
    assert usable(odd) == []


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no JSON"),
        (b"<html>", "no JSON"),
        (b'{"keys":[],"keys":[]}', "duplicate_key"),
        (b"[]", "expected a key set"),
        (b'{"keys":{}}', "expected a key set"),
        (json.dumps({"keys": [{}] * (MAX_KEYS + 1)}).encode(), "at most 64"),
        (b'{"keys":[]}', "no public key"),
        (b'{"keys":[{"kty":"oct","k":"AAAA"}]}', "no public key"),
        (b" " * (MAX_SET_BYTES + 1), "more than 65536 bytes"),
        (b'{"keys":' + b"[" * 50 + b"]" * 50 + b"}", "no JSON"),
    ],
)
def test_what_is_no_key_set_is_refused_whole(raw: bytes, says: str) -> None:
    """It says what was wrong, and repeats nothing."""
    with pytest.raises(KeySetError, match=says):
        read_key_set(raw)


def test_a_key_does_not_show() -> None:
    """In logs a key has its name."""
    assert "_RSAPublicKey" not in repr(read_key_set(key_set(RSA)))


MEMBERS = st.sampled_from(["kty", "crv", "n", "e", "x", "y", "use", "alg", "kid", "key_ops"])
VALUES = (
    st.sampled_from(["RSA", "EC", "OKP", "P-256", "Ed25519", "AQAB", "sig", "ES256", ["verify"]])
    | st.text(max_size=8)
    | st.integers()
    | st.none()
    | st.binary(max_size=40).map(lambda raw: encoded(raw).decode())
)


@given(st.dictionaries(MEMBERS, VALUES), st.sampled_from(["RS256", "ES256", "EdDSA"]))
def test_a_broken_key_is_never_an_error(over: dict[str, Any], algorithm: str) -> None:
    """Whatever its members hold, it is used or passed over."""
    assert len(usable(signer(algorithm, "base").jwk() | over)) <= 1


@given(st.binary(max_size=300))
def test_bytes_are_a_set_or_none(raw: bytes) -> None:
    """Nothing else happens, whatever an address answers."""
    with pytest.raises(KeySetError):
        read_key_set(raw)
