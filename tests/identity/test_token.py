"""Verifying signed tokens."""

import hmac
import json
from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given

from herma.identity.jwks import VerificationKey, read_key_set
from herma.identity.key_sets import FileKeys
from herma.identity.token import Issuer, TokenRejected, Tokens, TokenVerifier, Vouched
from herma.policy.grant import Principal, Scope
from herma.policy.token.claims import Claims, Expected
from herma.policy.token.form import ALGORITHMS, IDENTITY_TYPES, Flaw
from herma.policy.token.grant import TokenGrant
from support.tokens import AUDIENCE, ISSUER, NOW, Signer, claims, encoded, key_set, signer

EXPECTED = Expected(ISSUER, AUDIENCE, 3600)
RUN = frozenset({Scope.RUN})


class Held:
    """Keys that stay as they are."""

    def __init__(self, *keys: Any) -> None:
        self._keys = read_key_set(key_set(*keys))

    def lookup(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        found = [key for key in self._keys if key.kid == kid and algorithm in key.algorithms]
        return found[0] if found else None


KEY = signer("ES256")
VERIFIER = TokenVerifier(EXPECTED, Held(KEY))


def flaw(token: bytes, verifier: TokenVerifier = VERIFIER) -> Flaw | None:
    found = verifier.verify(token, NOW)
    return found if isinstance(found, Flaw) else None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_the_issuer_signed_is_taken(algorithm: str) -> None:
    """By every algorithm of the list."""
    key = signer(algorithm)
    verifier = TokenVerifier(EXPECTED, Held(key))
    assert verifier.verify(key.token(), NOW) == Claims("worker-1", NOW + 300, claims())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_another_key_signed_is_refused(algorithm: str) -> None:
    """Though it has the same name, and though only a bit of the signature is another."""
    key, other = signer(algorithm), signer(algorithm, "other")
    verifier = TokenVerifier(EXPECTED, Held(key))
    assert flaw(other.token(kid=key.kid), verifier) is Flaw.SIGNATURE
    begin, dot, signature = key.token().rpartition(b".")
    for position in (0, len(signature) // 2):
        turned = bytearray(signature)
        turned[position] = ord("A") if turned[position] != ord("A") else ord("B")
        assert flaw(begin + dot + bytes(turned), verifier) is Flaw.SIGNATURE
    assert flaw(begin + dot + signature[:-4], verifier) in {Flaw.SIGNATURE, Flaw.FORM}


def test_what_was_changed_after_signing_is_refused() -> None:
    """Every claim of it."""
    header, _, signature = KEY.token().split(b".")
    for changed in (claims(sub="root"), claims(scope="admin"), claims(exp=NOW + 3000)):
        assert flaw(b".".join((header, encoded(changed), signature))) is Flaw.SIGNATURE
    stronger = encoded({"alg": "ES256", "kid": "key-1", "typ": "at+jwt"})
    assert flaw(b".".join((stronger, encoded(claims()), signature))) is Flaw.SIGNATURE


def _hmac(secret: bytes, algorithm: str = "HS256", **header: Any) -> bytes:
    signed = encoded({"alg": algorithm, "kid": "key-1", "typ": "JWT"} | header) + b"." + encoded(claims())
    return signed + b"." + encoded(hmac.digest(secret, signed, "sha256"))


@pytest.mark.parametrize("kind", ["RS256", "ES256", "EdDSA"])
def test_a_public_key_is_no_shared_secret(kind: str) -> None:
    """In whatever form somebody takes it for one: PEM, DER, or as the key set has it."""
    key = signer(kind)
    public, verifier = key.private.public_key(), TokenVerifier(EXPECTED, Held(key))
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    secrets = [
        public.public_bytes(serialization.Encoding.PEM, form),
        public.public_bytes(serialization.Encoding.PEM, form).rstrip(),
        public.public_bytes(serialization.Encoding.DER, form),
        json.dumps(key.jwk()).encode(),
        key_set(key),
        b"",
    ]
    for secret in secrets:
        assert flaw(_hmac(secret), verifier) is Flaw.ALGORITHM
        # The same bytes under the name of the right algorithm are a wrong signature.
        assert flaw(_hmac(secret, kind), verifier) is Flaw.SIGNATURE


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", ""])
def test_a_token_without_a_signature_is_refused(alg: str) -> None:
    """With an empty one, with any, and with that of another token."""
    signed = encoded({"alg": alg, "typ": "JWT"}) + b"." + encoded(claims()) + b"."
    right = KEY.token().rpartition(b".")[2]
    assert flaw(signed) is Flaw.FORM
    assert flaw(signed + b"AAAA") is Flaw.ALGORITHM
    assert flaw(signed + right) is Flaw.ALGORITHM


@pytest.mark.parametrize(
    "kid",
    ["../../../../dev/null", "/dev/null", "key-1\0", "key-1' OR '1'='1", "key-1;", "KEY-1", "0", "__class__"],
)
def test_a_key_id_is_a_name_of_the_set_and_nothing_else(kid: str) -> None:
    """No path, no query; the key of an empty file verifies nothing."""
    assert flaw(KEY.token(kid=kid)) is Flaw.KEY
    assert flaw(_hmac(b"", kid=kid)) is Flaw.ALGORITHM


def test_an_algorithm_of_another_key_is_not_tried() -> None:
    """The key says what it verifies, and the issuer's entry what is taken at all."""
    rsa, mixed = signer("RS256"), signer("PS256")
    key = {**rsa.jwk(), "alg": None}
    both = TokenVerifier(EXPECTED, Held({name: value for name, value in key.items() if value is not None}))
    as_pss = Signer("key-1", "PS256", rsa.private)
    assert flaw(rsa.token(), both) is None
    assert flaw(as_pss.token(), both) is None
    assert flaw(as_pss.token(alg="RS256"), both) is Flaw.SIGNATURE
    assert flaw(as_pss.token(), TokenVerifier(EXPECTED, Held(rsa))) is Flaw.KEY
    only = TokenVerifier(EXPECTED, Held(mixed), algorithms=["ES256", "HS256"])
    assert flaw(mixed.token(), only) is Flaw.ALGORITHM
    assert flaw(_hmac(b""), only) is Flaw.ALGORITHM


@pytest.mark.parametrize("typ", ["logout+jwt", "secevent+jwt", "dpop+jwt", "JWE", "id+jwt", "j"])
def test_a_token_of_another_kind_is_refused(typ: str) -> None:
    """The issuer signs many things; only some of them are to open a gate."""
    assert flaw(KEY.token(typ=typ)) is Flaw.TYPE
    assert (
        flaw(KEY.token(typ="at+jwt"), TokenVerifier(EXPECTED, Held(KEY), types=IDENTITY_TYPES)) is Flaw.TYPE
    )


def test_claims_are_judged_after_the_signature() -> None:
    """Who guesses learns of a wrong signature first."""
    assert flaw(KEY.token(claims(exp=NOW - 100))) is Flaw.EXPIRED
    assert flaw(signer("ES256", "other").token(claims(exp=NOW - 100), kid="key-1")) is Flaw.SIGNATURE


SOURCE, ELSEWHERE = FileKeys("/one"), FileKeys("/two")


def issuer(
    name: str, url: str = ISSUER, audience: str = AUDIENCE, source: FileKeys = SOURCE, **over: Any
) -> Issuer:
    return Issuer(Expected(url, audience, 3600), source, TokenGrant(name, RUN), **over)


def judged(issuers: Sequence[Issuer], token: bytes, **keys: Any) -> Vouched | TokenRejected:
    held = {SOURCE: Held(KEY), ELSEWHERE: Held(signer("ES256", "two"))}
    return Tokens(issuers).verify(token, held.get, NOW)


def test_a_token_falls_under_the_rules_of_its_issuer() -> None:
    """And is verified by the keys of that one only."""
    two = "https://two.example.com"
    both = [issuer("one"), issuer("two", two, source=ELSEWHERE)]
    assert judged(both, KEY.token()) == Vouched(Principal("jwt:one:worker-1", RUN), NOW + 300)
    second = signer("ES256", "two")
    assert judged(both, second.token(claims(iss=two))) == Vouched(
        Principal("jwt:two:worker-1", RUN), NOW + 300
    )
    assert judged(both, KEY.token(claims(iss=two))) == TokenRejected(Flaw.KEY, "two")
    assert judged(both, second.token(claims(iss=two), kid="key-1")) == TokenRejected(Flaw.KEY, "two")
    assert judged(both, KEY.token(claims(iss="https://three.example.com"))) == TokenRejected(Flaw.ISSUER)
    assert judged(both, KEY.token(claims(iss=[ISSUER]))) == TokenRejected(Flaw.ISSUER)


def test_one_issuer_may_serve_several_audiences() -> None:
    """The first that the token names says what it opens; a token for none of them opens nothing."""
    both = [issuer("one", audience="a"), issuer("two", audience="b")]
    for audience, name in (("a", "one"), ("b", "two"), (["b", "a"], "one"), (["x", "b"], "two")):
        found = judged(both, KEY.token(claims(aud=audience)))
        assert isinstance(found, Vouched)
        assert found.principal.name == f"jwt:{name}:worker-1"
    assert judged(both, KEY.token(claims(aud="c"))) == TokenRejected(Flaw.AUDIENCE, "one")
    assert judged(both, KEY.token(claims(aud=None))) == TokenRejected(Flaw.AUDIENCE, "one")


def test_without_keys_a_token_opens_nothing() -> None:
    """Whether they were not read yet or are read by nobody."""
    assert judged([issuer("one", source=FileKeys("/three"))], KEY.token()) == TokenRejected(Flaw.KEY, "one")


def test_who_is_not_let_in_is_told_by_the_issuers_name() -> None:
    """Which the audit has; what the token says it has not."""
    strict = Issuer(EXPECTED, SOURCE, TokenGrant("one", RUN, subjects=frozenset({"other"})))
    assert judged([strict], KEY.token()) == TokenRejected(Flaw.SUBJECT, "one")
    assert judged([], KEY.token()) == TokenRejected(Flaw.ISSUER)
    assert judged([strict], b"eyJ") == TokenRejected(Flaw.FORM)
    assert judged([issuer("one", algorithms=("RS256",))], KEY.token()) == TokenRejected(Flaw.ALGORITHM, "one")


@pytest.mark.bypass(76)
def test_a_token_that_fires_a_job_opens_nothing_else() -> None:
    """Whatever audiences and scopes it has beside its purpose."""
    token = KEY.token(claims(purpose="cron_fire", aud=[AUDIENCE, "fire"], scope="run read admin"))
    assert judged([issuer("idp")], token) == TokenRejected(Flaw.PURPOSE, "idp")
    other = KEY.token(claims(purpose="report"))
    assert isinstance(judged([issuer("idp")], other), Vouched)


def test_issuers_are_told_apart() -> None:
    """By name, and by what their tokens say."""
    assert Tokens([issuer("a"), issuer("b", audience="b")]).sources == {SOURCE}
    assert len(Tokens()) == 0
    for second in (issuer("a", audience="b"), issuer("b")):
        with pytest.raises(ValueError, match="two issuers"):
            Tokens([issuer("a"), second])


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 40))
def test_a_damaged_token_opens_nothing(damage: bytes, at: int, cut: int) -> None:
    """Wherever something is put in, taken out or changed."""
    right = KEY.token()
    at = min(at, len(right))
    broken = right[:at] + damage + right[at + cut :]
    found = judged([issuer("one")], broken)
    assert isinstance(found, TokenRejected) or broken == right
