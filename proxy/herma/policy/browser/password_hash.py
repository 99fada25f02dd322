"""A stored password: argon2id in its PHC form, strong enough against whoever steals it, cheap enough for whoever verifies it.

https://github.com/P-H-C/phc-string-format; RFC 9106. Other schemes and other variants of argon2 are refused.
"""

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from typing import Self

__all__ = ["MAX_PASSWORD_CHARACTERS", "PasswordHash", "prepared"]

# OWASP Password Storage Cheat Sheet: configurations of one strength, as (KiB of memory, passes).
_FLOORS = ((47_104, 1), (19_456, 2), (12_288, 3), (9_216, 4), (7_168, 5))
# A login that takes more is a way to exhaust the gate: so much memory is taken for each password that is being verified.
MAX_MEMORY_KIB = 256 * 1024
MAX_PASSES = 16
MAX_LANES = 8
# RFC 9106 section 3.1 recommends 16 bytes of salt; what is shorter repeats, what is longer is no hash of anybody's.
_MIN_BYTES = 16
_MAX_BYTES = 64

# A form field is bounded already; nobody types more.
MAX_PASSWORD_CHARACTERS = 1024

_FORM = re.compile(
    r"\$argon2id\$v=19\$m=([1-9][0-9]{0,8}),t=([1-9][0-9]{0,5}),p=([1-9][0-9]{0,5})"
    r"\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{1,128})"
)
_FIX = "make one with `herma key password`"


@dataclass(frozen=True, slots=True, repr=False)
class PasswordHash:
    """The hash of one password. It does not show by accident: a person's password can be guessed from it."""

    memory_kib: int
    passes: int
    lanes: int
    salt: bytes
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the PHC form.

        Raises:
            ValueError: It is not of that form, too weak, or too costly; the message does not repeat it.
        """
        form = _FORM.fullmatch(text)
        salt, digest = (_bytes(form[4]), _bytes(form[5])) if form else (b"", b"")
        if form is None or not all(_MIN_BYTES <= len(part) <= _MAX_BYTES for part in (salt, digest)):
            raise ValueError(f"expected argon2id as $argon2id$v=19$m=…,t=…,p=…$<salt>$<digest>; {_FIX}")
        memory, passes, lanes = int(form[1]), int(form[2]), int(form[3])
        found = f"found argon2id with m={memory}, t={passes}, p={lanes}"
        if not any(memory >= least and passes >= rounds for least, rounds in _FLOORS):
            raise ValueError(f"{found}, expected at least m=19456, t=2; {_FIX}")
        if memory > MAX_MEMORY_KIB or passes > MAX_PASSES or lanes > MAX_LANES:
            most = f"m={MAX_MEMORY_KIB}, t={MAX_PASSES}, p={MAX_LANES}"
            raise ValueError(f"{found}, expected at most {most}, or logins exhaust the gate; {_FIX}")
        return cls(memory, passes, lanes, salt, digest)

    @property
    def cost(self) -> int:
        """Say how much work it is to verify, to compare hashes by."""
        return self.memory_kib * self.passes

    def reveal(self) -> str:
        """Return the PHC form; call it only to verify a password."""
        parameters = f"m={self.memory_kib},t={self.passes},p={self.lanes}"
        return f"$argon2id$v=19${parameters}${_text(self.salt)}${_text(self.digest)}"

    def __repr__(self) -> str:
        return "PasswordHash('***')"


def prepared(password: str) -> bytes | None:
    """Give a password the bytes that are hashed: NFC, as keyboards differ (RFC 8265 section 4.2); None if it cannot be one."""
    if not 0 < len(password) <= MAX_PASSWORD_CHARACTERS or "\0" in password:
        return None
    try:
        return unicodedata.normalize("NFC", password).encode()
    except UnicodeEncodeError:
        return None


def _bytes(text: str) -> bytes:
    """Decode base64 without padding; what is not its one spelling is nothing."""
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return b""
    return found if _text(found) == text else b""


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii").rstrip("=")
