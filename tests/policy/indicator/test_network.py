"""Claims about `herma.policy.indicator.network`."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.address import Host
from herma.policy.indicator.indicator import Action, Indicator, Matching
from herma.policy.indicator.network import Networks, parse_network

READ = {
    "43.228.79.77": ("43.228.79.77/32", None),
    "60.165.167.0/24": ("60.165.167.0/24", None),
    "43.228.79.77:55557": ("43.228.79.77/32", 55557),
    "2a0e:bad::7": ("2a0e:bad::7/128", None),
    "2a0e:bad::/48": ("2a0e:bad::/48", None),
    "[2a0e:bad::7]:443": ("2a0e:bad::7/128", 443),
    "[2a0e:bad::7]": ("2a0e:bad::7/128", None),
    "::ffff:43.228.79.77": ("43.228.79.77/32", None),
}


@pytest.mark.parametrize(("value", "expected"), READ.items(), ids=READ.keys())
def test_addresses_are_read(value: str, expected: tuple[str, int | None]) -> None:
    """With or without prefix and port, in both families."""
    assert parse_network(value) == (ip_network(expected[0]), expected[1])


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "43.228.79.77:0",
        "43.228.79.77:70000",
        "43.228.79.77:x",
        "[2a0e::7",
        "[2a0e::7]x",
        "43.1.2.3/8",
        "1:2:3",
    ],
)
def test_other_texts_are_refused(value: str) -> None:
    """Half an address is none."""
    with pytest.raises(ValueError, match=r"\w"):
        parse_network(value)


@given(st.ip_addresses(), st.integers(0, 30))
def test_an_address_is_found_in_each_network_around_it(address: object, shorter: int) -> None:
    """However long the prefix is."""
    whole = ip_network(f"{address}")
    network = whole.supernet(prefixlen_diff=min(shorter, whole.prefixlen))
    if parse_network(str(network))[0].version != whole.version:
        return
    table = Networks()
    table.add(Indicator("x", str(network), Matching.ADDRESS, Action.BLOCK, "x"))
    inside = ip_address(str(address))
    assert [found.id for found in table.of(inside, Host(str(address), inside))] == ["x"]


def test_the_port_of_an_indicator_counts() -> None:
    """An indicator with a port says nothing about the others."""
    table = Networks()
    table.add(Indicator("x", "43.228.79.77:80", Matching.ADDRESS, Action.BLOCK, "x"))
    address = ip_address("43.228.79.77")
    assert list(table.of(address, Host("", address, 80)))
    assert not list(table.of(address, Host("", address, 81)))
    assert not list(table.of(ip_address("::1"), Host("")))
