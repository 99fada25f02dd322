"""The login page as HTML."""

import base64
import hashlib
import re

from herma.ingress.login_page import HEADERS, login_page, notice_page

EVIL = "\"><script>alert(1)</script>'&"


def test_nothing_of_a_request_becomes_markup() -> None:
    """Where to go, what went wrong, who is logged in: text."""
    page = login_page(EVIL, problem=EVIL, name=EVIL).decode() + notice_page(EVIL, EVIL).decode()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 5


def test_the_policy_allows_the_one_style_and_nothing_else() -> None:
    """The hash is that of the style in the page; forms go to this host; nobody frames it."""
    policy = dict(HEADERS)[b"content-security-policy"].decode()
    styles = re.findall(r"<style>(.*?)</style>", login_page("/").decode(), re.DOTALL)
    (style,) = styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'", f"style-src 'sha256-{digest}'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"
    ]  # fmt: skip
    assert dict(HEADERS)[b"referrer-policy"] == b"same-origin"
    assert dict(HEADERS)[b"cache-control"] == b"no-store"


def test_it_works_for_everybody() -> None:
    """A language, a width for phones, labels for fields, names that password managers know, no script and nothing to load."""
    page = login_page("/chat", problem="Name or password is wrong.").decode()
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
    page = login_page("/", name="alice").decode()
    assert "You are signed in as alice." in page
    assert page.count("<form") == 2
    assert "Sign out" not in login_page("/").decode()
