"""Which of an issuer's people may come in, and what part they play.

Rules of the file:

1. Every list that is given has to fit: a domain of theirs, a group of theirs, and their subject. Everything is compared whole.
2. The first entry that fits gives the role; who fits none has the default one, and without a default does not come in.
3. The subject is who somebody is. An e-mail address may belong to another person tomorrow (OpenID Connect Core section 5.7).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from herma.policy.browser.role import Role
from herma.policy.jsondoc import find
from herma.policy.openid.email import Email, verified_email

__all__ = ["Admission", "Admitted", "RoleEntry", "Unwelcome", "admit", "is_subject"]

# Core section 2: at most 255 ASCII characters. Blanks and controls do not get into logs.
_SUBJECT = re.compile(r"[!-~]{1,255}")


class Unwelcome(StrEnum):
    """Why somebody may not come in; for the audit and the counters, never for the caller."""

    SUBJECT = "subject"
    EMAIL = "email"
    GROUP = "group"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class RoleEntry:
    """The role of those in a group, of one address, or of one subject; exactly one of these is given."""

    role: Role
    group: str = ""
    email: Email | None = None
    subject: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.group, self.email, self.subject))) != 1:
            raise ValueError("an entry names a group, an address or a subject")


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may come in as what; an empty list does not ask."""

    domains: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    groups_claim: str = "groups"
    roles: tuple[RoleEntry, ...] = ()
    default: Role | None = None

    def __post_init__(self) -> None:
        if self.default is None and not self.roles:
            raise ValueError("nobody could come in")
        if self.default is not None and not (self.domains or self.groups or self.subjects):
            raise ValueError("everybody whom the issuer knows could come in")


@dataclass(frozen=True, slots=True)
class Admitted:
    """Somebody who may come in; `shown` is what they are called on pages."""

    subject: str
    shown: str
    role: Role


def is_subject(text: str) -> bool:
    """Tell whether it can be the subject of somebody."""
    return _SUBJECT.fullmatch(text) is not None


def admit(claims: Mapping[str, object], rules: Admission) -> Admitted | Unwelcome:
    """Judge the claims of a token that was verified before."""
    subject, email, groups = claims.get("sub"), verified_email(claims), _groups(claims, rules.groups_claim)
    if not isinstance(subject, str) or not is_subject(subject):
        return Unwelcome.SUBJECT
    if rules.subjects and subject not in rules.subjects:
        return Unwelcome.SUBJECT
    if rules.domains and (email is None or email.domain not in rules.domains):
        return Unwelcome.EMAIL
    if rules.groups and rules.groups.isdisjoint(groups):
        return Unwelcome.GROUP
    role = next((entry.role for entry in rules.roles if _fits(entry, subject, email, groups)), rules.default)
    if role is None:
        return Unwelcome.ROLE
    return Admitted(subject, subject if email is None else str(email), role)


def _fits(entry: RoleEntry, subject: str, email: Email | None, groups: frozenset[str]) -> bool:
    if entry.group:
        return entry.group in groups
    return entry.subject == subject if entry.subject else entry.email == email


def _groups(claims: Mapping[str, object], name: str) -> frozenset[str]:
    """Return the groups; one text is one group, whatever stands in it. With a slash before it the name is a JSON Pointer."""
    pointed = find(claims, name) if name.startswith("/") else [("", claims.get(name))]
    match pointed[0][1] if len(pointed) == 1 else None:
        case str(group):
            return frozenset({group})
        case list(groups):
            return frozenset(group for group in groups if isinstance(group, str))
        case _:
            return frozenset()
