"""What nobody can look into: archives with a password, encrypted files, and packings for which there is no machine here.

It is told, and sent unless the operator says otherwise: whoever sends a backup away seals it first, and so does a thief. Who reads
the audit sees which host gets such things.
"""

import re
from typing import Final

from herma.policy.decision import Finding

__all__ = ["SEALED", "is_sealed", "sealed_found"]

SEALED: Final = "egress-sealed"

_ODD: Final = b"".join(re.escape(bytes([byte])) for byte in range(1, 256, 2))
_HEADS: Final = (
    rb"7z\xbc\xaf\x27\x1c",
    rb"Rar!\x1a\x07",
    # Zstandard, LZ4.
    rb"\x28\xb5\x2f\xfd",
    rb"\x04\x22\x4d\x18",
    rb"age-encryption\.org/v1",
    rb"-----BEGIN AGE ENCRYPTED FILE-----",
    rb"-----BEGIN PGP MESSAGE-----",
    # A session key for a password or for somebody's key (RFC 9580 sections 5.1 and 5.3), as GnuPG writes them.
    rb"\x8c\x0d\x04[\x01-\x0d]",
    rb"\x85[\x01\x02].\x03|\x84.\x03",
    rb"Salted__",
    rb"\$ANSIBLE_VAULT;",
)
_BEGINS: Final = re.compile(b"|".join(_HEADS), re.DOTALL)
_PART: Final = re.compile(rb"\r\n(?=\r\n)")
# A member with a password (APPNOTE section 4.4.4), or packed in a way that is neither stored, deflate, bzip2 nor xz.
_MEMBER: Final = re.compile(
    rb"PK\x03\x04..(?:[" + _ODD + rb"]|..(?!\x00\x00|\x08\x00|\x0c\x00|\x5f\x00))", re.DOTALL
)


def is_sealed(raw: bytes) -> bool:
    """Tell whether bytes begin like something sealed, alone or in a part of a form, or hold a sealed member of an archive."""
    return (
        _BEGINS.match(raw) is not None
        or any(_BEGINS.match(raw, part.end() + 2) for part in _PART.finditer(raw))
        or _MEMBER.search(raw) is not None
    )


def sealed_found(place: str) -> Finding:
    """Report it."""
    return Finding(SEALED, place=place, attack="T1560.001")
