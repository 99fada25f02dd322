"""Whose request it is, by address, when proxies stand in front of the gate.

Forwarded headers count only when the peer itself is a trusted proxy, and are walked from the right: each hop is what
the trusted proxy to its right saw. The first address that is no trusted proxy is the caller. Everything to its left is
what the caller claims. What cannot be read ends the walk at the last hop that could.
"""

import functools
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from herma.policy.decision import Deny
from herma.policy.message.canonical import Headers

__all__ = ["MAX_HOPS", "Network", "client_address", "forwarded_proto", "normal_address", "within"]

type Network = ipaddress.IPv4Network | ipaddress.IPv6Network
type _Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A chain of proxies under one operator has two or three links. The bound keeps a list of thousands from costing
# anything; a longer chain is a mistake or an attack, and the peer is charged.
MAX_HOPS = 16
# The longest spelling of an IPv6 address, with an IPv4 address at its end.
MAX_ADDRESS_CHARS = 45

_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?")
_FOUR_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")
# RFC 7239 section 4: token, or quoted string; IPv6 and ports have to be quoted, which many senders forget.
_PAIR = re.compile(r"[ \t]*([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(?:\"((?:[^\"\\]|\\.)*)\"|([^\s\",;=]+))[ \t]*")
_MALFORMED = Deny(400, "herma.request.forwarded", "The Forwarded header is malformed.", close=True)
_DISAGREE = Deny(
    400, "herma.request.forwarded", "Forwarded and X-Forwarded-For name different addresses.", close=True
)


def client_address(peer: str, headers: Headers, trusted: Sequence[Network]) -> str | Deny:
    """Return the caller's address in its normal spelling; the peer's where no forwarded header may be believed.

    `peer` is empty for a unix socket, which is never a trusted proxy.

    Returns:
        The address, or a denial when a trusted proxy sent `Forwarded` and `X-Forwarded-For` that disagree.
    """
    direct = _parse_peer(peer)
    if direct is None:
        return peer
    if not _in(direct, trusted):
        return str(direct)
    hops = _hops(headers)
    if isinstance(hops, Deny):
        return hops
    last = direct
    for text in reversed(hops[-MAX_HOPS:]):
        hop = _parse_hop(text)
        if hop is None:
            return str(last)
        if not _in(hop, trusted):
            return str(hop)
        last = hop
    # Only trusted addresses all the way: a caller inside a trusted network could have written any of them.
    return str(direct)


def forwarded_proto(peer: str, headers: Headers, trusted: Sequence[Network], *, tls: bool) -> str:
    """Return the scheme the caller used; a trusted peer may say so with one plain `X-Forwarded-Proto`."""
    own = "https" if tls else "http"
    direct = _parse_peer(peer)
    said = _all(headers, b"x-forwarded-proto")
    if direct is None or not _in(direct, trusted) or len(said) != 1:
        return own
    value = said[0].lower()
    return value.decode("ascii") if value in {b"http", b"https"} else own


def normal_address(text: str) -> str | None:
    """Spell an address in its one form: compressed, IPv4-mapped IPv6 as IPv4; None when it is none."""
    address = _parse_peer(text)
    return None if address is None else str(address)


def within(peer: str, networks: Sequence[Network]) -> bool:
    """Tell whether a peer is in one of the networks; a unix socket is in none."""
    direct = _parse_peer(peer)
    return direct is not None and _in(direct, networks)


def _all(headers: Headers, name: bytes) -> list[bytes]:
    return [value for held, value in headers if held == name]


def _hops(headers: Headers) -> list[str] | Deny:
    listed = [
        hop.strip()
        for value in _all(headers, b"x-forwarded-for")
        if value
        for hop in value.decode("latin-1").split(",")
    ]
    elements = ",".join(value.decode("latin-1") for value in _all(headers, b"forwarded") if value)
    if not elements:
        return listed
    standard = _elements(elements)
    if standard is None:
        return _MALFORMED
    if listed and [_parse_hop(hop) or hop for hop in listed] != [_parse_hop(hop) or hop for hop in standard]:
        return _DISAGREE
    return standard


@dataclass(slots=True)
class _Element:
    hop: str | None = None


def _elements(text: str) -> list[str] | None:
    """Read the `for` of every element of a `Forwarded` header; None when it is malformed."""
    found: list[str] = []
    element = _Element()
    position = 0
    while True:
        pair = _PAIR.match(text, position)
        if pair is None:
            return None
        if pair[1].lower() == "for":
            if element.hop is not None:
                return None
            element.hop = re.sub(r"\\(.)", r"\1", pair[2]) if pair[2] is not None else pair[3]
        position = pair.end()
        separator = text[position : position + 1]
        if separator in {"", ","}:
            # An element without `for` says nothing of its hop, which is not the same as no hop.
            found.append(element.hop or "")
            element = _Element()
        elif separator != ";":
            return None
        if not separator:
            return found
        position += 1


def _parse_hop(text: str) -> _Address | None:
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is not None:
        return _parse(bracketed[1])
    four = _FOUR_PORT.fullmatch(text)
    return _parse(four[1] if four is not None else text)


def _parse_peer(text: str) -> _Address | None:
    # The kernel names the interface of a link-local peer; of a hop that a header names a zone makes no sense.
    return _parse(text.partition("%")[0])


# The same few peers call again and again; an address has at most 45 characters, so the entries are small.
@functools.lru_cache(maxsize=1024)
def _parse(text: str) -> _Address | None:
    if "%" in text or len(text) > MAX_ADDRESS_CHARS:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _in(address: _Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)
