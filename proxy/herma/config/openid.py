"""Logging in at an identity provider: which one, who of its people may come in, and as what."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from herma.config.files import Files
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import (
    ClientName,
    Domain,
    EmailAddress,
    FilePath,
    IssuerUrl,
    Label,
    ScopeWord,
    Subject,
)
from herma.policy.browser.role import Role
from herma.policy.openid.admission import Admission, RoleEntry
from herma.policy.openid.email import parse_email
from herma.policy.secret import Secret
from herma.yamlfile import Path

__all__ = ["OpenId", "OpenIds", "RoleFor"]

_WHO = ("group", "email", "subject")


@dataclass(frozen=True, slots=True)
class RoleFor:
    """Who has a role; exactly one of group, email and subject."""

    role: Role = option("`viewer`, `operator` or `admin`, as for `users`.")
    group: Label | None = option("Everybody in this group.", default=None, example="agent-admins")
    email: EmailAddress | None = option(
        "The person with this address, if the issuer has verified it.",
        default=None,
        example="alice@example.com",
    )
    subject: Subject | None = option("The person with this `sub`.", default=None, example="248289761001")


@dataclass(frozen=True, slots=True)
class OpenId:
    """An OpenID Connect provider."""

    issuer: IssuerUrl = option(
        "The issuer as it calls itself, character by character; https, or http at a loopback address.",
        example="https://id.example.com/realms/agents",
    )
    client_id: ClientName = option("The gate's name at the issuer.", example="herma")
    client_secret: Secret | None = option(
        "The gate's secret at the issuer; a public client has none.", default=None, secret=True
    )
    scopes: tuple[ScopeWord, ...] = option(
        "What the issuer is asked for; `openid` is needed.",
        default=(ScopeWord("openid"), ScopeWord("email")),
        min_items=1,
        example="email",
    )
    ca_file: FilePath | None = option(
        "PEM file with the authorities that the issuer's certificate is from; those of the system by default.",
        default=None,
    )
    label: Label = option(
        "What stands on the button, behind `Log in with`.",
        default=Label("single sign-on"),
        example="Example Ltd",
    )
    allowed_domains: tuple[Domain, ...] = option(
        "Only people with a verified e-mail address in one of these domains.",
        default=(),
        example="example.com",
    )
    allowed_groups: tuple[Label, ...] = option(
        "Only people in one of these groups.", default=(), example="agent-users"
    )
    allowed_subjects: tuple[Subject, ...] = option(
        "Only people with one of these `sub`.", default=(), example="248289761001"
    )
    groups_claim: Label = option(
        "The claim of the ID token that lists the groups; with a slash before it, a JSON Pointer such as `/realm_access/roles`.",
        default=Label("groups"),
    )
    roles: tuple[RoleFor, ...] = option("Who has which role; the first entry that fits decides.", default=())
    default_role: Role | None = option(
        "The role of those that no entry fits; without it they do not come in.", default=None
    )

    def admission(self) -> Admission:
        """Return the rules of who may come in.

        Raises:
            ValueError: nobody could, or everybody; the reader of the configuration says so first.
        """
        return Admission(
            domains=frozenset(self.allowed_domains),
            groups=frozenset(self.allowed_groups),
            subjects=frozenset(self.allowed_subjects),
            groups_claim=self.groups_claim,
            roles=tuple(
                RoleEntry(one.role, one.group or "", parse_email(one.email or ""), one.subject or "")
                for one in self.roles
            ),
            default=self.default_role,
        )


class OpenIds:
    """Judges the provider as it is read."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def finish(self, reader: Reader, made: OpenId, path: Path, _raw: Mapping[str, Any]) -> OpenId:
        """Refuse what lets in nobody or everybody, entries that say two things or the same, and a wrong file."""
        _judge(reader, made, path)
        if made.ca_file is None:
            return made
        file = self._files.resolve(made.ca_file)
        self._files.authorities(reader, (*path, "ca_file"), file)
        return replace(made, ca_file=file)


def _judge(reader: Reader, made: OpenId, path: Path) -> None:
    if "openid" not in made.scopes:
        message = "`openid` is missing; without it the issuer says nobody's name"
        reader.problem(reader.at((*path, "scopes")), "auth.login.oidc.scopes", message)
    # A wrong entry is told as such.
    if made.default_role is None and not reader.has((*path, "roles", 0)):
        message = "nobody can log in: add entries to roles, or a default_role beside a list of who is allowed"
        reader.problem(reader.key_at(path), "auth.login.oidc.nobody", message)
    if made.default_role is not None and not (
        made.allowed_domains or made.allowed_groups or made.allowed_subjects
    ):
        message = "found a role for everybody whom the issuer knows; add allowed_domains, allowed_groups or allowed_subjects"
        reader.problem(reader.at((*path, "default_role")), "auth.login.oidc.everybody", message)
    _judge_roles(reader, made, path)
    if _by_address(made) and "email" not in made.scopes:
        message = "people are told apart by e-mail address, but the scope `email` is not asked for; add it"
        reader.warn(reader.key_at(path), "auth.login.oidc.email", message)


def _judge_roles(reader: Reader, made: OpenId, path: Path) -> None:
    seen: Counter[tuple[str | None, ...]] = Counter()
    for index, entry in enumerate(made.roles):
        at = reader.at((*path, "roles", index))
        who = (entry.group, entry.email, entry.subject)
        if sum(one is not None for one in who) != 1:
            message = f"expected one of {', '.join(_WHO)}; write an entry for each"
            reader.problem(at, "auth.login.oidc.role", message)
        elif seen[who]:
            reader.problem(at, "auth.login.oidc.role", "an entry above is about the same people; remove one")
        seen[who] += 1


def _by_address(made: OpenId) -> bool:
    return bool(made.allowed_domains) or any(one.email is not None for one in made.roles)
