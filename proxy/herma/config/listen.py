"""The start-up law: which addresses only this machine can reach.

An address is loopback when that can be proven, and public otherwise. Private networks (RFC 1918), link-local and
carrier-grade NAT are public: a neighbour is not a friend. IPv4-mapped forms are public too: what they reach depends on
socket options of the moment. A name is worth what all its addresses are worth, and is resolved only once: what was judged is
what is bound.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from herma.config.values import Address, FileMode, Tcp, Unix

__all__ = ["PRIVATE_MODE", "Resolver", "Verdict", "judge", "provably_loopback", "resolve"]

# Only the owner may connect.
PRIVATE_MODE = FileMode(0o600)

_LOOPBACK_V4 = ipaddress.IPv4Network("127.0.0.0/8")
_LOOPBACK_V6 = ipaddress.IPv6Address("::1")

# Name to addresses; raises OSError when it does not resolve.
type Resolver = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether others can reach a listener, why, and the addresses that were judged (none for a Unix socket)."""

    public: bool
    reason: str
    binds: tuple[str, ...] = ()


def judge(address: Address, mode: FileMode, resolver: Resolver) -> Verdict:
    """Apply the law to one listener."""
    match address:
        case Unix():
            if mode & ~PRIVATE_MODE:
                return Verdict(True, "its mode lets other users of this machine connect")
            return Verdict(False, "only its owner can connect")
        case Tcp(host=host):
            return _judge_host(host, resolver)


def provably_loopback(address: str) -> bool:
    """Tell whether the text is an address in 127.0.0.0/8 or `::1`, in the spelling of Python's ipaddress."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return parsed in _LOOPBACK_V4
    return parsed == _LOOPBACK_V6 and parsed.scope_id is None


def resolve(host: str) -> tuple[str, ...]:
    """Resolve a name as the system does.

    Raises:
        OSError: The name does not resolve.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError("not a name that can be resolved") from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def _judge_host(host: str, resolver: Resolver) -> Verdict:
    if _is_address(host):
        if provably_loopback(host):
            return Verdict(False, "it is a loopback address", (host,))
        return Verdict(True, "other machines may reach it", (host,))
    try:
        addresses = tuple(resolver(host))
    except OSError:
        addresses = ()
    if not addresses:
        return Verdict(True, "the name does not resolve")
    if all(map(provably_loopback, addresses)):
        return Verdict(False, "the name resolves to loopback addresses only", addresses)
    return Verdict(True, "the name resolves to an address that other machines may reach", addresses)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
