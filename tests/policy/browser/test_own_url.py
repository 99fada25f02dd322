"""The addresses of the gate's own pages."""

from dataclasses import replace

import pytest

from herma.policy.browser.own_url import own_url
from herma.policy.browser.page import Page
from support.heads import make_head


@pytest.mark.parametrize(
    ("host", "port", "proto", "url"),
    [
        ("agent.example.com", None, "https", "https://agent.example.com"),
        ("agent.example.com", 443, "https", "https://agent.example.com"),
        ("agent.example.com", 8443, "https", "https://agent.example.com:8443"),
        ("agent.example.com", 80, "https", "https://agent.example.com:80"),
        ("127.0.0.1", 8643, "http", "http://127.0.0.1:8643"),
        ("127.0.0.1", 80, "http", "http://127.0.0.1"),
        ("::1", 8643, "http", "http://[::1]:8643"),
    ],
)
def test_a_page_has_one_address(host: str, port: int | None, proto: str, url: str) -> None:
    """The default port of the scheme is left out; issuers compare addresses character by character."""
    head = replace(make_head(), host=host, port=port)
    assert own_url(head, proto, Page.CALLBACK) == f"{url}/.herma/login/callback"
