"""Signed tokens of programs: whose are taken, and what they open."""

# ruff: noqa: RUF009 - option() is dataclasses.field with a description, which belongs in a default

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from herma.config.files import Files
from herma.config.option import option
from herma.config.reader import Reader
from herma.config.values import (
    Audience,
    ClaimName,
    FilePath,
    IssuerUrl,
    KeySetUrl,
    Label,
    Name,
    Seconds,
    Subject,
)
from herma.errors import Source
from herma.policy.browser.role import Role
from herma.policy.grant import Scope
from herma.policy.token.form import Algorithm
from herma.yamlfile import Path

__all__ = ["GroupRole", "KeysOf", "TokenIssuer", "TokenIssuers", "located"]


@dataclass(frozen=True, slots=True)
class GroupRole:
    """What the members of a group may do."""

    group: Label = option("The group, as the claim has it.", example="agent-operators")
    role: Role = option("`viewer`, `operator` or `admin`, as for people who log in.")


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Whose tokens are taken as bearer credentials, and what they open."""

    name: Name = option("Name in logs; a caller is called `jwt:<name>:<sub>`.", example="workloads")
    issuer: IssuerUrl = option(
        "The issuer (`iss`) as it calls itself, character by character.",
        example="https://id.example.com/realms/agents",
    )
    audience: Audience = option(
        "Whom the tokens have to be for (`aud`).", example="https://agent.example.com"
    )
    scopes: frozenset[Scope] = option("The most that a token opens; `admin` covers all.", min_items=1)
    jwks_url: KeySetUrl | None = option(
        "Where the issuer publishes its keys; https, or http at a loopback address.",
        default=None,
        example="https://id.example.com/realms/agents/certs",
    )
    jwks_file: FilePath | None = option("A file with the issuer's keys, instead of a URL.", default=None)
    ca_file: FilePath | None = option(
        "PEM file with the authorities to trust for `jwks_url` instead of the system's.", default=None
    )
    algorithms: tuple[Algorithm, ...] = option(
        "Which signatures are taken.", default=tuple(Algorithm), min_items=1
    )
    scope_claim: ClaimName = option(
        "The claim that lists scopes by the names that keys have.", default=ClaimName("scope")
    )
    default_scopes: frozenset[Scope] = option(
        "What a token opens that has no scope and no role.", default=frozenset()
    )
    groups_claim: ClaimName = option(
        "The claim that lists groups; a name, or a JSON Pointer.",
        default=ClaimName("groups"),
        example="/realm_access/roles",
    )
    roles: tuple[GroupRole, ...] = option("What groups may do, beside the scopes.", default=())
    subjects: tuple[Subject, ...] = option(
        "Only tokens about one of these (`sub`).", default=(), example="system:serviceaccount:ops:bot"
    )
    groups: tuple[Label, ...] = option("Only tokens with one of these groups.", default=())
    group: str = option(
        "Callers with a token of this issuer and the keys of this group share the runs they start.",
        default="",
    )
    max_concurrent_runs: int | None = option(
        "Each caller's own cap on runs.", default=None, minimum=1, maximum=100_000
    )
    max_lifetime_s: Seconds = option(
        "The longest time that a token may have been issued for.",
        default=Seconds(86_400.0),
        minimum=60,
        maximum=2_592_000,
    )


class TokenIssuers:
    """Judges the issuers as they are read, and together."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._names: dict[str, Source] = {}
        self._served: dict[tuple[str, str], Source] = {}

    def finish(self, reader: Reader, made: TokenIssuer, path: Path, raw: Mapping[str, Any]) -> TokenIssuer:
        """Refuse an issuer without keys, one that opens to everybody, and one that is there already."""
        self._apart(reader, made, path)
        self._grants(reader, made, path)
        file, authorities = located(self._files, reader, made, path, raw, code="auth.tokens.keys")
        return replace(made, jwks_file=file, ca_file=authorities)

    def _apart(self, reader: Reader, made: TokenIssuer, path: Path) -> None:
        at = reader.at((*path, "name"))
        earlier = self._names.setdefault(made.name.lower(), at)
        if earlier is not at:
            reader.problem(
                at, "auth.tokens.name", f"the name is taken by the issuer at {earlier}; rename one"
            )
        at = reader.at((*path, "audience"))
        earlier = self._served.setdefault((made.issuer, made.audience), at)
        if earlier is not at:
            message = f"the same issuer and audience are at {earlier}; make one entry of both"
            reader.problem(at, "auth.tokens.twice", message)

    @staticmethod
    def _grants(reader: Reader, made: TokenIssuer, path: Path) -> None:
        at = reader.at((*path, "default_scopes"))
        if Scope.ADMIN not in made.scopes and not made.default_scopes <= made.scopes:
            message = "found scopes beyond those under scopes, which are the most; change one"
            reader.problem(at, "auth.tokens.scopes", message)
        # Some issuers give a token for any audience to anybody with an account.
        if made.default_scopes and not (made.subjects or made.groups):
            message = "found scopes for everybody who gets a token of this issuer; add subjects or groups"
            reader.problem(at, "auth.tokens.everybody", message)


class KeysOf(Protocol):
    """What says where somebody's keys are."""

    @property
    def jwks_file(self) -> FilePath | None:
        """The file that they stand in."""
        ...

    @property
    def ca_file(self) -> FilePath | None:
        """The authorities of who is asked for them."""
        ...


def located(
    files: Files, reader: Reader, made: KeysOf, path: Path, raw: Mapping[str, Any], *, code: str
) -> tuple[FilePath | None, FilePath | None]:
    """Find the files of an issuer's keys and authorities; note a problem where there are no keys, or two places for them."""
    if ("jwks_url" in raw) == ("jwks_file" in raw):
        message = "expected either jwks_url or jwks_file, where the issuer's keys are"
        reader.problem(reader.at(path), code, message)
    if made.ca_file is not None and made.jwks_file is not None:
        message = "found authorities, and no jwks_url that they are for; take one out or add the other"
        reader.problem(reader.at((*path, "ca_file")), code, message)
    file, authorities = (
        None if name is None else files.resolve(name) for name in (made.jwks_file, made.ca_file)
    )
    if file is not None:
        files.guarded(reader, (*path, "jwks_file"), file)
    if authorities is not None:
        files.authorities(reader, (*path, "ca_file"), authorities)
    return file, authorities
