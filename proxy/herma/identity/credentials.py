"""The ways to be known beside keys and sessions, as the configuration has them."""

from dataclasses import dataclass, field

from herma.config.auth import Auth
from herma.config.certificates import ClientCertificate
from herma.config.proxy_headers import ProxyHeaders
from herma.config.tokens import TokenIssuer
from herma.identity.certificates import CertificateRecord, Certificates
from herma.identity.key_sets import FileKeys, KeySource, RemoteKeys
from herma.identity.token import Issuer, Tokens
from herma.identity.vouching import VouchedRole, Vouching
from herma.policy.token.claims import Expected
from herma.policy.token.grant import TokenGrant

__all__ = ["Credentials", "credentials_of"]


@dataclass(frozen=True, slots=True)
class Credentials:
    """Signed tokens, certificates, and the word of a proxy."""

    tokens: Tokens = field(default_factory=Tokens)
    certificates: Certificates = field(default_factory=Certificates)
    vouching: Vouching | None = None


def credentials_of(auth: Auth) -> Credentials:
    """Make them of the configuration, which was judged."""
    return Credentials(
        Tokens([_issuer(entry) for entry in auth.tokens]),
        Certificates([_record(entry) for entry in auth.certificates]),
        _vouching(auth.proxy_headers) if auth.proxy_headers else None,
    )


def _issuer(entry: TokenIssuer) -> Issuer:
    return Issuer(
        Expected(entry.issuer, entry.audience, entry.max_lifetime_s),
        _source(entry),
        TokenGrant(
            name=entry.name,
            scopes=entry.scopes,
            scope_claim=entry.scope_claim,
            group_claim=entry.groups_claim,
            default_scopes=entry.default_scopes,
            roles={one.group: one.role for one in entry.roles},
            subjects=frozenset(entry.subjects),
            groups=frozenset(entry.groups),
            group=entry.group,
            max_concurrent_runs=entry.max_concurrent_runs,
        ),
        tuple(algorithm.value for algorithm in entry.algorithms),
    )


def _source(entry: TokenIssuer) -> KeySource:
    if entry.jwks_url is not None:
        return RemoteKeys(entry.jwks_url, entry.ca_file)
    return FileKeys(entry.jwks_file or "")


def _record(entry: ClientCertificate) -> CertificateRecord:
    return CertificateRecord(
        entry.name, frozenset(entry.san), entry.scopes, entry.group, entry.max_concurrent_runs
    )


def _vouching(entry: ProxyHeaders) -> Vouching:
    return Vouching(
        peers=entry.peers,
        secret=entry.secret,
        secret_header=entry.secret_header.encode("ascii"),
        user_header=entry.user_header.encode("ascii"),
        groups_header=entry.groups_header.encode("ascii") if entry.groups_header else None,
        roles=tuple(VouchedRole(one.role, one.user, one.group) for one in entry.roles),
        default=entry.default_role,
    )
