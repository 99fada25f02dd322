"""How the places that an agent may reach are read; `scalar` lists them with the others."""

import ipaddress

from herma.policy.egress.destination import Near
from herma.policy.egress.host_pattern import HostPattern

__all__ = ["host", "near"]


def host(text: str) -> HostPattern:
    """Read `name`, `*.name` or an address, with a port or without."""
    return HostPattern.parse(text)


def near(text: str) -> Near:
    """Read `10.1.0.0/16`, `10.1.2.3`, `10.1.2.3:8000` or `[fd00::7]:8000`."""
    written, port = text, None
    if text.startswith("[") or text.count(":") == 1:
        pattern = HostPattern.parse(text)
        written, port = pattern.name, pattern.port
    try:
        network = ipaddress.ip_network(written)
    except ValueError:
        raise ValueError(
            "expected an address or a network, as in 127.0.0.1:11434 or 10.1.0.0/16; names are resolved and judged by address"
        ) from None
    if network.prefixlen == 0:
        raise ValueError("found a network of all addresses; name what the agent has to reach")
    return Near(network, port)
