"""Whom the agent may connect to: by name before it is resolved, by address after, and by what it says of itself.

All three are asked. A name that is fine may resolve to the metadata service (DNS rebinding), an address that is fine may be
given another name in the handshake (domain fronting). The addresses that were judged are the ones to connect to.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Final

from herma.policy.address import Address, Host, is_foreign, is_metadata, parse_address, url_host
from herma.policy.decision import Allow, Deny, Finding
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.indicator import Action, IndicatorSet
from herma.policy.indicator.name import ascii_name

__all__ = ["Destination", "Destinations", "EgressMode", "Near", "destination"]


class EgressMode(StrEnum):
    """What becomes of destinations: reported, refused when known as bad, refused unless listed."""

    OBSERVE = "observe"
    BLOCK_KNOWN_BAD = "block-known-bad"
    ALLOW_LIST = "allow-list"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a connection is to lead: `name` in lower-case ASCII or an address, without brackets."""

    name: str
    port: int
    address: Address | None = None

    def at(self, address: Address) -> "Destination":
        """Say what the name was resolved to."""
        return replace(self, address=address)


@dataclass(frozen=True, slots=True)
class Near:
    """A network of the neighbourhood that the agent may reach, at one port or at all."""

    network: IPv4Network | IPv6Network
    port: int | None = None

    def covers(self, address: Address, port: int) -> bool:
        """Tell whether an address is in it."""
        return (
            address.version == self.network.version and address in self.network and self.port in {None, port}
        )


# A port that cannot be read is not the default one, and a bracket is closed.
_PORTED: Final = re.compile(r"(?:[^\[\]:]+|\[[^\[\]]+\])(?::[0-9]{1,5})?", re.ASCII)

METADATA: Final = Finding("egress-metadata", attack="T1552.005")
PRIVATE: Final = Finding("egress-private", attack="T1046")
UNLISTED: Final = Finding("egress-unlisted", attack="T1041")
FRONTING: Final = Finding("egress-fronting", attack="T1090.004")
UNREADABLE: Final = Finding("egress-destination")

# Translated to IPv4 by whoever runs the network, to wherever they like (RFC 8215).
_TRANSLATED: Final = IPv6Network("64:ff9b:1::/48")

_MESSAGES: Final = {
    METADATA.rule_id: "The destination is a metadata service or link-local.",
    PRIVATE.rule_id: "The destination lies in a private network; name it in `egress.near` if the agent may reach it.",
    UNLISTED.rule_id: "The destination is not listed in `egress.hosts`.",
    FRONTING.rule_id: "The names that the connection gives for its destination differ.",
    UNREADABLE.rule_id: "The destination is no host name and no address.",
}


def destination(authority: str, default_port: int) -> Destination | None:
    """Read `host:port`, an address in any spelling; None for what names no host."""
    host = url_host(authority)
    if host is None or host.userinfo or not _PORTED.fullmatch(authority.strip()):
        return None
    name = ascii_name(host.name)
    written = parse_address(name)
    port = default_port if host.port is None else host.port
    if not 0 < port < 65536:
        return None
    return Destination(name if written is None else str(written), port, written)


class Destinations:
    """Judges destinations; holds no state."""

    def __init__(
        self,
        mode: EgressMode,
        indicators: IndicatorSet,
        listed: Sequence[HostPattern] = (),
        near: Sequence[Near] = (),
    ) -> None:
        self._mode = mode
        self._indicators = indicators
        self._listed = tuple(listed)
        self._near = tuple(near)

    def asked(self, place: Destination) -> Allow | Deny:
        """Judge a name before it is resolved, and an address that was given as one."""
        findings = [*self._of_host(Host(place.name, place.address, place.port))]
        if place.address is not None:
            findings += self._of_address(place.address, place.port)
        if self._mode is EgressMode.ALLOW_LIST and not covered(self._listed, place.name, place.port):
            findings.append(UNLISTED)
        return self._decided(findings)

    def resolved(self, place: Destination, addresses: Sequence[Address]) -> Allow | Deny:
        """Judge every address of a name: one bad one among them is somebody's attempt, and refuses all."""
        if not addresses:
            # Nothing was judged, so nothing may be connected to.
            return self.unreadable()
        findings: list[Finding] = []
        for address in addresses:
            findings += self._of_address(address, place.port)
            findings += self._of_host(Host(place.name, address, place.port))
        return self._decided(findings)

    def agreeing(self, place: Destination, told: str) -> Allow | Deny:
        """Judge what a handshake or a request calls the destination: a name, with a port or without."""
        same = destination(told, place.port)
        if same is not None and (same.name, same.port) == (place.name, place.port):
            return Allow()
        return self._decided([FRONTING])

    def unreadable(self) -> Deny:
        """Refuse what names no destination, in every mode: there is nothing to connect to."""
        return Deny(400, "herma.egress.destination", _MESSAGES[UNREADABLE.rule_id], (UNREADABLE,), close=True)

    def _of_host(self, host: Host) -> Iterator[Finding]:
        if is_metadata(host):
            yield METADATA
        for indicator in self._indicators.of_host(host):
            if indicator.action is Action.BLOCK:
                yield Finding(indicator.id, attack="T1071")

    def _of_address(self, address: Address, port: int) -> Iterator[Finding]:
        # An IPv4 address inside an IPv6 one is that address.
        plain = parse_address(str(address)) or address
        if isinstance(plain, IPv6Address) and plain.teredo is not None:
            # RFC 4380: a packet to it goes on to the client that is written in it, behind whatever stands between.
            yield from self._of_address(plain.teredo[1], port)
        host = Host(str(plain), plain, port)
        if is_metadata(host):
            yield METADATA
        elif not _is_reachable(host) and not any(near.covers(plain, port) for near in self._near):
            yield PRIVATE

    def _decided(self, findings: Sequence[Finding]) -> Allow | Deny:
        unique = tuple(dict.fromkeys(findings))
        if not unique or self._mode is EgressMode.OBSERVE:
            return Allow(unique)
        code = unique[0].rule_id.removeprefix("egress-")
        message = _MESSAGES.get(unique[0].rule_id)
        if message is None:
            code, message = "indicator", "The destination is an indicator of compromise."
        return Deny(403, f"herma.egress.{code}", message, unique, close=True)


def _is_reachable(host: Host) -> bool:
    """Tell whether an address is one of the internet's: neither of the neighbourhood nor of many, of nobody or behind a tunnel."""
    address = host.address
    if isinstance(address, IPv6Address) and (address.teredo is not None or address in _TRANSLATED):
        return False
    return address is not None and is_foreign(host) and not (address.is_multicast or address.is_reserved)
