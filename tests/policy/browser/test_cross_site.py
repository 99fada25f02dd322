"""What another site made a browser send."""

import itertools

import pytest

from herma.policy.browser.cross_site import Approach, cross_site, led_here
from herma.policy.decision import Deny
from herma.policy.message.host import HostPolicy
from support.heads import make_head

HOSTS = HostPolicy(
    names=frozenset({("gate.example.com", None), ("gate.example.com", 8643)}), loopback=False, port=8643
)
LOOPBACK = HostPolicy(names=frozenset(), loopback=True, port=8643)
UNSAFE = [b"POST", b"PUT", b"PATCH", b"DELETE"]


def refused(
    *headers: tuple[bytes, bytes],
    method: bytes = b"POST",
    proto: str = "https",
    upgrade: bool = False,
    hosts: HostPolicy = HOSTS,
) -> bool:
    denied = cross_site(
        make_head(*headers, method=method, host=b"gate.example.com"), Approach(hosts, proto, upgrade)
    )
    assert denied is None or (denied.status, denied.code) == (403, "herma.auth.cross_site")
    return isinstance(denied, Deny)


def origin(text: str) -> tuple[bytes, bytes]:
    return (b"Origin", text.encode())


@pytest.mark.parametrize("method", UNSAFE)
def test_what_changes_something_has_to_come_from_a_page_of_ours(method: bytes) -> None:
    """`Origin` shows it, or where there is none `Sec-Fetch-Site`."""
    assert not refused(origin("https://gate.example.com"), method=method)
    assert not refused(origin("https://gate.example.com:8643"), method=method)
    assert not refused((b"Sec-Fetch-Site", b"same-origin"), method=method)
    assert refused(method=method)


@pytest.mark.parametrize(
    "text",
    [
        "null", "https://evil.example", "https://sub.gate.example.com", "https://example.com", "https://gate.example.com.evil.example",
        "https://gate.example.com:9999", "http://gate.example.com", "https://gate.example.com/", "https://gate.example.com@evil.example", "",
        "gate.example.com", "file://", "https://evil.example https://gate.example.com",
    ],
)  # fmt: skip
@pytest.mark.parametrize("site", [None, b"same-origin", b"none"])
def test_a_foreign_origin_is_refused_whatever_else_is_said(text: str, site: bytes | None) -> None:
    """Sub-domains, other ports, plain HTTP and `null` are foreign; fetch metadata beside it change nothing."""
    extra = [(b"Sec-Fetch-Site", site)] if site else []
    assert refused(origin(text), *extra)
    assert refused(origin(text), *extra, method=b"GET")


@pytest.mark.parametrize(
    "site", [b"cross-site", b"same-site", b"none", b"", b"SAME-ORIGIN", b"same-origin, cross-site"]
)
def test_without_an_origin_only_same_origin_will_do(site: bytes) -> None:
    """Anything else is no proof."""
    assert refused((b"Sec-Fetch-Site", site))


def test_over_plain_http_our_own_plain_origin_is_ours() -> None:
    """On loopback there is nobody on the network."""
    assert not refused(origin("http://127.0.0.1:8643"), proto="http", hosts=LOOPBACK)
    assert not refused(origin("http://localhost:8643"), proto="http", hosts=LOOPBACK)
    assert not refused(origin("https://gate.example.com"), proto="http")
    assert refused(origin("http://127.0.0.1:9119"), proto="http", hosts=LOOPBACK)


def test_an_upgrade_is_judged_like_a_change() -> None:
    """A WebSocket from elsewhere would carry the cookie and no preflight would ask."""
    assert refused(method=b"GET", upgrade=True)
    assert refused(origin("https://evil.example"), method=b"GET", upgrade=True)
    assert not refused(origin("https://gate.example.com"), method=b"GET", upgrade=True)


@pytest.mark.parametrize(
    ("site", "mode"),
    [*itertools.product([b"cross-site", b"same-site"], [None, b"cors", b"no-cors", b"websocket"])],
)
def test_what_reads_for_another_site_is_refused(site: bytes, mode: bytes | None) -> None:
    """An image, a script, a fetch: the cookie is sent, and time or size would tell something."""
    extra = [(b"Sec-Fetch-Mode", mode)] if mode else []
    assert refused((b"Sec-Fetch-Site", site), *extra, method=b"GET")


@pytest.mark.parametrize("site", [None, b"none", b"same-origin", b"cross-site", b"same-site"])
def test_a_person_may_follow_a_link(site: bytes | None) -> None:
    """From anywhere, and by typing it; older browsers say nothing."""
    extra = [(b"Sec-Fetch-Site", site), (b"Sec-Fetch-Mode", b"navigate")] if site else []
    assert not refused(*extra, method=b"GET")


@pytest.mark.parametrize(
    ("site", "denied"),
    [(None, False), (b"none", False), (b"same-origin", False), (b"cross-site", True), (b"same-site", True)],
)
def test_no_link_of_another_site_leads_to_what_does_something(site: bytes | None, denied: bool) -> None:
    """A page may make the browser follow one: a GET that acts is no more for it than a form."""
    extra = [(b"Sec-Fetch-Site", site), (b"Sec-Fetch-Mode", b"navigate")] if site else []
    head = make_head(*extra, method=b"GET", host=b"gate.example.com")
    assert (cross_site(head, Approach(HOSTS, "https", upgrade=False, shows=False)) is not None) is denied


@pytest.mark.parametrize(("address", "foreign"), [("203.0.113.9", False), ("198.51.100.1", True)])
def test_without_names_the_page_of_the_same_address_is_ours(address: str, foreign: bool) -> None:
    """A person may log in at an address, and no page of another address can act for them."""
    head = make_head(origin(f"https://{address}:8643"), method=b"POST", host=b"203.0.113.9:8643")
    approach = Approach(HostPolicy(frozenset(), loopback=False, port=8643), "https", False)
    assert (cross_site(head, approach) is not None) is foreign


@pytest.mark.parametrize(
    ("headers", "denied"),
    [
        ([], False),
        ([origin("https://gate.example.com")], False),
        ([(b"Sec-Fetch-Site", b"same-origin")], False),
        ([origin("https://evil.example")], True),
        ([origin("null")], True),
        ([(b"Sec-Fetch-Site", b"cross-site")], True),
        ([(b"Sec-Fetch-Site", b"same-site")], True),
        ([(b"Sec-Fetch-Site", b"none")], True),
        ([(b"Sec-Fetch-Mode", b"cors")], True),
    ],
)
def test_a_program_says_nothing_of_pages(headers: list[tuple[bytes, bytes]], denied: bool) -> None:
    """Where programs may come as well, what a browser says counts, and what says nothing is no browser's."""
    head = make_head(*headers, method=b"POST", host=b"gate.example.com")
    for upgrade in (False, True):
        found = cross_site(head, Approach(HOSTS, "https", upgrade), programs=True)
        assert (found is not None) is denied


@pytest.mark.parametrize(
    ("headers", "shows", "denied"),
    [
        ([], True, False),
        ([(b"Sec-Fetch-Site", b"none")], False, False),
        ([(b"Sec-Fetch-Site", b"same-origin")], False, False),
        ([(b"Sec-Fetch-Site", b"cross-site")], True, True),
        ([(b"Sec-Fetch-Site", b"same-site"), (b"Sec-Fetch-Mode", b"no-cors")], True, True),
        ([(b"Sec-Fetch-Site", b"cross-site"), (b"Sec-Fetch-Mode", b"navigate")], True, False),
        ([(b"Sec-Fetch-Site", b"cross-site"), (b"Sec-Fetch-Mode", b"navigate")], False, True),
        # An operator may have listed it; whether, was asked before.
        ([(b"Sec-Fetch-Site", b"cross-site"), origin("https://app.example.com")], True, False),
    ],
)
def test_what_a_page_makes_a_browser_ask_of_an_open_gate_is_refused(
    headers: list[tuple[bytes, bytes]], shows: bool, denied: bool
) -> None:
    """Programs say nothing of it, and a person may follow a link to what shows something."""
    head = make_head(*headers, method=b"GET", host=b"gate.example.com")
    assert (led_here(head, Approach(HOSTS, "http", upgrade=False, shows=shows)) is not None) is denied
