"""Who holds this key?

Every record is compared with every token, without early exit, so that the time says nothing about which record matched or
how closely. Only then is the record that matched judged: is it expired, may it be used from that address?
"""

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from herma.identity.key import MAX_KEY_BYTES, KeyHash
from herma.policy.grant import Principal, Scope
from herma.policy.secret import Secret

__all__ = ["KeyRecord", "Keyring", "Reason", "Rejected", "Verified"]


class Reason(StrEnum):
    """Why a token was rejected; for the audit, never for the caller."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Verified:
    """The token is the key of this principal."""

    principal: Principal


@dataclass(frozen=True, slots=True)
class Rejected:
    """The token opens nothing; `key_name` is the key it belongs to, empty when it belongs to none."""

    reason: Reason
    key_name: str = ""


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as configured: in clear or as a hash (see `key`), and what it opens for whom, until when and from where.

    No networks means from anywhere; with networks, a caller without an address (unix socket) is outside of them.
    """

    name: str
    scopes: frozenset[Scope]
    key: Secret | None = None
    hash: str | None = field(default=None, repr=False)
    group: str = ""
    expires: datetime | None = None
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    max_concurrent_runs: int | None = None

    def __post_init__(self) -> None:
        if (self.key is None) == (self.hash is None):
            raise ValueError("a key record has a key or a hash, and not both")
        if self.key is not None and not _usable(self.key.reveal()):
            raise ValueError("a key is 1 to 4096 ASCII characters: another could never be sent")
        if self.expires is not None and self.expires.tzinfo is None:
            raise ValueError("an expiry has a time zone")

    @property
    def principal(self) -> Principal:
        """The caller who holds this key."""
        return Principal(self.name, self.scopes, self.group, self.max_concurrent_runs)


class Keyring:
    """The keys that open the gate; an empty one opens to nobody."""

    def __init__(
        self, keys: Sequence[KeyRecord], *, compare: Callable[[bytes, bytes], bool] = hmac.compare_digest
    ) -> None:
        if len({record.name for record in keys}) != len(keys):
            raise ValueError("two keys have the same name")
        self._compare = compare
        self._keys = tuple((record, _key_hash(record)) for record in keys)
        self._salts = frozenset(stored.salt for _, stored in self._keys)

    def names(self) -> tuple[str, ...]:
        """List the names of the keys, in the order they were given."""
        return tuple(record.name for record, _ in self._keys)

    def verify(self, token: Secret, address: str, now: datetime) -> Verified | Rejected:
        """Tell whose key the token is, and whether it opens the gate from that address and at that time."""
        value = token.reveal()
        if not _usable(value):
            return Rejected(Reason.UNKNOWN)
        digests = {salt: KeyHash.of(value, salt).digest for salt in self._salts}
        found: KeyRecord | None = None
        for record, stored in self._keys:
            if self._compare(digests[stored.salt], stored.digest):
                found = record
        if found is None:
            return Rejected(Reason.UNKNOWN)
        if found.expires is not None and now >= found.expires:
            return Rejected(Reason.EXPIRED, found.name)
        if found.networks and not _within(address, found.networks):
            return Rejected(Reason.NETWORK, found.name)
        return Verified(found.principal)


def _usable(value: bytes) -> bool:
    return 0 < len(value) <= MAX_KEY_BYTES and value.isascii()


def _key_hash(record: KeyRecord) -> KeyHash:
    # Keys in clear share the empty salt: one hash of the token serves all of them.
    return (
        KeyHash.of(record.key.reveal(), b"") if record.key is not None else KeyHash.parse(record.hash or "")
    )


def _within(address: str, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in networks)
