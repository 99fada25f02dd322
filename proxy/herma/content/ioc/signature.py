"""Signatures over manifests: Ed25519, over exactly the bytes of the manifest and a line that says what they are.

The line keeps a signature that a key made for something else from counting here, and this one from counting there. Only
Ed25519 keys are taken: an algorithm is not a choice that a file makes.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from herma.policy.jsondoc import JsonError, parse

__all__ = [
    "SIGNATURE",
    "PublicKey",
    "SigningKey",
    "is_signed_by",
    "new_signing_key",
    "read_public_key",
    "read_signing_key",
    "sign",
]

SIGNATURE: Final = "manifest.sig"
MAX_SIGNATURE_BYTES: Final = 16 * 1024
# A key, its successor, and the same for a second publisher; more is not rotation.
MAX_SIGNATURES: Final = 16
MAX_KEY_BYTES: Final = 4096

_CONTEXT: Final = b"herma indicator manifest, Ed25519, version 1\n\0"
_RAW_BYTES: Final = 32
_SIGNED_BYTES: Final = 64
# Points of small order, without the sign bit (RFC 7748 section 7, and their spellings above the prime): for a key like
# these anybody can make a signature. A file of zeros is one.
_PRIME: Final = 2**255 - 19
_SMALL_ORDER: Final = frozenset(
    {
        0,
        1,
        _PRIME - 1,
        _PRIME,
        _PRIME + 1,
        int.from_bytes(
            bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
        ),
        int.from_bytes(
            bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
        ),
    }
)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that signatures are checked with; `name` is a digest of it, for people."""

    raw: bytes

    @property
    def name(self) -> str:
        """Name the key by the first digits of its digest."""
        return hashlib.sha256(self.raw).hexdigest()[:16]

    def pem(self) -> bytes:
        """Write the key as a file."""
        key = Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def verifies(self, signature: bytes, manifest: bytes) -> bool:
        """Tell whether this key signed the manifest."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, _CONTEXT + manifest)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs."""

    raw: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The half that may be shown."""
        return PublicKey(self._key().public_key().public_bytes_raw())

    def pem(self) -> bytes:
        """Write the key as a file."""
        return self._key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, manifest: bytes) -> bytes:
        """Sign a manifest."""
        return self._key().sign(_CONTEXT + manifest)

    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.raw)


def new_signing_key() -> SigningKey:
    """Make a key."""
    return SigningKey(Ed25519PrivateKey.generate().private_bytes_raw())


def read_signing_key(content: bytes) -> SigningKey:
    """Read a private key: PKCS#8 in PEM without a password, or its 32 raw bytes.

    Raises:
        ValueError: it is another kind of key, or none; the message repeats nothing of it.
    """
    if len(content) == _RAW_BYTES:
        return SigningKey(content)
    try:
        key = load_pem_private_key(content[:MAX_KEY_BYTES], None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError(
            "expected an Ed25519 private key: PKCS#8 in PEM without a password, or 32 bytes"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("found another kind of private key, expected Ed25519")  # noqa: TRY004 - a wrong file, not a wrong call
    return SigningKey(key.private_bytes_raw())


def read_public_key(content: bytes) -> PublicKey:
    """Read a public key: PEM, or its 32 raw bytes.

    Raises:
        ValueError: it is another kind of key, a private one, or one that signs nothing.
    """
    if b"PRIVATE KEY" in content[:MAX_KEY_BYTES]:
        raise ValueError(
            "found a private key; name the public one and keep the other where nobody else reads it"
        )
    if len(content) == _RAW_BYTES:
        raw = content
    else:
        try:
            key = load_pem_public_key(content[:MAX_KEY_BYTES])
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise ValueError("expected an Ed25519 public key: PEM, or 32 bytes") from None
        if not isinstance(key, Ed25519PublicKey):
            raise ValueError("found another kind of public key, expected Ed25519")
        raw = key.public_bytes_raw()
    if int.from_bytes(raw, "little") & ((1 << 255) - 1) in _SMALL_ORDER:
        raise ValueError("found a key for which anybody can sign")
    return PublicKey(raw)


def sign(manifest: bytes, key: SigningKey, others: bytes = b"") -> bytes:
    """Write a signature file; the signatures of `others` by other keys are kept.

    Raises:
        ValueError: `others` is no signature file.
    """
    mine = key.public.name
    kept = [(name, made) for name, made in (_signatures(others) if others else ()) if name != mine]
    entries = [*kept, (mine, key.sign(manifest))][-MAX_SIGNATURES:]
    facts = {
        "schema": 1,
        "signatures": [
            {"key": name, "signature": base64.b64encode(made).decode("ascii")} for name, made in entries
        ],
    }
    return (json.dumps(facts, indent=2) + "\n").encode()


def is_signed_by(manifest: bytes, signatures: bytes, keys: Sequence[PublicKey]) -> PublicKey | None:
    """Give the first of the keys that signed exactly these bytes; None if none did.

    Raises:
        ValueError: there is no signature file in these bytes.
    """
    made = [signature for _, signature in _signatures(signatures)]
    return next((key for key in keys if any(key.verifies(one, manifest) for one in made)), None)


def _signatures(raw: bytes) -> list[tuple[str, bytes]]:
    if len(raw) > MAX_SIGNATURE_BYTES:
        raise ValueError(f"a signature file has at most {MAX_SIGNATURE_BYTES} bytes")
    try:
        value = parse(raw, max_depth=4, max_keys=4 * MAX_SIGNATURES).value
    except JsonError:
        raise ValueError("the signature file is not JSON") from None
    if not isinstance(value, dict) or value.keys() != {"schema", "signatures"} or value["schema"] != 1:
        raise ValueError("the signature file has another form than schema 1")
    entries = value["signatures"]
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_SIGNATURES:
        raise ValueError(f"expected 1 to {MAX_SIGNATURES} signatures")
    return [_signature(entry) for entry in entries]


def _signature(entry: Any) -> tuple[str, bytes]:
    if not isinstance(entry, dict) or entry.keys() != {"key", "signature"}:
        raise ValueError("a signature names its key")
    name, text = entry["key"], entry["signature"]
    try:
        made = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        made = b""
    if not isinstance(name, str) or len(made) != _SIGNED_BYTES:
        raise ValueError("a signature is 64 bytes in base64")
    return name, made
