"""Claims about `herma.policy.wildcard_dns`."""

from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.address import hosts, is_metadata, url_host
from herma.policy.wildcard_dns import named_address, written_in_names

NAMED = {
    "43-228-79-77.sslip.io": "43.228.79.77",
    "43.228.79.77.nip.io": "43.228.79.77",
    "www-43-228-79-77-x.sslip.io.": "43.228.79.77",
    "2be44f4d.nip.io": "43.228.79.77",
    "a.2be44f4d.nip.io": "43.228.79.77",
    "2be44f4d.c0a80001.rbndr.us": "43.228.79.77",
    "ec2-43-228-79-77.compute-1.amazonaws.com": "43.228.79.77",
    "77.79.228.43.bc.googleusercontent.com": "43.228.79.77",
    "static.77.79.228.43.clients.your-server.de": "43.228.79.77",
    "2a01-4f8-c17-b8f--2.sslip.io": "2a01:4f8:c17:b8f::2",
    "lvh.me": "127.0.0.1",
    "app.localtest.me": "127.0.0.1",
}


@pytest.mark.parametrize(("name", "address"), NAMED.items())
def test_a_name_that_holds_an_address_stands_for_it(name: str, address: str) -> None:
    """Dashed, dotted, hex, reversed, IPv6, and names of this machine."""
    assert named_address(name) == ip_address(address)


@pytest.mark.parametrize(
    "name",
    [
        "43-228-79-77.example.com",
        "nip.io",
        "www.nip.io",
        "s3.amazonaws.com",
        "343-228-79-77.sslip.io",
        "1--2--3.sslip.io",
        "notlvh.me",
    ],
)
def test_other_names_hold_none(name: str) -> None:
    """Other domains, and names without an address in them."""
    assert named_address(name) is None


def test_a_host_of_such_a_name_is_judged_by_its_address() -> None:
    """In a URL and in a text."""
    host = url_host("169-254-169-254.sslip.io")
    assert host is not None
    assert is_metadata(host)
    assert any(is_metadata(found) for found in hosts("ping a9fea9fe.nip.io"))


@given(st.ip_addresses(v=4))
def test_what_the_first_look_knows_is_read_back(address: IPv4Address) -> None:
    """Each spelling names the address below a service of its kind."""
    dashed, digits, reverse, reverse_dashed = written_in_names(address)
    assert named_address(f"{dashed}.sslip.io") == address
    assert named_address(f"x.{digits}.nip.io") == address
    assert named_address(f"{reverse}.bc.googleusercontent.com") == address
    assert named_address(f"{reverse_dashed}.clients.your-server.de") == address
