"""Counts of the connections that one server, or several with the same caps, hold: in all and per address."""

import ipaddress

__all__ = ["Census"]


class Census:
    """Admits connections up to a cap in all and a cap per address; zero means no cap.

    IPv6 addresses count by /64, which is what one subscriber owns; IPv4-mapped ones count as IPv4. Unix sockets have no
    address and count in all only.
    """

    def __init__(self, max_connections: int, max_per_address: int) -> None:
        self.cap(max_connections, max_per_address)
        self._by_address: dict[str, int] = {}
        self.connections = 0

    def cap(self, max_connections: int, max_per_address: int) -> None:
        """Change the caps for who comes from now on; nobody is sent away."""
        self._max = max_connections
        self._max_per_address = max_per_address

    def admit(self, address: str) -> str | None:
        """Count a connection in; returns the key to give to `leave`, or None if it is one too many."""
        if self._max and self.connections >= self._max:
            return None
        key = _subscriber(address)
        count = self._by_address.get(key, 0)
        if key and self._max_per_address and count >= self._max_per_address:
            return None
        self._by_address[key] = count + 1
        self.connections += 1
        return key

    def leave(self, key: str) -> None:
        """Count a connection out."""
        self.connections -= 1
        count = self._by_address[key] - 1
        if count:
            self._by_address[key] = count
        else:
            del self._by_address[key]


def _subscriber(address: str) -> str:
    if ":" not in address:
        return address
    parsed = ipaddress.IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
