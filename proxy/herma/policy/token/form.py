"""The form of a signed token: a JWS in its compact form (RFC 7515 section 3.1), read strictly and not yet believed.

What the header says chooses among the keys and algorithms that the operator named, and brings none of its own (RFC 8725).
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from herma.policy.jsondoc import JsonError, parse

__all__ = [
    "ACCESS_TYPES",
    "ALGORITHMS",
    "IDENTITY_TYPES",
    "MAX_TOKEN_BYTES",
    "Algorithm",
    "Flaw",
    "Unverified",
    "is_token",
    "read_token",
]

# Tokens in use have one or two kilobytes; with the groups of a large company four.
MAX_TOKEN_BYTES = 8 * 1024
# RFC 7515 leaves it open; key ids in use are thumbprints, UUIDs and dates.
MAX_KID_CHARACTERS = 256

# RFC 9068 section 2.1, and RFC 7519 section 5.1, which lets it be left out. Types of other protocols, such as `logout+jwt`,
# are no access tokens (RFC 8725 section 3.11).
ACCESS_TYPES = frozenset({"", "jwt", "at+jwt"})
IDENTITY_TYPES = frozenset({"", "jwt"})

_COMPACT = re.compile(rb"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
# `{"` in base64url: so begins the header of every token that a library writes.
_BEGINNING = b"eyJ"

# RFC 7515 sections 4.1.2 to 4.1.6: ways to bring one's own key along.
_BROUGHT_KEYS = frozenset({"jku", "jwk", "x5u", "x5c"})
# None of the extensions is understood, so every critical one is refused (section 4.1.11). `b64` changes what is signed, the
# others belong to encryption.
_EXTENSIONS = frozenset({"crit", "b64", "zip", "enc"})


class Algorithm(StrEnum):
    """The signatures that are taken (RFC 7518 section 3, RFC 8037).

    No shared secrets: whoever can verify HS256 can forge it, and a public key must never become one (RFC 8725 section 3.1).
    """

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"
    EDDSA = "EdDSA"


ALGORITHMS = tuple(one.value for one in Algorithm)


class Flaw(StrEnum):
    """Why a token opens nothing; for the audit, never for the caller."""

    FORM = "form"
    TYPE = "type"
    ALGORITHM = "algorithm"
    EXTENSION = "extension"
    BROUGHT_KEY = "brought_key"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    KEY = "key"
    SIGNATURE = "signature"
    CLAIMS = "claims"
    EXPIRED = "expired"
    EARLY = "early"
    LIFETIME = "lifetime"
    SUBJECT = "subject"
    PURPOSE = "purpose"

    @property
    def guess(self) -> bool:
        """Tell whether a forger could have made it.

        The others have a right signature, or ask for a key that is perhaps not known yet.
        """
        return self in _GUESSES


_GUESSES = frozenset({
    Flaw.FORM, Flaw.TYPE, Flaw.ALGORITHM, Flaw.EXTENSION, Flaw.BROUGHT_KEY, Flaw.ISSUER, Flaw.AUDIENCE, Flaw.SIGNATURE,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unverified:
    """What a token says of itself; `typ` is folded to lower case, empty where there is none."""

    algorithm: str
    kid: str | None
    typ: str
    claims: Mapping[str, Any] = field(repr=False)


def is_token(credential: bytes) -> bool:
    """Tell whether a bearer credential is to be read as a signed token."""
    return credential.startswith(_BEGINNING) and credential.count(b".") == 2


def read_token(raw: bytes) -> Unverified | Flaw:
    """Take a token apart; nothing of it is verified."""
    found = _COMPACT.fullmatch(raw) if len(raw) <= MAX_TOKEN_BYTES else None
    if found is None or _decoded(found[3]) is None:
        return Flaw.FORM
    header, claims = _object(found[1], max_depth=4), _object(found[2], max_depth=16)
    if header is None or claims is None:
        return Flaw.FORM
    return _judged(header, claims)


def _judged(header: dict[str, Any], claims: dict[str, Any]) -> Unverified | Flaw:
    if not _BROUGHT_KEYS.isdisjoint(header):
        return Flaw.BROUGHT_KEY
    if not _EXTENSIONS.isdisjoint(header):
        return Flaw.EXTENSION
    algorithm, kid, typ = header.get("alg"), header.get("kid"), header.get("typ", "")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        return Flaw.ALGORITHM
    # A `cty` says that the content is a token itself (RFC 7519 section 5.2); of those the outer signature says nothing.
    if not isinstance(typ, str) or "cty" in header:
        return Flaw.TYPE
    if "kid" in header and not (isinstance(kid, str) and 0 < len(kid) <= MAX_KID_CHARACTERS):
        return Flaw.FORM
    return Unverified(algorithm, kid, typ.lower().removeprefix("application/"), claims)


def _object(part: bytes, *, max_depth: int) -> dict[str, Any] | None:
    text = _decoded(part)
    if text is None:
        return None
    try:
        value = parse(text, max_depth=max_depth, max_keys=MAX_TOKEN_BYTES).value
    except JsonError:
        return None
    return value if isinstance(value, dict) else None


def _decoded(part: bytes) -> bytes | None:
    """Decode base64url without padding, in the one spelling that each value has (RFC 4648 section 3.5)."""
    try:
        value = base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    except binascii.Error:
        return None
    return value if base64.urlsafe_b64encode(value).rstrip(b"=") == part else None
