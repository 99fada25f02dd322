"""Networks that somebody is in."""

from ipaddress import ip_network

import pytest

from herma.config.networks import everybody, lies_within


@pytest.mark.parametrize(
    ("networks", "all_of_them"),
    [
        ([], False),
        (["0.0.0.0/0"], True),
        (["::/0"], True),
        (["0.0.0.0/1", "128.0.0.0/1"], True),
        (["::/1", "192.0.2.0/24", "8000::/1"], True),
        (["0.0.0.0/1", "8000::/1"], False),
        (["192.0.2.0/24", "2001:db8::/32"], False),
    ],
)
def test_everybody_is_a_whole_version(networks: list[str], all_of_them: bool) -> None:
    """However it is cut."""
    assert everybody([ip_network(one) for one in networks]) is all_of_them


@pytest.mark.parametrize(
    ("network", "others", "within"),
    [
        ("192.0.2.7", ["192.0.2.0/24"], True),
        ("192.0.2.0/24", ["198.51.100.0/24", "192.0.2.0/24"], True),
        ("192.0.2.0/23", ["192.0.2.0/24"], False),
        ("192.0.2.7", ["2001:db8::/32"], False),
        ("192.0.2.7", [], False),
    ],
)
def test_a_network_lies_within_another_as_a_whole(network: str, others: list[str], within: bool) -> None:
    """Of the same version."""
    assert lies_within(ip_network(network, strict=False), [ip_network(one) for one in others]) is within
