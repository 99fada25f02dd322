"""Which addresses of an identity provider are asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.openid.endpoint import (
    MAX_URL_CHARACTERS,
    discovery_url,
    is_endpoint,
    is_issuer,
    is_local,
)

FINE = [
    "https://id.example.com", "https://id.example.com/", "https://id.example.com:8443/realms/agents", "https://tenant.example.com/v2.0/",
    "https://[2001:db8::1]/x", "https://192.0.2.7/x", "http://127.0.0.1:9000", "https://localhost:9000/o/", "http://[::1]:9000", "http://127.9.9.9/x",
]  # fmt: skip
WRONG = [
    "", "id.example.com", "http://id.example.com", "http://192.0.2.7", "ftp://id.example.com", "https://", "https:///x", "https:id.example.com", "//id.example.com",
    "https://user@id.example.com", "https://user:pass@id.example.com/", "https://id.example.com/#x", "https://id.example.com\\@evil.example", "https://id.example.com/ x",
    "https://id.example.com/\n", "https://id.example.com\t", " https://id.example.com", "HTTPS://id.example.com", "https://id.example.com:0", "https://id.example.com:99999",
    "https://id.example.com.", "https://127.1/x", "https://0x7f000001/", "http://2130706433/", "https://\u0456d.example.com", "https://id.example.com/\u00e9",
    "http://localhost.evil.example", "http://127.0.0.1.evil.example/", "http://127.0.0.1@evil.example/", "https://id.example.com/{x}", 'https://id.example.com/"x',
    "javascript:alert(1)", "http://localhost:9000/o/", "https://id.example.com/" + "x" * MAX_URL_CHARACTERS,
]  # fmt: skip


@pytest.mark.parametrize("url", FINE)
def test_an_issuer_is_asked_over_tls_or_on_this_machine(url: str) -> None:
    """Host names, addresses, ports and paths are all fine."""
    assert is_issuer(url)
    assert is_endpoint(url, local=True)


@pytest.mark.parametrize("url", WRONG)
def test_everything_else_is_no_issuer(url: str) -> None:
    """Nor an endpoint, on this machine or elsewhere."""
    assert not is_issuer(url)
    assert not is_endpoint(url, local=True)
    assert not is_endpoint(url, local=False)


def test_an_endpoint_may_have_a_query_and_an_issuer_may_not() -> None:
    """Some issuers tell their policies apart by one."""
    url = "https://id.example.com/authorize?p=sign-in"
    assert is_endpoint(url, local=False)
    assert not is_issuer(url)
    assert not is_issuer("https://id.example.com?")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9000/t", "https://localhost/t", "https://[::1]/t", "http://127.9.9.9/"]
)
def test_an_issuer_elsewhere_has_no_endpoints_on_this_machine(url: str) -> None:
    """It could otherwise send the gate to services that trust whoever is here."""
    assert is_local(url)
    assert is_endpoint(url, local=True)
    assert not is_endpoint(url, local=False)


def test_what_is_elsewhere_is_not_local() -> None:
    """Also what is no address at all."""
    assert not is_local("https://id.example.com")
    assert not is_local("https://192.0.2.7")
    assert not is_local("nonsense")


@pytest.mark.parametrize("issuer", ["https://id.example.com/realms/x", "https://id.example.com/realms/x/"])
def test_the_description_stands_below_the_issuer(issuer: str) -> None:
    """With one slash between them."""
    assert discovery_url(issuer) == "https://id.example.com/realms/x/.well-known/openid-configuration"


@given(st.text(max_size=60), st.booleans())
def test_whatever_is_asked_has_no_fragment_no_user_and_no_odd_character(text: str, local: bool) -> None:
    """Any text at all."""
    for url in (text, f"https://{text}", f"https://id.example.com/{text}", f"http://{text}"):
        if is_endpoint(url, local=local):
            assert url.isascii()
            assert url.isprintable()
            assert not set("#@\\ ") & set(url.partition("://")[2].partition("/")[0])
            assert url.startswith("https://") or is_local(url)
