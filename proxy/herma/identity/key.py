"""Making keys, and the form in which a key may be stored without being readable.

`sha256:<salt hex>:<digest hex>`, the digest being SHA-256 over salt and key. One round is enough and many would be
harmful: a key here is random and has at least the entropy floor's bits, which no number of rounds makes up for, while
every request, also an unauthenticated one, pays for each round.
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Self

from herma.policy.secret import Secret

__all__ = ["MAX_KEY_BYTES", "KeyHash", "hash_key", "new_key"]

# Longest key that is compared. Bearer tokens in use stay below 4 KiB; more is somebody making the gate hash megabytes.
MAX_KEY_BYTES = 4096

_NEW_KEY_BYTES = 32
_SALT_BYTES = 16
_SALT_BYTES_ALLOWED = range(8, 65)
_SCHEME = "sha256"


@dataclass(frozen=True, slots=True)
class KeyHash:
    """A salt and the digest of a key under it; neither shows in `repr`."""

    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, key: bytes, salt: bytes) -> Self:
        """Hash a key."""
        return cls(salt, hashlib.sha256(salt + key).digest())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the stored form.

        Raises:
            ValueError: It is not of that form; the message does not repeat it.
        """
        scheme, _, rest = text.partition(":")
        salt_hex, _, digest_hex = rest.partition(":")
        salt, digest = _from_hex(salt_hex), _from_hex(digest_hex)
        if (
            scheme != _SCHEME
            or len(salt) not in _SALT_BYTES_ALLOWED
            or len(digest) != hashlib.sha256().digest_size
        ):
            raise ValueError("a key hash has the form sha256:<salt hex>:<digest hex>")
        return cls(salt, digest)

    def __str__(self) -> str:
        """Render the stored form."""
        return f"{_SCHEME}:{self.salt.hex()}:{self.digest.hex()}"

    def __repr__(self) -> str:
        return "KeyHash('***')"


def new_key() -> Secret:
    """Make a random key of 256 bits, in characters that need no quoting anywhere."""
    return Secret(secrets.token_urlsafe(_NEW_KEY_BYTES).encode("ascii"))


def hash_key(key: Secret, salt: bytes | None = None) -> str:
    """Return the stored form of a key, under a random salt unless one is given."""
    return str(KeyHash.of(key.reveal(), secrets.token_bytes(_SALT_BYTES) if salt is None else salt))


def _from_hex(text: str) -> bytes:
    # bytes.fromhex alone would also take blanks between the digits.
    return bytes.fromhex(text) if text.isalnum() and text.isascii() else b""
