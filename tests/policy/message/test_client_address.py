"""Whose request it is: forwarded headers count from trusted peers only, right to left."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.message.canonical import Headers
from herma.policy.message.client_address import (
    MAX_HOPS,
    client_address,
    forwarded_proto,
    normal_address,
    within,
)

TRUSTED = tuple(ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "fd00::/8"))
PROXY = "10.0.0.1"


def xff(*values: str) -> Headers:
    return tuple((b"x-forwarded-for", value.encode("utf-8")) for value in values)


def forwarded(*values: str) -> Headers:
    return tuple((b"forwarded", value.encode("utf-8")) for value in values)


CASES: dict[str, tuple[str, Headers, str]] = {
    "untrusted peer is itself": ("198.51.100.9", xff("127.0.0.1"), "198.51.100.9"),
    "untrusted peer, contradictions are not even read": (
        "198.51.100.9", (*xff("1.1.1.1"), *forwarded("for=2.2.2.2")), "198.51.100.9",
    ),
    "loopback is not trusted by itself": ("127.0.0.1", xff("203.0.113.7"), "127.0.0.1"),
    "no header": (PROXY, (), PROXY),
    "empty header": (PROXY, xff(""), PROXY),
    "one hop": (PROXY, xff("203.0.113.7"), "203.0.113.7"),
    "CIDR of a trusted proxy": ("172.23.0.1", xff("203.0.113.7"), "203.0.113.7"),
    "spoofed left part": (PROXY, xff("9.9.9.9, 203.0.113.7"), "203.0.113.7"),
    "victim on the left": (PROXY, xff("192.0.2.1", "203.0.113.7"), "203.0.113.7"),
    "two trusted hops": (PROXY, xff("9.9.9.9, 203.0.113.7, 10.2.2.2"), "203.0.113.7"),
    "several headers are one list": (PROXY, xff("9.9.9.9", "203.0.113.7", "10.2.2.2"), "203.0.113.7"),
    "only trusted": (PROXY, xff("10.9.9.9, 10.2.2.2"), PROXY),
    "unparsable right most": (PROXY, xff("203.0.113.7, a"), PROXY),
    "unparsable behind a hop": (PROXY, xff("203.0.113.7, a, 10.2.2.2"), "10.2.2.2"),
    "empty element": (PROXY, xff("203.0.113.7,, 10.2.2.2"), "10.2.2.2"),
    "trailing comma": (PROXY, xff("203.0.113.7,"), PROXY),
    "not ASCII": (PROXY, xff("203.0.113.7, \u0661.1.1.1"), PROXY),
    "unknown": (PROXY, xff("unknown"), PROXY),
    "mapped": (PROXY, xff("::ffff:203.0.113.7"), "203.0.113.7"),
    "mapped trusted hop": (PROXY, xff("203.0.113.7, ::ffff:10.2.2.2"), "203.0.113.7"),
    "mapped peer": ("::ffff:10.0.0.1", xff("203.0.113.7"), "203.0.113.7"),
    "port": (PROXY, xff("203.0.113.7:4711"), "203.0.113.7"),
    "six": (PROXY, xff("2001:DB8::0:7"), "2001:db8::7"),
    "six in brackets": (PROXY, xff("[2001:db8::7]"), "2001:db8::7"),
    "six with port": (PROXY, xff("[2001:db8::7]:4711"), "2001:db8::7"),
    "zone": (PROXY, xff("fe80::1%eth0"), PROXY),
    "zone of the peer": ("fe80::1%2", (), "fe80::1"),
    "octal": (PROXY, xff("0203.0.113.7"), PROXY),
    "number": (PROXY, xff("3405803783"), PROXY),
    "list of 500": (PROXY, xff(", ".join(["203.0.113.7"] + ["10.2.2.2"] * 500)), PROXY),
    "as long as the bound": (PROXY, xff(", ".join(["203.0.113.7"] + ["10.2.2.2"] * (MAX_HOPS - 1))), "203.0.113.7"),
    "unix socket": ("", xff("203.0.113.7"), ""),
    "standard": (PROXY, forwarded("for=203.0.113.7"), "203.0.113.7"),
    "standard, all fields": (PROXY, forwarded('for=9.9.9.9, FOR="203.0.113.7:80";proto=https;by=10.0.0.1'), "203.0.113.7"),
    "standard six": (PROXY, forwarded('For="[2001:db8::7]:4711"'), "2001:db8::7"),
    "standard, bare six": (PROXY, forwarded("for=[2001:db8::7]"), "2001:db8::7"),
    "standard, escaped": (PROXY, forwarded('for="203.0.113\\.7"'), "203.0.113.7"),
    "standard, several": (PROXY, forwarded("for=9.9.9.9", "for=203.0.113.7"), "203.0.113.7"),
    "standard, obfuscated": (PROXY, forwarded("for=203.0.113.7, for=_hidden"), PROXY),
    "standard, without for": (PROXY, forwarded("for=203.0.113.7, proto=https"), PROXY),
    "standard, comma in quotes": (PROXY, forwarded('for=203.0.113.7;host="a,for=1.1.1.1"'), "203.0.113.7"),
    "both agree": (PROXY, (*xff("203.0.113.7, 10.2.2.2"), *forwarded('for=203.0.113.7, for="10.2.2.2:5"')), "203.0.113.7"),
    "both agree, empty XFF": (PROXY, (*xff(""), *forwarded("for=203.0.113.7")), "203.0.113.7"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_caller_address(name: str) -> None:
    """The right-most address that is no trusted proxy is the caller; what cannot be read ends the walk."""
    peer, headers, expected = CASES[name]
    assert client_address(peer, headers, TRUSTED) == expected


@pytest.mark.parametrize("length", range(4))
@pytest.mark.parametrize("hops", range(3))
def test_every_list_length_with_every_hop_count(length: int, hops: int) -> None:
    """With so many proxies of ours, the caller is the first address before them, never one further left."""
    claimed = [f"192.0.2.{index}" for index in range(length)]
    ours = [f"10.0.1.{index}" for index in range(hops)]
    headers = xff(", ".join(claimed + ours)) if claimed or ours else ()
    expected = claimed[-1] if claimed else PROXY
    assert client_address(PROXY, headers, TRUSTED) == expected


@pytest.mark.parametrize(
    "headers",
    [
        (*xff("203.0.113.7"), *forwarded("for=203.0.113.8")),
        (*xff("203.0.113.7"), *forwarded("for=9.9.9.9, for=203.0.113.7")),
        (*xff("a"), *forwarded("for=b")),
        forwarded("for"),
        forwarded("for="),
        forwarded("for=1.1.1.1 for=2.2.2.2"),
        forwarded("for=1.1.1.1;for=2.2.2.2"),
        forwarded('for="1.1.1.1'),
        forwarded("for=1.1.1.1,"),
        forwarded(";"),
        forwarded("for=\u00e9;;"),
    ],
)
def test_contradiction_from_a_trusted_peer_is_refused(headers: Headers) -> None:
    """Two headers that disagree, or one that is malformed, are 400: neither can be picked."""
    denied = client_address(PROXY, headers, TRUSTED)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (400, "herma.request.forwarded")


_HOPS = st.one_of(
    st.ip_addresses().map(str),
    st.sampled_from(["10.1.1.1", "fd00::1", "a", "", "unknown", "127.0.0.1", "[::1]:5", "::ffff:10.0.0.1"]),
)


@given(claims=st.lists(_HOPS, max_size=20), real=st.ip_addresses(v=4).map(str), ours=st.integers(0, 3))
def test_claims_of_the_caller_change_nothing(claims: list[str], real: str, ours: int) -> None:
    """Whatever a caller writes into X-Forwarded-For, the address is the one our first proxy saw."""
    if any(ipaddress.ip_address(real) in network for network in TRUSTED):
        return
    chain = [real, *(f"10.0.1.{index}" for index in range(ours))]
    assert client_address(PROXY, xff(", ".join(claims + chain)), TRUSTED) == real


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gives_an_address_or_a_refusal(one: str, two: str) -> None:
    """No text raises, and the answer is always in its normal spelling."""
    verdict = client_address(PROXY, (*xff(one), *forwarded(two)), TRUSTED)
    assert isinstance(verdict, Deny) or normal_address(verdict) == verdict


@pytest.mark.parametrize(
    ("peer", "said", "tls", "proto"),
    [
        (PROXY, [b"https"], False, "https"),
        (PROXY, [b"HTTP"], True, "http"),
        (PROXY, [b"https", b"https"], False, "http"),
        (PROXY, [b"https, http"], False, "http"),
        (PROXY, [b"gopher"], True, "https"),
        (PROXY, [], True, "https"),
        ("198.51.100.9", [b"https"], False, "http"),
        ("", [b"https"], False, "http"),
    ],
)
def test_scheme_is_taken_from_a_trusted_peer(peer: str, said: list[bytes], tls: bool, proto: str) -> None:
    """Only a trusted proxy says which scheme the caller used, and only plainly."""
    headers = tuple((b"x-forwarded-proto", value) for value in said)
    assert forwarded_proto(peer, headers, TRUSTED, tls=tls) == proto


def test_text_that_is_no_address_has_no_spelling() -> None:
    """A host name is no address."""
    assert normal_address("localhost") is None


def test_a_peer_is_in_a_network_by_its_address() -> None:
    """In whatever form the kernel writes it; a unix socket has none."""
    networks = (ipaddress.ip_network("192.0.2.0/24"), ipaddress.ip_network("2001:db8::/32"))
    for peer in ("192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1%eth0"):
        assert within(peer, networks)
    for peer in ("192.0.3.7", "2001:db9::1", "", "localhost"):
        assert not within(peer, networks)
    assert not within("192.0.2.7", ())
