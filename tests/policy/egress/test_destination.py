"""Destinations: by name, by address, by what is told of them."""

from ipaddress import IPv6Address

import pytest

from herma.config.places import near
from herma.policy.address import parse_address
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import Destination, Destinations, EgressMode, destination
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.indicator import Action, Indicator, IndicatorSet, Matching

INDICATORS = IndicatorSet(
    [
        Indicator("bad-01", "c2.example.net", Matching.DOMAIN, Action.BLOCK, "x"),
        Indicator("odd-01", "paste.example.net", Matching.DOMAIN, Action.ALERT, "x"),
    ]
)


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


def test_a_name_is_told_where_it_leads() -> None:
    """The address is the one that was judged."""
    place, address = destination("a.example", 443), parse_address("192.0.43.8")
    assert place is not None
    assert address is not None
    assert place.at(address) == Destination("a.example", 443, address)


def test_another_port_or_name_is_fronting() -> None:
    """What is told of the destination is the destination."""
    judge = Destinations(EgressMode.BLOCK_KNOWN_BAD, INDICATORS)
    place = Destination("a.example", 443)
    assert judge.agreeing(place, "A.example.") == Allow()
    for told in ("b.example", "a.example:80", "a.example:99999999"):
        assert isinstance(judge.agreeing(place, told), Deny), told


def judged(name: str, *addresses: str, mode: EgressMode = EgressMode.BLOCK_KNOWN_BAD) -> Allow | Deny:
    """Judge a name and what it resolved to."""
    judge = Destinations(
        mode,
        INDICATORS,
        (HostPattern.parse("*.example.com"),),
        (near("10.1.0.0/16"), near("127.0.0.1:11434")),
    )
    place = destination(name, 443)
    assert place is not None
    told = judge.asked(place)
    found = [parse_address(one) for one in addresses]
    return (
        told if isinstance(told, Deny) else judge.resolved(place, [one for one in found if one is not None])
    )


@pytest.mark.parametrize(
    "address",
    ["192.0.43.8", "2001:500:88:200::8", "10.1.2.3"],
)
def test_addresses_of_the_internet_and_of_what_is_named_are_allowed(address: str) -> None:
    """As long as nothing else stands against them."""
    assert isinstance(judged("api.example.com", address), Allow)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("10.2.0.1", "private"),
        ("127.0.0.1", "private"),
        ("0.0.0.0", "private"),
        ("224.0.0.1", "private"),
        ("240.0.0.1", "private"),
        ("::1", "private"),
        ("::ffff:10.2.0.1", "private"),
        ("64:ff9b::a02:1", "private"),
        ("fd00::1", "private"),
        ("169.254.169.254", "metadata"),
        ("::ffff:169.254.169.254", "metadata"),
    ],
)
def test_one_bad_address_among_good_ones_refuses_all(address: str, code: str) -> None:
    """The caller would choose which one is connected to."""
    decision = judged("api.example.com", "192.0.43.8", address)
    assert isinstance(decision, Deny)
    assert decision.code == f"herma.egress.{code}"


def test_a_neighbour_is_named_with_its_port() -> None:
    """Another port of the same machine is another service."""
    assert isinstance(judged("localhost:11434", "127.0.0.1"), Allow)
    assert isinstance(judged("localhost:11435", "127.0.0.1"), Deny)
    assert isinstance(judged("127.0.0.1:11434", "127.0.0.1"), Allow)
    assert isinstance(judged("0x7f.1:80"), Deny)


def test_what_is_not_listed_is_refused_where_a_list_is_asked_for() -> None:
    """In the other modes the list is not read."""
    decision = judged("api.example.org", mode=EgressMode.ALLOW_LIST)
    assert isinstance(decision, Deny)
    assert decision.code == "herma.egress.unlisted"
    assert isinstance(judged("api.example.com", "192.0.43.8", mode=EgressMode.ALLOW_LIST), Allow)


def test_an_indicator_is_refused_by_its_name() -> None:
    """As everywhere else; who only looks is told."""
    decision = judged("c2.example.net")
    assert isinstance(decision, Deny)
    assert decision.code == "herma.egress.indicator"
    assert "example" not in decision.message
    seen = judged("c2.example.net", "192.0.43.8", mode=EgressMode.OBSERVE)
    assert isinstance(seen, Allow)
    assert [finding.rule_id for finding in seen.findings] == ["bad-01"]


def test_an_indicator_that_is_only_told_of_refuses_nothing() -> None:
    """Its level is its author's."""
    assert isinstance(judged("paste.example.net", "192.0.43.8"), Allow)


def test_what_is_no_destination_is_refused() -> None:
    """There is nothing to connect to."""
    deny = Destinations(EgressMode.OBSERVE, INDICATORS).unreadable()
    assert (deny.status, deny.close) == (400, True)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        # The client is 169.254.169.254, 10.0.0.1, 8.8.8.8: written with every bit turned.
        ("2001:0:c000:201::5601:5601", "metadata"),
        ("2001:0:c000:201::f5ff:fffe", "private"),
        ("2001:0:c000:201::f7f7:f7f7", "private"),
        ("64:ff9b:1::808:808", "private"),
    ],
)
def test_an_address_behind_a_tunnel_or_a_translator_is_refused(address: str, code: str) -> None:
    """Nobody here knows where it leads, or it leads to the address that is written in it."""
    judged = Destinations(EgressMode.BLOCK_KNOWN_BAD, INDICATORS).resolved(
        Destination("api.example.com", 443), [IPv6Address(address)]
    )
    assert isinstance(judged, Deny)
    assert judged.code == f"herma.egress.{code}"
