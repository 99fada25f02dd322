"""The form of signed tokens."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.token.form import (
    ALGORITHMS,
    MAX_KID_CHARACTERS,
    MAX_TOKEN_BYTES,
    Flaw,
    Unverified,
    is_token,
    read_token,
)
from support.tokens import encoded

HEADER = {"alg": "ES256", "kid": "key-1", "typ": "JWT"}
CLAIMS = {"iss": "https://idp.example.com", "sub": "somebody"}
SIGNATURE = b"c2lnbmF0dXJl"


def compact(header: object = HEADER, claims: object = CLAIMS, signature: bytes = SIGNATURE) -> bytes:
    first, second = (
        encoded(part if isinstance(part, bytes) else json.dumps(part).encode()) for part in (header, claims)
    )
    return b".".join((first, second, signature))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_token_is_taken_apart(algorithm: str) -> None:
    """Whatever of the public-key algorithms it names."""
    found = read_token(compact({**HEADER, "alg": algorithm}))
    assert found == Unverified(algorithm, "key-1", "jwt", CLAIMS)


def test_what_may_be_left_out_of_the_header() -> None:
    """Key id and type, and members that say nothing about how to verify."""
    assert read_token(compact({"alg": "RS256", "x5t": "fake"})) == Unverified("RS256", None, "", CLAIMS)


@pytest.mark.parametrize(
    ("typ", "folded"), [("JWT", "jwt"), ("at+jwt", "at+jwt"), ("Application/AT+JWT", "at+jwt")]
)
def test_types_are_folded(typ: str, folded: str) -> None:
    """They are media types, which have no letter case, and `application/` may be left out (RFC 7515 section 4.1.9)."""
    found = read_token(compact({**HEADER, "typ": typ}))
    assert isinstance(found, Unverified)
    assert found.typ == folded


@pytest.mark.parametrize(
    "alg", ["none", "None", "HS256", "HS512", "es256", "ES256K", "RSA-OAEP", "dir", "", None, 256, ["ES256"]]
)
def test_an_algorithm_that_is_not_of_the_list_is_refused(alg: object) -> None:
    """Above all none at all, and those where whoever verifies can sign."""
    assert read_token(compact({**HEADER, "alg": alg})) is Flaw.ALGORITHM


def test_a_token_names_its_algorithm() -> None:
    """There is no default."""
    assert read_token(compact({"kid": "key-1"})) is Flaw.ALGORITHM


@pytest.mark.parametrize("name", ["jku", "jwk", "x5u", "x5c"])
@pytest.mark.parametrize("value", ["https://evil.example.com/jwks", {}, None])
def test_a_token_brings_no_key_of_its_own(name: str, value: object) -> None:
    """Nor the address of one, whatever stands there."""
    assert read_token(compact({**HEADER, name: value})) is Flaw.BROUGHT_KEY


@pytest.mark.parametrize("name", ["crit", "b64", "zip", "enc"])
def test_an_extension_is_refused(name: str) -> None:
    """None is understood, so none can be passed over."""
    for value in (["exp"], [], False, "DEF"):
        assert read_token(compact({**HEADER, name: value})) is Flaw.EXTENSION


def test_a_token_in_a_token_is_refused() -> None:
    """The inner one was judged by nobody."""
    assert read_token(compact({**HEADER, "cty": "JWT"})) is Flaw.TYPE
    assert read_token(compact({**HEADER, "typ": ["JWT"]})) is Flaw.TYPE


@pytest.mark.parametrize("kid", ["", 1, None, ["key-1"], "k" * (MAX_KID_CHARACTERS + 1)])
def test_a_key_id_is_a_short_text(kid: object) -> None:
    """One that is there and no name is not the same as none."""
    assert read_token(compact({**HEADER, "kid": kid})) is Flaw.FORM


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"..",
        b"eyJ",
        compact().replace(b".", b"", 1),
        compact() + b".",
        compact() + b".AAAA",
        compact(signature=b""),
        compact(signature=b"AAAA="),
        compact(signature=b"AA+A"),
        compact(signature=b"A"),
        b"eyJhb.e30.AAAA",
        b"eyJhbGci.e30A.AAAA",
        b" " + compact(),
        compact() + b"\n",
        compact(b"{}x"),
        compact(b"[]"),
        compact(b'"ES256"'),
        compact(HEADER, b"[]"),
        compact(HEADER, b"not json"),
        compact(HEADER, b"\xff"),
        compact(b'{"alg":"none","alg":"ES256"}'),
        compact(HEADER, b'{"sub":"a","sub":"b"}'),
        compact(HEADER, b'{"exp":NaN}'),
        compact(HEADER, b'{"a":' + b"[" * 40 + b"]" * 40 + b"}"),
        compact(HEADER, {"a": "x" * MAX_TOKEN_BYTES}),
    ],
)
def test_what_is_no_token_is_refused(raw: bytes) -> None:
    """Parts that are missing, too many, in another alphabet, with two meanings or too large."""
    assert read_token(raw) is Flaw.FORM


def test_each_part_has_one_spelling() -> None:
    """The last character has bits that mean nothing; another token with the same meaning would be another text."""
    assert isinstance(read_token(compact(signature=b"AA")), Unverified)
    assert read_token(compact(signature=b"AB")) is Flaw.FORM


def test_what_is_read_as_a_token() -> None:
    """By its beginning and its two dots; everything else is a key."""
    assert is_token(compact())
    for other in (b"", b"eyJ", b"eyJhbGciOiJFUzI1NiJ9", compact() + b".a.b", b"sk." + compact(), b"a.b.c"):
        assert not is_token(other)


def test_what_a_forger_could_have_made() -> None:
    """Whatever is wrong before the signature is; not what only the issuer can have signed, nor a key that nobody knows yet."""
    assert {flaw for flaw in Flaw if not flaw.guess} == {
        Flaw.KEY,
        Flaw.CLAIMS,
        Flaw.EXPIRED,
        Flaw.EARLY,
        Flaw.LIFETIME,
        Flaw.SUBJECT,
        Flaw.PURPOSE,
    }


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: b"eyJ" + text.encode()))
def test_bytes_are_a_token_or_a_flaw(raw: bytes) -> None:
    """Nothing else happens, whatever comes."""
    assert isinstance(read_token(raw), Unverified | Flaw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_any_json_is_a_token_or_a_flaw(header: object, claims: object) -> None:
    """Of an unverified token only the members that are known were looked at, and they have their types."""
    found = read_token(compact(header, claims))
    assert isinstance(found, Unverified | Flaw)
    if isinstance(found, Unverified):
        assert found.algorithm in ALGORITHMS
        assert isinstance(found.claims, dict)


def test_claims_do_not_show() -> None:
    """They are about persons."""
    assert "somebody" not in repr(read_token(compact()))
