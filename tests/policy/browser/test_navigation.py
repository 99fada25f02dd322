"""Who waits in front of a browser."""

import pytest

from herma.policy.browser.navigation import is_navigation, login_location
from support.heads import make_head

HTML = (b"Accept", b"text/html,application/xhtml+xml,*/*;q=0.8")
NAVIGATE = (b"Sec-Fetch-Mode", b"navigate")


@pytest.mark.parametrize(
    "headers",
    [
        [HTML, NAVIGATE],
        [HTML],
        [(b"Accept", b"application/xml, text/html;q=0.9"), NAVIGATE],
        [(b"Accept", b"TEXT/HTML ; q=1")],
    ],
)
def test_a_browser_asks_for_a_page(headers: list[tuple[bytes, bytes]]) -> None:
    """By what it says of itself, or by asking for HTML first."""
    assert is_navigation(make_head(*headers))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"Accept", b"*/*")],
        [(b"Accept", b"*/*"), NAVIGATE],
        [(b"Accept", b"application/json, text/html")],
        [HTML, (b"Sec-Fetch-Mode", b"cors")],
        [HTML, (b"Sec-Fetch-Mode", b"")],
        [(b"Accept", b"text/htmlx")],
    ],
)
def test_programs_and_scripts_do_not(headers: list[tuple[bytes, bytes]]) -> None:
    """They want an answer that they understand."""
    assert not is_navigation(make_head(*headers))


def test_only_what_reads_is_a_navigation() -> None:
    """A form that was sent without a session is not repeated after the login."""
    assert not is_navigation(make_head(HTML, NAVIGATE, method=b"POST"))
    assert is_navigation(make_head(HTML, NAVIGATE, method=b"HEAD"))


@pytest.mark.parametrize(
    ("target", "location"),
    [
        (b"/", "/.herma/login"),
        (b"/chat?x=1&y=2", "/.herma/login?next=%2Fchat%3Fx%3D1%26y%3D2"),
        (b"/caf%C3%A9", "/.herma/login?next=%2Fcaf%25C3%25A9"),
        (b"/.herma/session", "/.herma/login"),
    ],
)
def test_the_login_leads_back(target: bytes, location: str) -> None:
    """To what was asked for, unless that is where one lands anyway."""
    assert login_location(make_head(target=target)) == location
