"""Who is asking, by what the request and its connection carry themselves: asked when it comes, and again while it lasts.

One source decides, in this order: an `Authorization` header, the word of a proxy, a session (which the store is asked for, see
`session`), the certificate of the connection. What a source says that comes later does not count, even if the earlier one is wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from herma.identity import Rejected, TokenRejected, Unvouched, names_of
from herma.ingress.plane import Generation, Plane
from herma.policy.decision import Deny, Finding, Level
from herma.policy.exchange import Exchange
from herma.policy.grant import Principal, Scope
from herma.policy.message.canonical import Head
from herma.policy.message.credential import bearer
from herma.policy.secret import Secret
from herma.policy.token.form import is_token
from herma.wire import Peer

__all__ = ["LOCAL", "Stranger", "by_bearer", "by_certificate", "by_proxy", "is_open", "still"]

# A loopback listener without any key or user serves this principal: the start-up law allows that on loopback only.
LOCAL = Principal("local", frozenset({Scope.ADMIN}))


@dataclass(frozen=True, slots=True)
class Stranger:
    """A credential that opens nothing.

    `reason` is counted; `finding` is for the audit. `charged` tells whether it may have been a guess, `key_name` which key it was a
    wrong use of.
    """

    reason: str = ""
    finding: Finding | None = None
    charged: bool = False
    key_name: str = ""

    @property
    def findings(self) -> Iterator[Finding]:
        """Give what the audit is told."""
        if self.finding is not None:
            yield self.finding


def is_open(generation: Generation) -> bool:
    """Tell whether nobody has to say who they are."""
    return generation.settings.auth.open


def by_bearer(
    plane: Plane, generation: Generation, credential: Secret, address: str, now: datetime
) -> tuple[Principal, float] | Stranger:
    """Return whose key or token it is, and until when it is (seconds since 1970).

    Where tokens are taken, what looks like one is one, and never a key.
    """
    tokens = generation.credentials.tokens
    if tokens and is_token(credential.reveal()):
        found = tokens.verify(credential.reveal(), plane.key_sets.get, now.timestamp())
        if isinstance(found, TokenRejected):
            place = f"issuer:{found.issuer}" if found.issuer else ""
            said = Finding(f"auth-token-{found.flaw}", Level.LOW, place)
            return Stranger(f"token_{found.flaw}", said, charged=found.flaw.guess)
        return found.principal, found.expires
    verdict = generation.keyring.verify(credential, address, now)
    if isinstance(verdict, Rejected):
        return Stranger(verdict.reason, charged=True, key_name=verdict.key_name)
    return verdict.principal, float("inf")


def by_proxy(generation: Generation, peer: Peer, head: Head) -> Principal | Deny | Stranger | None:
    """Return whom a proxy names; None when nobody is named by anybody whose word counts."""
    vouching = generation.credentials.vouching
    found = vouching.caller(peer.address, head) if vouching else None
    if found is Unvouched.WRONG_SECRET:
        return Stranger("proxy_secret", Finding("auth-proxy-secret", Level.MEDIUM))
    return found


def by_certificate(generation: Generation, peer: Peer, now: datetime) -> Principal | None:
    """Return whose certificate the connection was opened with; None for nobody's, and when its time is over.

    A connection may be older than the word on whom to trust: where any of those that were trusted then is trusted no more, it may
    have been that one who signed, and the certificate has to be shown again.
    """
    shown = peer.certificate
    if shown is None or now.timestamp() >= shown.not_after or not shown.authorities <= generation.authorities:
        return None
    return generation.credentials.certificates.caller(names_of(shown.names))


def still(plane: Plane, exchange: Exchange, peer: Peer) -> bool:
    """Tell whether the caller of an exchange, who came in without a session, would come in now.

    A token ends here when it says so; the leeway is for clocks at the beginning of a request.
    """
    generation, head, now = plane.generation, exchange.head, datetime.now(UTC)
    if is_open(generation):
        return exchange.principal == LOCAL
    if head.get(b"authorization") is not None:
        credential = bearer(head)
        if not isinstance(credential, Secret):
            return False
        found = by_bearer(plane, generation, credential, exchange.address, now)
        return (
            not isinstance(found, Stranger) and found[0] == exchange.principal and now.timestamp() < found[1]
        )
    vouched = by_proxy(generation, peer, head)
    if vouched is not None:
        return vouched == exchange.principal
    return by_certificate(generation, peer, now) == exchange.principal
