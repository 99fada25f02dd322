"""Making keys, and the form in which a key may be stored without being readable.

`sha256:<salt hex>:<digest hex>`, the digest being SHA-256 over salt and key. One round is enough and many would be
harmful: a key here is random and has at least the entropy floor's bits, which no number of rounds makes up for, while
every request, also an unauthenticated one, pays for each round.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Self

from herma.policy.secret import Secret

__all__ = ["MAX_KEY_BYTES", "KeyHash", "hash_key", "new_key"]

# Longest key that is compared. Bearer tokens in use stay below 4 KiB; more is somebody making the gate hash megabytes.
MAX_KEY_BYTES = 4096

_NEW_KEY_BYTES = 32
_SALT_BYTES = 16
_FORM = re.compile(r"sha256:(?P<salt>(?:[0-9a-fA-F]{2}){8,64}):(?P<digest>[0-9a-fA-F]{64})")


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
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError(
                "a key hash has the form sha256:<salt hex>:<digest hex>, with 8 to 64 bytes of salt"
            )
        return cls(bytes.fromhex(form["salt"]), bytes.fromhex(form["digest"]))

    def __str__(self) -> str:
        """Render the stored form."""
        return f"sha256:{self.salt.hex()}:{self.digest.hex()}"

    def __repr__(self) -> str:
        return "KeyHash('***')"


def new_key() -> Secret:
    """Make a random key of 256 bits, in characters that need no quoting anywhere."""
    return Secret(secrets.token_urlsafe(_NEW_KEY_BYTES).encode("ascii"))


def hash_key(key: Secret, salt: bytes | None = None) -> str:
    """Return the stored form of a key, under a random salt unless one is given."""
    return str(KeyHash.of(key.reveal(), secrets.token_bytes(_SALT_BYTES) if salt is None else salt))
