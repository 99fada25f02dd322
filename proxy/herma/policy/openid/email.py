"""An e-mail address that says in which house a person is.

Addresses have been used to get past checks of their end: two `@`, quoted parts, look-alike letters, encoded words. So only the
plain form is one at all, and the part behind its one `@` is compared whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Email", "parse_domain", "parse_email", "verified_email"]

# RFC 5321 section 4.5.3.1: 64 before the `@`, 254 in all.
_MAX_CHARACTERS = 254
# RFC 5322 section 3.2.3, dot-atom: no quotes, no comments, no blanks.
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})+")


@dataclass(frozen=True, slots=True)
class Email:
    """An address; the domain is in lower case, what stands before it is as it was written."""

    local: str
    domain: str

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"


def parse_email(text: str) -> Email | None:
    """Read an address; None for everything that is not plainly one."""
    local, mark, domain = text.partition("@")
    found = parse_domain(domain)
    if (
        not mark
        or found is None
        or len(text) > _MAX_CHARACTERS
        or len(local) > 64
        or not _LOCAL.fullmatch(local)
    ):
        return None
    return Email(local, found)


def parse_domain(text: str) -> str | None:
    """Read a domain with a dot in it, in ASCII letters of any case; None for everything else, addresses of machines too."""
    # Only then: there are letters outside ASCII whose lower case is inside.
    if not text.isascii() or len(text) > _MAX_CHARACTERS:
        return None
    lower = text.lower()
    last = lower.rpartition(".")[2]
    return lower if _DOMAIN.fullmatch(lower) and not last.isdecimal() else None


def verified_email(claims: Mapping[str, object]) -> Email | None:
    """Return the address that the issuer vouches for: only where it says `email_verified: true`, and not "true"."""
    address = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(address, str):
        return None
    return parse_email(address)
