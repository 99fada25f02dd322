"""Claims about `herma.config.places`."""

import ipaddress

import pytest

from herma.config.places import host, near
from herma.policy.egress.destination import Near
from herma.policy.egress.host_pattern import HostPattern

NEAR = {
    "10.1.0.0/16": Near(ipaddress.ip_network("10.1.0.0/16")),
    "10.1.2.3": Near(ipaddress.ip_network("10.1.2.3/32")),
    "127.0.0.1:11434": Near(ipaddress.ip_network("127.0.0.1/32"), 11434),
    "fd00::/8": Near(ipaddress.ip_network("fd00::/8")),
    "[::1]:8000": Near(ipaddress.ip_network("::1/128"), 8000),
}


@pytest.mark.parametrize(("text", "place"), NEAR.items(), ids=NEAR.keys())
def test_a_network_or_an_address_is_read(text: str, place: Near) -> None:
    """With a port it is that port alone."""
    assert near(text) == place


@pytest.mark.parametrize(
    "text", ["", "models.lan", "models.lan:80", "10.1.2.3/16", "10.1.2.3:0", "0.0.0.0/0", "::/0", "*:80"]
)
def test_what_is_no_network_or_everybody_is_refused(text: str) -> None:
    """A name may lead anywhere tomorrow."""
    with pytest.raises(ValueError, match=r"expected|found"):
        near(text)


def test_hosts_are_read_as_patterns() -> None:
    """All names below one have a star before it."""
    assert host("*.Example.com:443") == HostPattern("example.com", below=True, port=443)
    with pytest.raises(ValueError, match="expected a host"):
        host("*.com")
