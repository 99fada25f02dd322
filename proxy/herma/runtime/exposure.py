"""Is the upstream exposed beside the gate? A door next to the gate makes the gate worthless, so this is said loudly.

The kernel's own table of listening sockets is read instead of trying addresses: it is complete, costs no connection, and
sees what a firewall in between would hide from a try but not from a neighbour.
"""

import ipaddress
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["listening_addresses"]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTEN = "0A"
# The tables of a busy host are long; this much of each is read.
MAX_TABLE_BYTES = 8 * 1024 * 1024


def listening_addresses(port: int, tables: tuple[Path, ...] = _TABLES) -> tuple[str, ...]:
    """Return the non-loopback addresses of this host on which something listens on `port`.

    Includes the wildcards `0.0.0.0` and `::`. Empty where the kernel has no such table.
    """
    found = set()
    for table in tables:
        for address, bound in _listeners(table):
            mapped = getattr(address, "ipv4_mapped", None)
            if bound == port and not (mapped or address).is_loopback:
                found.add(str(address))
    return tuple(sorted(found))


def _listeners(table: Path) -> Iterator[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]]:
    try:
        with table.open("r", encoding="ascii") as file:
            text = file.read(MAX_TABLE_BYTES)
    except OSError:
        return
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 3 and fields[3] == _LISTEN:
            digits, _, port = fields[1].partition(":")
            yield _address(digits), int(port, 16)


def _address(digits: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    # proc(5): the address is written as 32-bit words in host byte order.
    words = [int(digits[start : start + 8], 16) for start in range(0, len(digits), 8)]
    return ipaddress.ip_address(b"".join(word.to_bytes(4, sys.byteorder) for word in words))
