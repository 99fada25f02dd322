"""Addresses and networks as they stand in an indicator, with or without a port, and a quick table of them."""

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from herma.policy.address import Address, Host, parse_address
from herma.policy.indicator.indicator import Indicator

__all__ = ["Network", "Networks", "parse_network"]

type Network = IPv4Network | IPv6Network


def parse_network(value: str) -> tuple[Network, int | None]:
    """Read `43.228.79.77`, `60.165.167.0/24`, `43.228.79.77:80`, `2a0e::7`, `2a0e::/48` or `[2a0e::7]:443`.

    An IPv4 address inside an IPv6 one (mapped, NAT64, 6to4) is that IPv4 address, as it is in a text.

    Raises:
        ValueError: it is none of these.
    """
    if value.startswith("["):
        inside, bracket, rest = value[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError("expected [IPv6 address]:port")
        return _network(inside), _port(rest[1:]) if rest else None
    if value.count(":") == 1:
        address, _, port = value.partition(":")
        return _network(address), _port(port)
    return _network(value), None


def _network(text: str) -> Network:
    network = ip_network(text)
    if isinstance(network, IPv6Network) and network.prefixlen == 128:
        inner = parse_address(str(network.network_address))
        if inner is not None and not isinstance(inner, IPv6Address):
            return IPv4Network(inner)
    return network


def _port(digits: str) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6 and 0 < int(digits) < 65_536):
        raise ValueError("expected a port from 1 to 65535 behind the colon")
    return int(digits)


class Networks:
    """Indicators by address: one look per length of prefix, however many there are."""

    def __init__(self) -> None:
        self._by_length: dict[tuple[int, int], dict[int, list[tuple[Indicator, int | None]]]] = {}

    def add(self, indicator: Indicator) -> None:
        """Take in one of the kind `address`."""
        network, port = parse_network(indicator.value)
        shift = network.max_prefixlen - network.prefixlen
        row = self._by_length.setdefault((network.version, shift), {})
        row.setdefault(int(network.network_address) >> shift, []).append((indicator, port))

    def of(self, address: Address, host: Host) -> Iterator[Indicator]:
        """Give the indicators that the address lies in, if the port is theirs."""
        value = int(address)
        for (version, shift), row in self._by_length.items():
            if version == address.version:
                for indicator, port in row.get(value >> shift, ()):
                    if port in {None, host.port}:
                        yield indicator
