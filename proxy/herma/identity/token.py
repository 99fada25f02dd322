"""Verifying signed tokens: by the keys of the issuer that is configured, and by nothing that a token brings along.

The order is fixed (RFC 8725): form, then issuer and audience to find whose rules apply, then the signature, and only then is
any claim believed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol

from herma.identity.jwks import VerificationKey
from herma.identity.key_sets import KeySource
from herma.policy.fire.permit import is_fire_token
from herma.policy.grant import Principal
from herma.policy.token.claims import Claims, Expected, judge_claims
from herma.policy.token.form import ACCESS_TYPES, ALGORITHMS, Flaw, Unverified, read_token
from herma.policy.token.grant import TokenGrant

if TYPE_CHECKING:
    from jwt import PyJWS

__all__ = ["Issuer", "Keys", "TokenRejected", "TokenVerifier", "Tokens", "Vouched"]


class Keys(Protocol):
    """Where keys are looked up, such as a `KeySet`."""

    def lookup(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        """Return the key for an algorithm, None if there is none or it is not known yet."""
        ...


class TokenVerifier:
    """Verifies the tokens of one issuer for one audience."""

    def __init__(
        self,
        expected: Expected,
        keys: Keys,
        *,
        algorithms: Sequence[str] = ALGORITHMS,
        types: frozenset[str] = ACCESS_TYPES,
    ) -> None:
        self._expected = expected
        self._keys = keys
        self._algorithms = frozenset(algorithms).intersection(ALGORITHMS)
        self._types = types

    def verify(self, raw: bytes, now: float) -> Claims | Flaw:
        """Return what a token says, if it is right at `now` (seconds since 1970)."""
        token = read_token(raw)
        return token if isinstance(token, Flaw) else self.judge(raw, token, now)

    def judge(self, raw: bytes, token: Unverified, now: float) -> Claims | Flaw:
        """Judge a token that was taken apart already."""
        if token.typ not in self._types:
            return Flaw.TYPE
        if token.algorithm not in self._algorithms:
            return Flaw.ALGORITHM
        key = self._keys.lookup(token.kid, token.algorithm)
        if key is None:
            return Flaw.KEY
        if not _signed(raw, key, token.algorithm):
            return Flaw.SIGNATURE
        return judge_claims(token.claims, self._expected, now)


@cache
def _jws() -> "PyJWS":
    from jwt import PyJWS

    return PyJWS(ALGORITHMS)


# A program sends the same token with each request, and a signature takes four times as long as all the rest. 8 KiB each.
@lru_cache(maxsize=1024)
def _signed(raw: bytes, key: VerificationKey, algorithm: str) -> bool:
    # Late, as where keys are read: whoever has a key to verify with has it loaded.
    from jwt import PyJWTError

    try:
        _jws().decode_complete(raw, key.public, algorithms=[algorithm])
    except (PyJWTError, ValueError, TypeError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Issuer:
    """One issuer as configured: what its tokens have to say, where its keys are, and what its tokens open."""

    expected: Expected
    source: KeySource
    grant: TokenGrant
    algorithms: tuple[str, ...] = ALGORITHMS


@dataclass(frozen=True, slots=True)
class Vouched:
    """The token is right: whom it names, and until when (seconds since 1970)."""

    principal: Principal
    expires: float


@dataclass(frozen=True, slots=True)
class TokenRejected:
    """The token opens nothing; `issuer` is the name of the issuer whose rules it fell under, empty for none."""

    flaw: Flaw
    issuer: str = ""


class Tokens:
    """The issuers whose tokens open the gate; without any it opens to no token."""

    def __init__(self, issuers: Sequence[Issuer] = ()) -> None:
        served = {(one.expected.issuer, one.expected.audience) for one in issuers}
        if len(served) != len(issuers) or len({one.grant.name for one in issuers}) != len(issuers):
            raise ValueError("two issuers have the same name, or the same issuer and audience")
        self._issuers = tuple(issuers)

    def __len__(self) -> int:
        return len(self._issuers)

    @property
    def sources(self) -> frozenset[KeySource]:
        """Where the keys of all of them are."""
        return frozenset(one.source for one in self._issuers)

    def verify(
        self, raw: bytes, keys: Callable[[KeySource], Keys | None], now: float
    ) -> Vouched | TokenRejected:
        """Tell whom a token names, at `now` (seconds since 1970).

        A token for several audiences that are configured falls under the first of these.
        """
        token = read_token(raw)
        if isinstance(token, Flaw):
            return TokenRejected(token)
        same = [one for one in self._issuers if token.claims.get("iss") == one.expected.issuer]
        if not same:
            return TokenRejected(Flaw.ISSUER)
        issuer = next((one for one in same if _meant(token, one)), same[0])
        found = _judge(issuer, raw, token, keys(issuer.source), now)
        return TokenRejected(found, issuer.grant.name) if isinstance(found, Flaw) else found


def _judge(issuer: Issuer, raw: bytes, token: Unverified, keys: Keys | None, now: float) -> Vouched | Flaw:
    if keys is None:
        return Flaw.KEY
    claims = TokenVerifier(issuer.expected, keys, algorithms=issuer.algorithms).judge(raw, token, now)
    if isinstance(claims, Flaw):
        return claims
    if is_fire_token(token.claims):
        # It starts one job, at the one route that asks for it, whatever else it says (RFC 8725 section 3.12).
        return Flaw.PURPOSE
    principal = issuer.grant.principal(claims)
    return principal if isinstance(principal, Flaw) else Vouched(principal, claims.expires)


def _meant(token: Unverified, issuer: Issuer) -> bool:
    said = token.claims.get("aud")
    return said == issuer.expected.audience or (isinstance(said, list) and issuer.expected.audience in said)
