"""Where a password may be typed."""

import pytest

from herma.policy.browser.cross_site import Approach
from herma.policy.browser.transport import cleartext
from herma.policy.message.host import HostPolicy

PUBLIC = HostPolicy(frozenset({("gate.example.com", None)}), loopback=False, port=8643)
LOOPBACK = HostPolicy(frozenset(), loopback=True, port=8643)


@pytest.mark.parametrize("address", ["203.0.113.9", "127.0.0.1", "::1", "", "odd"])
def test_over_https_anywhere(address: str) -> None:
    """Whoever ends the TLS, if it can be believed."""
    assert not cleartext(Approach(PUBLIC, "https", upgrade=False), address)
    assert not cleartext(Approach(LOOPBACK, "https", upgrade=False), address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.0.1", "::1", ""])
def test_over_http_on_the_same_machine(address: str) -> None:
    """The listener and the caller are both loopback, or a private socket."""
    assert not cleartext(Approach(LOOPBACK, "http", upgrade=False), address)
    assert cleartext(Approach(PUBLIC, "http", upgrade=False), address)


@pytest.mark.parametrize("address", ["203.0.113.9", "10.0.0.7", "2001:db8::1", "odd"])
def test_not_over_http_from_elsewhere(address: str) -> None:
    """Also where a trusted proxy on this machine says that it came so."""
    assert cleartext(Approach(LOOPBACK, "http", upgrade=False), address)
