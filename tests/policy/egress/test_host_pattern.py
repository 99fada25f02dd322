"""Patterns of hosts."""

import pytest

from herma.policy.egress.host_pattern import HostPattern, covered


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        pytest.param("api.example.com", HostPattern("api.example.com"), id="name"),
        pytest.param("API.Example.com.", HostPattern("api.example.com"), id="case and dot"),
        pytest.param("*.example.com:8443", HostPattern("example.com", below=True, port=8443), id="below"),
        pytest.param("192.0.2.7:443", HostPattern("192.0.2.7", port=443), id="address"),
        pytest.param("[2001:db8::1]:443", HostPattern("2001:db8::1", port=443), id="IPv6 with port"),
        pytest.param("2001:db8::1", HostPattern("2001:db8::1"), id="IPv6"),
        pytest.param("b\u00fccher.example", HostPattern("xn--bcher-kva.example"), id="IDN"),
    ],
)
def test_a_host_is_read(text: str, pattern: HostPattern) -> None:
    """Whatever the spelling, it is one host."""
    assert HostPattern.parse(text) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.com",
        "*.192.0.2.7",
        "a b",
        "[::1",
        "[example.com]",
        "[::1]x443",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example:000001999999",
        "a.example:1x",
        "a.example:\u0661",
    ],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="expected"):
        HostPattern.parse(text)


def test_names_are_compared_by_label_and_port() -> None:
    """A name that only ends alike is another host, and so is the name itself for what is below it."""
    patterns = [HostPattern.parse("*.example.com:443"), HostPattern.parse("one.test")]
    assert covered(patterns, "a.example.com", 443)
    assert covered(patterns, "one.test", 80)
    for name, port in (
        ("a.example.com", 80),
        ("example.com", 443),
        ("evil-example.com", 443),
        ("a.one.test", 1),
    ):
        assert not covered(patterns, name, port), name
