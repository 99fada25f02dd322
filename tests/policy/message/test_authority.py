"""A host name has one spelling or is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.message.authority import Authority, parse_authority


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost", "localhost", None),
        ("LocalHost:8643", "localhost", 8643),
        ("agent.example.com", "agent.example.com", None),
        ("my_service:80", "my_service", 80),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
        ("127.0.0.1:65535", "127.0.0.1", 65535),
        ("[::1]:8643", "::1", 8643),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("[::FFFF:127.0.0.1]", "::ffff:7f00:1", None),
        ("a" * 63 + ".example", "a" * 63 + ".example", None),
    ],
)
def test_authority_is_read(text: str, host: str, port: int | None) -> None:
    """Names and addresses come out in lower case and compressed, IPv6 without brackets."""
    parsed = parse_authority(text)
    assert parsed is not None
    assert parsed.port == port
    # How the standard library spells a mapped address is its own affair.
    assert parsed.host in {host, "::ffff:127.0.0.1"}


@pytest.mark.parametrize(
    "text",
    [
        "", ":80", "host:", "host:0", "host:080", "host:65536", "host:99999", "host:+1", "host:1:2", "a/../b@c#d", "user@host",
        "host.", ".host", "a..b", "-host", "host-", "ho st", " host", "host ", "host%2e", "h\u00f6st", "host,host",
        "::1", "[::1", "::1]", "[::1]x", "[fe80::1%eth0]", "[::g]", "[127.0.0.1]", "127.1", "0x7f.0.0.1", "0x7f000001",
        "2130706433", "127.0.0.01", "256.1.1.1", "1.2.3.4.5", "a.1", "*", "a" * 64, "a." * 126 + "aa", "x" * 5000, "h\0st",
    ],
)  # fmt: skip
def test_authority_without_a_single_meaning_is_refused(text: str) -> None:
    """Whatever two parsers could take for different hosts is none."""
    assert parse_authority(text) is None


@given(st.text(max_size=30))
def test_parsed_authority_is_its_own_spelling(text: str) -> None:
    """Spelling a parsed authority out and parsing it again gives the same."""
    parsed = parse_authority(text)
    if parsed is not None:
        host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
        again = host if parsed.port is None else f"{host}:{parsed.port}"
        assert parse_authority(again) == Authority(parsed.host, parsed.port)
