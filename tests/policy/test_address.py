"""Claims about `herma.policy.address`."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.address import Host, hosts, is_metadata, parse_address, spellings, url_host

SAME = IPv4Address("169.254.169.254")
SPELLINGS = {
    "dotted": "169.254.169.254",
    "decimal": "2852039166",
    "hex": "0xa9fea9fe",
    "octal parts": "0251.0376.0251.0376",
    "hex parts": "0xa9.0xfe.0xa9.0xfe",
    "two parts": "169.16689662",
    "three parts": "169.254.43518",
    "mapped": "[::ffff:169.254.169.254]",
    "mapped in hex": "::ffff:a9fe:a9fe",
    "NAT64": "64:ff9b::a9fe:a9fe",
    "6to4": "2002:a9fe:a9fe::1",
    "compatible": "::a9fe:a9fe",
    "percent": "%31%36%39.254.169.254",
    "full width": "１６９.２５４.１６９.２５４",
    "ideographic dots": "169。254。169。254",
    "trailing dot": "169.254.169.254.",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_every_spelling_is_the_same_address(text: str) -> None:
    """What a resolver takes for an address is read as that address."""
    assert parse_address(text) == SAME


@pytest.mark.parametrize(
    "text",
    [
        "example.com",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3.256",
        "089.1.1.1",
        "",
        "1..2",
        "::g",
        "0x",
        "99999999999",
    ],
)
def test_what_no_resolver_takes_is_a_name(text: str) -> None:
    """Names, parts out of range and bad digits are no addresses."""
    assert parse_address(text) is None


@pytest.mark.parametrize("text", ["::1", "::", "2001:db8::1"])
def test_addresses_that_hold_no_other_stay_what_they_are(text: str) -> None:
    """Loopback, unspecified and plain IPv6 addresses are not taken for embedded IPv4 ones."""
    assert parse_address(text) == IPv6Address(text)


@given(st.ip_addresses(v=4))
def test_the_listed_spellings_of_any_address_are_read_back(address: IPv4Address) -> None:
    """Each spelling that the quick look knows is read as the address, the IPv6 tail apart."""
    for spelling in spellings(str(address)):
        if ":" not in spelling and not (int(address) < 256 and "." not in spelling):
            assert parse_address(spelling) == address, spelling


def test_an_ipv6_address_has_its_two_spellings() -> None:
    """Short and long."""
    assert spellings("2001:db8::1") == ("2001:db8::1", "2001:0db8:0000:0000:0000:0000:0000:0001")


AUTHORITIES = {
    "plain": ("Example.COM", Host("example.com")),
    "port": ("example.com:8443", Host("example.com", None, 8443)),
    "bad port": ("example.com:http", Host("example.com")),
    "user": ("a@b@198.51.100.30:80", Host("198.51.100.30", ip_address("198.51.100.30"), 80, "", True)),
    "IPv6": ("[2001:db8::1]:443", Host("2001:db8::1", ip_address("2001:db8::1"), 443)),
    "IPv6 without brackets": ("2001:db8::1", Host("2001:db8::1", ip_address("2001:db8::1"))),
    "percent": ("sfrclak%2Eexample", Host("sfrclak.example")),
    "empty": ("user@", None),
}


@pytest.mark.parametrize(("authority", "host"), AUTHORITIES.values(), ids=AUTHORITIES.keys())
def test_an_authority_is_taken_apart(authority: str, host: Host | None) -> None:
    """User, host and port are told apart as a browser does."""
    assert url_host(authority) == host


def test_hosts_are_found_wherever_they_stand_in_a_text() -> None:
    """URLs, bare addresses, bracketed ones and names are all found."""
    text = "curl http://a.example:81/x; nc 0x7f000001 1; ping [2001:db8::1]:9 or b.example:7 and http://user@/ 256.1.1.1"
    found = {(host.name, host.port) for host in hosts(text)}
    assert {("a.example", 81), ("0x7f000001", None), ("2001:db8::1", 9), ("b.example", 7)} <= found


def test_ipv6_addresses_need_no_brackets() -> None:
    """Bare ones are found, also at the end of a sentence; times and C++ names are none."""
    found = {
        host.address for host in hosts("at 12:30:45 ssh root@2A0E:bad::7 and std::vector, then 2a0e:bad::8.")
    }
    assert found >= {ip_address("2a0e:bad::7"), ip_address("2a0e:bad::8")}
    assert not [host for host in hosts("at 12:30:45 std::vector") if host.address]


def test_no_number_of_hosts_hides_the_last_one() -> None:
    """However many stand before it, and of whatever kind."""
    text = "http://here.example/ " * 2000 + "198.51.100.7 " * 300 + "curl http://0xcb007107/ and last.example"
    found = list(hosts(text))
    assert any(host.address == ip_address("203.0.113.7") for host in found)
    assert found[-1].name == "last.example"


def test_a_host_that_a_text_says_again_is_given_once_in_each_form() -> None:
    """With another port it is another one."""
    assert len(list(hosts("0177.0.0.1 " * 50))) == 1
    named = [(host.name, host.port) for host in hosts("a.example a.example:80 a.example a.example:81")]
    assert named == [("a.example", None), ("a.example", 80), ("a.example", 81)]


METADATA = [
    "http://169.254.169.254/",
    "http://metadata.google.internal/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://100.100.100.200/",
]


@pytest.mark.parametrize("url", METADATA)
def test_metadata_services_are_known(url: str) -> None:
    """The clouds' metadata addresses and everything link-local are recognised."""
    assert any(is_metadata(host) for host in hosts(url))


@pytest.mark.parametrize("url", ["http://192.0.2.1/", "http://example.com/", "http://[2001:db8::1]/"])
def test_other_hosts_are_no_metadata_services(url: str) -> None:
    """Ordinary hosts are not."""
    assert not any(is_metadata(host) for host in hosts(url))


@given(st.text(max_size=200) | st.from_regex(r"(?:https?://)?[0-9a-fx.:%\[\]@]{1,60}", fullmatch=True))
def test_any_text_can_be_searched_for_hosts(text: str) -> None:
    """No text makes the search fail."""
    assert all(host.name or host.address for host in hosts(text))
