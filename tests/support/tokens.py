"""An identity provider of the suites: its keys, and tokens of any form that it, or somebody else, may sign."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt import get_unverified_header
from jwt.algorithms import get_default_algorithms

__all__ = ["AUDIENCE", "ISSUER", "NOW", "Signer", "claims", "encoded", "key_set", "parts", "signer"]

ISSUER = "https://idp.example.com/realms/test"
AUDIENCE = "herma-test"
# Seconds since 1970 that the tests take for the present where they may choose.
NOW = 1_900_000_000

_CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


def encoded(data: bytes | Mapping[str, Any]) -> bytes:
    """Write base64url without padding."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def claims(**over: Any) -> dict[str, Any]:
    """Return the claims of a token that is taken; one that is None is left out."""
    base = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "worker-1",
        "iat": NOW - 10,
        "exp": NOW + 300,
        "scope": "run read",
    }
    return {name: value for name, value in (base | over).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Signer:
    """One key pair of an issuer."""

    kid: str
    algorithm: str
    private: Any

    def jwk(self, **over: Any) -> dict[str, Any]:
        """Return the public key as a key set has it; a member that is None is left out."""
        public = self.private.public_key()
        made = get_default_algorithms()[self.algorithm].to_jwk(public, as_dict=True)
        made = {**made, "kid": self.kid, "use": "sig", "alg": self.algorithm} | over
        return {name: value for name, value in made.items() if value is not None}

    def sign(self, header: bytes | Mapping[str, Any], payload: bytes | Mapping[str, Any]) -> bytes:
        """Sign a header and a payload as they are."""
        signed = encoded(header) + b"." + encoded(payload)
        signature = get_default_algorithms()[self.algorithm].sign(signed, self.private)
        return signed + b"." + encoded(signature)

    def token(self, payload: Mapping[str, Any] | None = None, **header: Any) -> bytes:
        """Make a token; a member of the header that is None is left out."""
        whole = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT"} | header
        kept = {name: value for name, value in whole.items() if value is not None}
        return self.sign(kept, claims() if payload is None else payload)


@cache
def signer(algorithm: str = "ES256", kid: str = "key-1", bits: int = 2048) -> Signer:
    """Return the key pair of that name; the same for the whole run."""
    if algorithm in _CURVES:
        return Signer(kid, algorithm, ec.generate_private_key(_CURVES[algorithm]))
    if algorithm == "EdDSA":
        return Signer(kid, algorithm, ed25519.Ed25519PrivateKey.generate())
    return Signer(kid, algorithm, rsa.generate_private_key(65537, bits))


def key_set(*keys: Signer | Mapping[str, Any]) -> bytes:
    """Write a key set."""
    return json.dumps({"keys": [key.jwk() if isinstance(key, Signer) else key for key in keys]}).encode()


def parts(token: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Take a token apart: header, claims and the signature as it is written."""
    _, payload, signature = token.split(b".")
    said = json.loads(base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))
    return get_unverified_header(token), said, signature
