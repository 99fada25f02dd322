"""Hosts for which the authority of the gate says of itself that it signs nothing: its key, stolen, opens no door to a model.

RFC 5280 knows no exclusion of a host without the names below it. A host of two labels is left out, for it is a whole site whose other
names are read; so is one with a port, for the same host is read at others, and one that would shut a platform out.
"""

import ipaddress
from collections.abc import Iterable

from cryptography.x509 import DNSName, GeneralName, IPAddress

from herma.policy.address import parse_address
from herma.policy.egress.host_pattern import HostPattern

__all__ = ["excluded_hosts", "subtrees"]


def excluded_hosts(unread: Iterable[HostPattern], read: Iterable[HostPattern]) -> tuple[HostPattern, ...]:
    """Give those of the hosts that nobody reads, which can be excluded while the others are read."""
    kept = {pattern.name for pattern in read}
    found = dict.fromkeys(pattern for pattern in unread if _whole(pattern) and not _shuts_out(pattern, kept))
    return tuple(sorted(found, key=lambda pattern: pattern.name))


def subtrees(patterns: Iterable[HostPattern]) -> list[GeneralName]:
    """Write hosts as names of a constraint, each once, and none that another one covers."""
    names = sorted({pattern.name for pattern in patterns})
    return [_general(name) for name in names if not any(_below(name, other) for other in names)]


def _whole(pattern: HostPattern) -> bool:
    if pattern.port is not None:
        return False
    return pattern.below or pattern.name.count(".") >= 2 or parse_address(pattern.name) is not None


def _shuts_out(pattern: HostPattern, kept: set[str]) -> bool:
    return any(name == pattern.name or _below(name, pattern.name) for name in kept)


def _below(name: str, other: str) -> bool:
    return name.endswith(f".{other}") and parse_address(name) is None


def _general(name: str) -> GeneralName:
    address = parse_address(name)
    return DNSName(name) if address is None else IPAddress(ipaddress.ip_network(address))
