"""Whether a password may be typed over the connection at hand."""

import ipaddress

from herma.policy.browser.cross_site import Approach

__all__ = ["cleartext"]


def cleartext(approach: Approach, address: str) -> bool:
    """Tell whether others could read what the caller sends.

    Plain HTTP is private between a browser and a gate on the same machine only: the listener is loopback, and so is the caller,
    wherever a trusted proxy says that a request comes from. A unix socket has no address.
    """
    if approach.proto == "https":
        return False
    return not (approach.hosts.loopback and (not address or _is_loopback(address)))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
