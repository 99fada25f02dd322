"""Destinations: by name, by address, by what is told of them."""

import pytest

from herma.content.library import Library
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination, Destinations, EgressMode, destination

INDICATORS = Library().indicators()


@pytest.mark.parametrize("mode", EgressMode)
def test_a_name_without_addresses_is_refused_in_every_mode(mode: EgressMode) -> None:
    """Where nothing was judged there is nothing to connect to."""
    judged = Destinations(mode, INDICATORS).resolved(Destination("api.example.com", 443), ())
    assert isinstance(judged, Deny)
    assert judged.code == "herma.egress.destination"


@pytest.mark.parametrize(
    "authority",
    [
        "a.example:000000443",
        "a.example:",
        "a.example:x",
        "[::1",
        "[::1]x",
        "[::1]:x",
        "u@a.example",
        "a.example:0",
    ],
)
def test_an_authority_that_cannot_be_read_is_none(authority: str) -> None:
    """A port that is no port is never the default one."""
    assert destination(authority, 443) is None


def test_an_authority_is_read() -> None:
    """Names without the last dot, addresses in one spelling."""
    assert destination("A.Example.:8443", 443) == Destination("a.example", 8443)
    assert destination("[2001:db8::1]", 443) == destination("[2001:DB8:0::1]:443", 80)


def test_another_port_or_name_is_fronting() -> None:
    """What is told of the destination is the destination."""
    judge = Destinations(EgressMode.BLOCK_KNOWN_BAD, INDICATORS)
    place = Destination("a.example", 443)
    assert judge.agreeing(place, "A.example.") == Allow()
    for told in ("b.example", "a.example:80", "a.example:99999999"):
        assert isinstance(judge.agreeing(place, told), Deny), told
