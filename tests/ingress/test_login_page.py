"""The login page as HTML."""

import base64
import hashlib
import re

from herma.ingress.login_page import HEADERS, Ways, login_page, notice_page, signed_out_page

EVIL = "\"><script>alert(1)</script>'&"
PASSWORDS = Ways()
BOTH = Ways(provider="Example & Sons")


def test_nothing_of_a_request_becomes_markup() -> None:
    """Where to go, what went wrong, who is logged in: text."""
    page = login_page(EVIL, PASSWORDS, problem=EVIL, name=EVIL).decode() + notice_page(EVIL, EVIL).decode()
    page += (
        login_page(EVIL, Ways(passwords=False, provider=EVIL)).decode() + signed_out_page(EVIL, EVIL).decode()
    )
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 10


def test_the_policy_allows_the_one_style_and_nothing_else() -> None:
    """The hash is that of the style in the page; forms go to this host; nobody frames it."""
    policy = dict(HEADERS)[b"content-security-policy"].decode()
    styles = re.findall(r"<style>(.*?)</style>", login_page("/", BOTH).decode(), re.DOTALL)
    (style,) = styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'", f"style-src 'sha256-{digest}'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"
    ]  # fmt: skip
    assert dict(HEADERS)[b"referrer-policy"] == b"same-origin"
    assert dict(HEADERS)[b"cache-control"] == b"no-store"


def test_it_works_for_everybody() -> None:
    """A language, a width for phones, labels for fields, names that password managers know, no script and nothing to load."""
    page = login_page("/chat", BOTH, problem="Name or password is wrong.").decode()
    assert '<html lang="en">' in page
    assert 'name="viewport" content="width=device-width, initial-scale=1"' in page
    assert "prefers-color-scheme:dark" in page
    for field, known in (("name", "username"), ("password", "current-password")):
        assert f'<label for="{field}">' in page
        assert re.search(
            rf'<input id="{field}"[^>]*autocomplete="{known}"[^>]*aria-describedby="problem"', page
        )
    assert 'role="alert">Name or password is wrong.' in page
    assert 'name="next" value="/chat"' in page
    assert not re.search(r"<script|<img|<link|style=|\son\w+=|http", page)


def test_who_is_logged_in_can_log_out() -> None:
    """And log in as somebody else."""
    page = login_page("/", PASSWORDS, name="alice").decode()
    assert "You are signed in as alice." in page
    assert page.count("<form") == 2
    assert "Sign out" not in login_page("/", PASSWORDS).decode()


def test_each_way_in_has_its_entry() -> None:
    """A link to the provider, which keeps where the login leads; the form only where people have passwords."""
    both, only, none = (
        login_page("/chat?x=1", ways).decode()
        for ways in (BOTH, Ways(passwords=False, provider="Example & Sons"), PASSWORDS)
    )
    link = (
        '<a class="button" href="/.herma/login/begin?next=%2Fchat%3Fx%3D1">Log in with Example &amp; Sons</a>'
    )
    assert (link in both, link in only, "Log in with" in none) == (True, True, False)
    assert ("<form" in both, "<form" in only, "<form" in none) == (True, False, True)
    assert 'href="/.herma/login/begin">' in login_page("/", BOTH).decode()


def test_a_logout_goes_on_to_the_provider() -> None:
    """By itself, and by a link for browsers that do not."""
    page = signed_out_page("Example", "https://id.example.com/bye?a=b&c=d").decode()
    assert '<meta http-equiv="refresh" content="0; url=https://id.example.com/bye?a=b&amp;c=d">' in page
    assert '<a class="button" href="https://id.example.com/bye?a=b&amp;c=d">Sign out at Example</a>' in page
    assert page.count("http-equiv") == 1
    assert "http-equiv" not in login_page("/", BOTH).decode()
