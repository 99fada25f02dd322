"""The gate answers to its own names only, and takes requests from its own pages and the configured ones only."""

import pytest

from herma.policy.message.host import HOST_UNKNOWN, HostPolicy, judge_origin, normal_origin, normal_origins
from support.heads import make_head

LOOPBACK = HostPolicy(frozenset(), loopback=True, port=8643)
NAMED = HostPolicy(frozenset({("agent.example", None), ("agent.example", 8443)}), loopback=False, port=8643)
TUNNEL = HostPolicy(frozenset({("agent.example", None)}), loopback=True, port=8643)
OPEN = HostPolicy(frozenset(), loopback=False, port=8643)
EXPLICIT = HostPolicy(frozenset({("app.example", 443)}), loopback=False, port=8643)
SOCKET = HostPolicy(frozenset(), loopback=True)


@pytest.mark.parametrize(
    ("policy", "host", "port", "allowed"),
    [
        (LOOPBACK, "localhost", 8643, True),
        (LOOPBACK, "127.0.0.1", 8643, True),
        (LOOPBACK, "::1", 8643, True),
        (LOOPBACK, "127.0.0.1", 8642, False),
        (LOOPBACK, "127.0.0.1", None, False),
        (LOOPBACK, "127.0.0.2", 8643, False),
        (LOOPBACK, "attacker.example", 8643, False),
        (LOOPBACK, "localhost.attacker.example", 8643, False),
        (NAMED, "agent.example", None, True),
        (NAMED, "agent.example", 443, True),
        (NAMED, "agent.example", 80, True),
        (NAMED, "agent.example", 8443, True),
        (NAMED, "agent.example", 8643, False),
        (NAMED, "other.example", None, False),
        (NAMED, "127.0.0.1", 8643, False),
        (NAMED, "localhost", 8643, False),
        (TUNNEL, "agent.example", None, True),
        (TUNNEL, "localhost", 8643, True),
        (TUNNEL, "evil.example", None, False),
        (OPEN, "192.0.2.7", 8643, True),
        (OPEN, "2001:db8::7", 8643, True),
        (OPEN, "localhost", 8643, True),
        (OPEN, "192.0.2.7", None, False),
        (OPEN, "attacker.example", 8643, False),
        (EXPLICIT, "app.example", 443, True),
        (EXPLICIT, "app.example", None, True),
        (EXPLICIT, "app.example", 80, False),
        (SOCKET, "localhost", None, True),
        (SOCKET, "localhost", 80, False),
        (HostPolicy(frozenset(), loopback=True, port=80), "localhost", None, True),
    ],
)
def test_host_is_answered_exactly(policy: HostPolicy, host: str, port: int | None, allowed: bool) -> None:
    """Names count with their port, default ports normalised; a name that could be rebound never counts unlisted."""
    assert policy.allows(host, port) is allowed


def test_wrong_host_is_misdirected() -> None:
    """A foreign Host is 421 and says where to list names."""
    assert (HOST_UNKNOWN.status, HOST_UNKNOWN.code) == (421, "herma.request.host_unknown")
    assert "listen.public_names" in HOST_UNKNOWN.message


ORIGINS = ("https://ui.example", "moz-extension://0a1b", "http://[2001:DB8::1]:3000")


@pytest.mark.parametrize(
    ("policy", "origin", "allowed"),
    [
        (LOOPBACK, b"http://127.0.0.1:8643", True),
        (LOOPBACK, b"http://localhost:8643", True),
        (LOOPBACK, b"http://[::1]:8643", True),
        (LOOPBACK, b"http://localhost:3000", False),
        (LOOPBACK, b"http://localhost", False),
        (LOOPBACK, b"http://evil", False),
        (LOOPBACK, b"null", False),
        (LOOPBACK, b"", False),
        (LOOPBACK, b"file://", False),
        (LOOPBACK, b"https://ui.example", True),
        (LOOPBACK, b"HTTPS://UI.example:443", True),
        (LOOPBACK, b"http://ui.example", False),
        (LOOPBACK, b"https://ui.example:8443", False),
        (LOOPBACK, b"https://ui.example.evil", False),
        (LOOPBACK, b"https://ui.example/", False),
        (LOOPBACK, b"https://a@ui.example", False),
        (LOOPBACK, b"moz-extension://0a1b", True),
        (LOOPBACK, b"moz-extension://ffff", False),
        (LOOPBACK, b"http://[2001:db8:0::1]:3000", True),
        (LOOPBACK, b"https://ui.example, https://evil.example", False),
        (NAMED, b"https://agent.example", True),
        (NAMED, b"https://agent.example:443", True),
        (NAMED, b"https://agent.example:8443", True),
        (NAMED, b"https://agent.example:8000", False),
        (NAMED, b"ws://agent.example", False),
        (NAMED, b"http://127.0.0.1:8643", False),
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_origin_has_to_be_ours_or_configured(
    policy: HostPolicy, origin: bytes, allowed: bool, method: bytes
) -> None:
    """Scheme, host and port all count, for reading and for writing; `null` never passes."""
    denied = judge_origin(make_head((b"Origin", origin), method=method), policy, ORIGINS)
    assert (denied is None) is allowed
    if denied is not None:
        assert (denied.status, denied.code) == (403, "herma.request.origin")


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        (b"203.0.113.9:8643", b"https://203.0.113.9:8643", True),
        (b"[2001:db8::1]:8643", b"https://[2001:DB8::1]:8643", True),
        (b"203.0.113.9:8643", b"https://198.51.100.1:8643", False),
        (b"203.0.113.9:8643", b"https://203.0.113.9:8000", False),
        (b"203.0.113.9:8643", b"https://203.0.113.9", False),
        (b"evil.example:8643", b"https://evil.example:8643", False),
        (b"203.0.113.9:8000", b"https://203.0.113.9:8000", False),
    ],
)
def test_without_names_the_address_that_was_asked_is_ours(host: bytes, origin: bytes, allowed: bool) -> None:
    """The page of another address is foreign, though the gate would answer to that address, too; a name can be rebound."""
    head = make_head((b"Origin", origin), method=b"POST", host=host)
    assert (judge_origin(head, OPEN, ()) is None) is allowed


def test_with_names_an_address_is_no_origin() -> None:
    """Whoever lists names means those."""
    head = make_head((b"Origin", b"https://203.0.113.9:8643"), method=b"POST", host=b"203.0.113.9:8643")
    assert judge_origin(head, NAMED, ()) is not None


def test_forwarded_host_has_no_say() -> None:
    """A header that claims another host does not make its origin ours."""
    head = make_head(
        (b"Origin", b"https://attacker.example"),
        (b"X-Original-Host", b"attacker.example"),
        (b"X-Forwarded-Host", b"attacker.example"),
    )
    assert judge_origin(head, NAMED, ()) is not None


@pytest.mark.parametrize(
    ("method", "site", "allowed"),
    [
        (b"POST", None, True),
        (b"POST", b"same-origin", True),
        (b"POST", b"none", True),
        (b"POST", b"cross-site", False),
        (b"DELETE", b"same-site", False),
        (b"GET", b"cross-site", True),
    ],
)
def test_fetch_metadata_without_origin(method: bytes, site: bytes | None, allowed: bool) -> None:
    """Without an Origin, a browser that says the request is foreign is believed for methods that change something."""
    headers = [] if site is None else [(b"Sec-Fetch-Site", site)]
    head = make_head((b"Sec-Fetch-Mode", b"cors"), *headers, method=method)
    assert (judge_origin(head, LOOPBACK, ()) is None) is allowed


def test_configured_origin_may_be_cross_site() -> None:
    """The site says cross-site for every configured foreign page, which is the point of configuring it."""
    head = make_head((b"Origin", b"https://ui.example"), (b"Sec-Fetch-Site", b"cross-site"), method=b"POST")
    assert judge_origin(head, LOOPBACK, ORIGINS) is None


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://UI.example", "https://ui.example"),
        ("http://ui.example:80", "http://ui.example"),
        ("http://ui.example:443", "http://ui.example:443"),
        ("http://[::0001]", "http://[::1]"),
        ("tauri://localhost", "tauri://localhost"),
        ("null", None),
        ("*", None),
        ("://x", None),
        ("https://", None),
        ("https://a b", None),
        ("https://ui.example/path", None),
        ("https://h\u00f6st", None),
        ("https://127.1", None),
    ],
)
def test_origin_has_one_spelling(text: str, normal: str | None) -> None:
    """Case and default ports do not count; what is no origin has no spelling."""
    assert normal_origin(text) == normal


def test_configured_nonsense_allows_nothing() -> None:
    """`*` and `null` in the configuration do not open the gate."""
    assert normal_origins(("*", "null", "https://ui.example")) == {"https://ui.example"}
