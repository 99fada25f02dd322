"""Networks that somebody is in."""

import ipaddress
from collections.abc import Sequence
from typing import Any

from herma.config.values import Network

__all__ = ["everybody", "lies_within"]


def everybody(networks: Sequence[Network]) -> bool:
    """Tell whether the networks hold all addresses of a version; two halves are a whole as well: 0.0.0.0/1 and 128.0.0.0/1."""
    versions: tuple[Sequence[Any], ...] = (
        [network for network in networks if network.version == 4],
        [network for network in networks if network.version == 6],
    )
    return any(whole.prefixlen == 0 for same in versions for whole in ipaddress.collapse_addresses(same))


def lies_within(network: Network, others: Sequence[Network]) -> bool:
    """Tell whether one of the others holds the whole network."""
    return any(network.network_address in other and network.prefixlen >= other.prefixlen for other in others)
