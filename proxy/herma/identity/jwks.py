"""Reading a JSON Web Key Set (RFC 7517): which of its keys may verify what.

A set is what an issuer publishes, so a key in it that the gate has no use for (of another kind, for encryption, too weak) is passed
over, and the others count. A set that has two meanings, or more keys than an issuer has, is refused whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from herma.policy.jsondoc import JsonError, parse
from herma.policy.token.form import MAX_KID_CHARACTERS

__all__ = ["MAX_KEYS", "MAX_SET_BYTES", "KeySetError", "VerificationKey", "read_key_set"]

# Large issuers publish a dozen keys, with certificate chains some 20 KiB.
MAX_SET_BYTES = 64 * 1024
MAX_KEYS = 64

# NIST SP 800-131A: 2048 bits at least. More than the most makes every request slow.
_RSA_BITS = range(2048, 8193)
_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_CURVES: Mapping[tuple[str, str], frozenset[str]] = {
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("EC", "P-521"): frozenset({"ES512"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA"}),
}
# RFC 7518 section 6: the parameters of private keys. An issuer that publishes one has lost it.
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


class KeySetError(Exception):
    """A key set cannot be had, or is none; the message repeats nothing of it."""


@dataclass(frozen=True, slots=True, eq=False)
class VerificationKey:
    """One public key, and the algorithms that it may verify; `public` is the key as `cryptography` has it.

    Another key is another object: one that was read again is not the one that was there before.
    """

    kid: str | None
    algorithms: frozenset[str]
    public: Any = field(repr=False)


def read_key_set(raw: bytes) -> tuple[VerificationKey, ...]:
    """Return the keys of a set that can be used.

    Raises:
        KeySetError: it is no key set, or none of its keys can be used.
    """
    if len(raw) > MAX_SET_BYTES:
        raise KeySetError(f"the key set has more than {MAX_SET_BYTES} bytes")
    try:
        value = parse(raw, max_depth=8, max_keys=MAX_KEYS * 32).value
    except JsonError as error:
        raise KeySetError(f"the key set is no JSON with one meaning ({error.code})") from None
    listed = value.get("keys") if isinstance(value, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise KeySetError(f"expected a key set: an object with a list `keys` of at most {MAX_KEYS}")
    found = tuple(_usable(listed))
    if not found:
        raise KeySetError("the key set holds no public key for signatures that is strong enough")
    return found


def _usable(listed: Sequence[Any]) -> Iterator[VerificationKey]:
    for one in listed:
        if not isinstance(one, dict) or not _PRIVATE.isdisjoint(one):
            continue
        algorithms = _algorithms(one)
        kid = one.get("kid")
        named = kid is None or (isinstance(kid, str) and 0 < len(kid) <= MAX_KID_CHARACTERS)
        if not algorithms or not named:
            continue
        public = _public(one, min(algorithms))
        if public is not None:
            yield VerificationKey(kid, algorithms, public)


def _algorithms(key: Mapping[str, Any]) -> frozenset[str]:
    """Tell what a key may verify, by its kind and by what it says of itself (RFC 7517 sections 4.2 to 4.4)."""
    kind, curve, use, only = (key.get(name, "") for name in ("kty", "crv", "use", "alg"))
    if not all(isinstance(one, str) for one in (kind, curve, use, only)) or use not in {"", "sig"}:
        return frozenset()
    operations = key.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return frozenset()
    possible = _RSA if kind == "RSA" else _CURVES.get((kind, curve), frozenset())
    return possible & {only} if only else possible


def _public(key: Mapping[str, Any], algorithm: str) -> Any:
    """Return the key, None when its parameters are wrong or it is too weak."""
    # Late: it brings the whole of `cryptography`, and most commands verify nothing.
    from jwt import PyJWK, PyJWTError

    try:
        public = PyJWK(dict(key), algorithm=algorithm).key
    except (PyJWTError, ValueError, TypeError, OverflowError):
        return None
    return None if key["kty"] == "RSA" and public.key_size not in _RSA_BITS else public
