"""One spelling for each text."""

from datetime import UTC, datetime
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.config.scalar import SCALARS, parse_address, parse_public_name, parse_upstream
from herma.config.values import (
    Address,
    FileMode,
    FilePath,
    Name,
    Network,
    Origin,
    PublicName,
    Tcp,
    Unix,
    UpstreamUrl,
)

TAKEN = {
    "address": (Address, "127.0.0.1:8643", Tcp("127.0.0.1", 8643)),
    "highest port": (Address, "127.0.0.1:65535", Tcp("127.0.0.1", 65535)),
    "IPv6": (Address, "[2001:DB8::1]:80", Tcp("2001:db8::1", 80)),
    "unix": (Address, "unix:/run/herma.sock", Unix("/run/herma.sock")),
    "name": (Address, "Agent.Example.com:80", Tcp("agent.example.com", 80)),
    "url": (UpstreamUrl, "http://127.0.0.1:8642", UpstreamUrl(Tcp("127.0.0.1", 8642))),
    "url with a slash": (UpstreamUrl, "http://127.0.0.1:8642/", UpstreamUrl(Tcp("127.0.0.1", 8642))),
    "url without a port": (UpstreamUrl, "http://agent", UpstreamUrl(Tcp("agent", 80))),
    "https without a port": (UpstreamUrl, "https://agent", UpstreamUrl(Tcp("agent", 443), tls=True)),
    "https IPv6": (UpstreamUrl, "https://[::1]", UpstreamUrl(Tcp("::1", 443), tls=True)),
    "unix url": (UpstreamUrl, "unix:/run/agent.sock", UpstreamUrl(Unix("/run/agent.sock"))),
    "public name": (PublicName, "Agent.Example.com", PublicName("agent.example.com")),
    "public name with port": (PublicName, "agent.example.com:8443", PublicName("agent.example.com", 8443)),
    "public IPv6": (PublicName, "[2001:db8::1]", PublicName("2001:db8::1")),
    "public IPv6 with port": (PublicName, "[2001:db8::1]:80", PublicName("2001:db8::1", 80)),
    "network": (Network, "10.0.0.0/8", ip_network("10.0.0.0/8")),
    "one address": (Network, "10.0.0.1", ip_network("10.0.0.1/32")),
    "mode": (FileMode, "0660", 0o660),
    "short mode": (FileMode, "660", 0o660),
    "path": (FilePath, "a/b c", "a/b c"),
    "a name": (Name, "laptop-2.home", "laptop-2.home"),
    "origin": (Origin, "https://App.example.com:8443", "https://app.example.com:8443"),
    "time": (datetime, "2027-01-01T00:00:00Z", datetime(2027, 1, 1, tzinfo=UTC)),
    "time with offset": (
        datetime,
        "2027-01-01T02:00:00.5+02:00",
        datetime(2027, 1, 1, 0, 0, 0, 500000, tzinfo=UTC),
    ),
    "text": (str, "team-a", "team-a"),
    "no text": (str, "", ""),
}

REFUSED = {
    "port 0": (Address, "127.0.0.1:0"),
    "port too high": (Address, "127.0.0.1:65536"),
    "port with a zero": (Address, "127.0.0.1:080"),
    "port with a sign": (Address, "127.0.0.1:+80"),
    "port in other digits": (Address, "127.0.0.1:\u0668\u0660"),
    "no port": (Address, "127.0.0.1:"),
    "bracket left open": (Address, "[::1:80"),
    "bad IPv6": (Address, "[:::1]:80"),
    "bad name": (Address, "a b:80"),
    "label with a dash first": (Address, "-a:80"),
    "empty label": (Address, "a..b:80"),
    "label too long": (Address, "a" * 64 + ":80"),
    "name too long": (Address, "a." * 127 + "aa:80"),
    "relative socket": (Address, "unix:herma.sock"),
    "abstract socket": (Address, "unix:@herma"),
    "socket with a NUL": (Address, "unix:/a\0b"),
    "directory as socket": (Address, "unix:/run/"),
    "socket path too long": (Address, "unix:/" + "a" * 107),
    "url without scheme": (UpstreamUrl, "127.0.0.1:8642"),
    "other scheme": (UpstreamUrl, "ftp://a:80"),
    "url with a path": (UpstreamUrl, "http://a:80/v1"),
    "url with a query": (UpstreamUrl, "http://a:80?x"),
    "url with a user": (UpstreamUrl, "http://a:b@c:80"),
    "url with an odd address": (UpstreamUrl, "http://127.1:80"),
    "wildcard name": (PublicName, "*.example.com"),
    "name with a path": (PublicName, "example.com:80/x"),
    "name as a url": (PublicName, "https://example.com"),
    "text behind brackets": (PublicName, "[::1]x"),
    "host bits": (Network, "10.0.0.1/8"),
    "no network": (Network, "10.0.0.0/33"),
    "mode of four": (FileMode, "1600"),
    "mode in words": (FileMode, "rw-------"),
    "mode with an eight": (FileMode, "0680"),
    "no path": (FilePath, ""),
    "path with escape": (FilePath, "a\x1bb"),
    "name with blank": (Name, "a b"),
    "name too long to log": (Name, "a" * 65),
    "any origin": (Origin, "*"),
    "null origin": (Origin, "null"),
    "origin with path": (Origin, "https://a/x"),
    "origin of a file": (Origin, "file:///a"),
    "date": (datetime, "2027-01-01"),
    "time without zone": (datetime, "2027-01-01T00:00:00"),
    "no such time": (datetime, "2027-02-30T00:00:00Z"),
    "group with blank": (str, "a b"),
}


@pytest.mark.parametrize(("kind", "text", "value"), TAKEN.values(), ids=TAKEN)
def test_text_is_taken(kind, text: str, value: object) -> None:
    """The one spelling becomes the value."""
    assert SCALARS[kind].parse(text) == value


@pytest.mark.parametrize(("kind", "text"), REFUSED.values(), ids=REFUSED)
def test_other_spelling_is_refused_without_repeating_it(kind, text: str) -> None:
    """The message tells what to write; the text may be a secret in the wrong place."""
    with pytest.raises(ValueError) as caught:
        SCALARS[kind].parse(text)
    assert "expected" in str(caught.value) or "write" in str(caught.value) or "found" in str(caught.value)
    # Except where the text is a part of the example that the message gives.
    assert len(text) < 4 or text == "null" or text.startswith("2027-01-01") or text not in str(caught.value)


@given(st.text(max_size=40) | st.text("0123456789.:[]abcdefx%/", max_size=24))
def test_any_text_is_taken_or_refused(text: str) -> None:
    """No parser raises anything but ValueError, and what it takes it writes in a form it takes again."""
    for parse in (parse_address, parse_public_name, parse_upstream):
        try:
            value = parse(text)
        except ValueError:
            continue
        assert parse(str(value)) == value
