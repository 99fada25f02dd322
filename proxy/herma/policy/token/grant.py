"""What a verified token opens at the gate: whom it names, and how much that one may do."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from herma.policy.browser.role import Role
from herma.policy.grant import Principal, Scope
from herma.policy.jsondoc import find
from herma.policy.token.claims import Claims
from herma.policy.token.form import Flaw

__all__ = ["PREFIX", "TokenGrant", "bounded", "safe_name"]

# A key's name has no colon, so that no key can be called like a token.
PREFIX = "jwt:"

_NO_ROLES: Mapping[str, Role] = {}
# What may stand in a log, a header of the store and on a page without being taken for something else.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:|/+=-]{0,99}")


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """What the tokens of one issuer open.

    `scopes` is the most that any of them opens. A token has the scopes that its `scope_claim` lists by their names, and those of
    each role that one of its groups has in `roles`; one that has none so has `default_scopes`. With `subjects` or `groups` only
    those come in. A claim is a member's name or, with a slash before it, a JSON Pointer. The `group` of the callers, and each one's
    cap on runs, are what the configuration says: no claim has a say in who shares with whom.
    """

    name: str
    scopes: frozenset[Scope]
    scope_claim: str = "scope"
    group_claim: str = "groups"
    default_scopes: frozenset[Scope] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=lambda: _NO_ROLES)
    subjects: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    group: str = ""
    max_concurrent_runs: int | None = None

    def principal(self, claims: Claims) -> Principal | Flaw:
        """Return the caller that the claims name."""
        words, groups = _scopes(claims.members, self.scope_claim), _groups(claims.members, self.group_claim)
        if words is None or groups is None:
            return Flaw.CLAIMS
        stranger = bool(self.subjects) and claims.subject not in self.subjects
        if stranger or (self.groups and self.groups.isdisjoint(groups)):
            return Flaw.SUBJECT
        granted = frozenset(scope for scope in Scope if scope.value in words)
        granted = granted.union(*(self.roles[group].scopes for group in groups if group in self.roles))
        name = f"{PREFIX}{self.name}:{safe_name(claims.subject)}"
        scopes = bounded(granted or self.default_scopes, self.scopes)
        return Principal(name, scopes, self.group, self.max_concurrent_runs)


def bounded(granted: frozenset[Scope], most: frozenset[Scope]) -> frozenset[Scope]:
    """Return the part of the scopes that lies within the bound; `admin` stands for all of them."""
    if Scope.ADMIN in most:
        return granted
    return most if Scope.ADMIN in granted else granted & most


def safe_name(text: str) -> str:
    """Return a name that can be written anywhere, and is another for every other text.

    One that is short and plain stays as it is; another becomes a digest, which no plain one looks like.
    """
    if _PLAIN.fullmatch(text):
        return text
    return "#" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _claim(members: Mapping[str, Any], name: str) -> Any:
    if not name.startswith("/"):
        return members.get(name)
    found = find(members, name)
    return found[0][1] if len(found) == 1 else None


def _scopes(members: Mapping[str, Any], name: str) -> list[str] | None:
    """List the words of a scope claim: with blanks between them (RFC 8693 section 4.2), or as a list. None when it is neither."""
    claim = _claim(members, name)
    return claim.split(" ") if isinstance(claim, str) else _listed(claim)


def _groups(members: Mapping[str, Any], name: str) -> list[str] | None:
    """List the groups of a claim: a list, or one; a name is never split. None when it is neither."""
    claim = _claim(members, name)
    return [claim] if isinstance(claim, str) else _listed(claim)


def _listed(claim: Any) -> list[str] | None:
    if claim is None:
        return []
    whole = isinstance(claim, list) and all(isinstance(one, str) for one in claim)
    return claim if whole else None
