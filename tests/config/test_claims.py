"""The texts about an identity provider and its people."""

from collections.abc import Callable

import pytest

from herma.config import claims

TAKEN: list[tuple[Callable[[str], str], str, str]] = [
    (claims.issuer, "https://id.example.com/realms/x/", "https://id.example.com/realms/x/"),
    (claims.issuer, "http://127.0.0.1:9000", "http://127.0.0.1:9000"),
    (claims.client_name, "1234-abc.apps.example.com", "1234-abc.apps.example.com"),
    (claims.scope_word, "email", "email"),
    (claims.scope_word, "api://x/.default", "api://x/.default"),
    (claims.subject, "auth0|5f7c8ec7c33c6c004bbafe82", "auth0|5f7c8ec7c33c6c004bbafe82"),
    (claims.domain, "Example.com", "example.com"),
    (claims.email, "Alice@Example.com", "Alice@example.com"),
]

REFUSED: list[tuple[Callable[[str], str], str, str]] = [
    (claims.issuer, "http://id.example.com", "as it calls itself"),
    (claims.issuer, "id.example.com", "as it calls itself"),
    (claims.issuer, "https://id.example.com/x?y", "as it calls itself"),
    (claims.issuer, "https://id.example.com/.well-known/openid-configuration", "leave out"),
    (claims.client_name, "", "client id"),
    (claims.client_name, "a b", "client id"),
    (claims.client_name, "a" * 256, "client id"),
    (claims.scope_word, "openid email", "as a list"),
    (claims.scope_word, 'a"b', "as a list"),
    (claims.subject, "", "visible ASCII"),
    (claims.subject, "a b", "visible ASCII"),
    (claims.domain, "@example.com", "no @"),
    (claims.domain, "*.example.com", "no wildcard"),
    (claims.domain, "localhost", "such as example.com"),
    (claims.domain, "b\u00fccher.example", "xn--"),
    (claims.email, "alice", "one address"),
    (claims.email, "a@evil.com@good.com", "one address"),
    (claims.email, "Alice <alice@example.com>", "one address"),
]


@pytest.mark.parametrize(("parse", "text", "value"), TAKEN)
def test_a_text_is_taken_as_it_will_be_compared(parse: Callable[[str], str], text: str, value: str) -> None:
    """Domains in lower case, everything else as it is."""
    assert parse(text) == value


@pytest.mark.parametrize(("parse", "text", "says"), REFUSED)
def test_another_text_is_refused_with_what_to_write(
    parse: Callable[[str], str], text: str, says: str
) -> None:
    """Without repeating it."""
    with pytest.raises(ValueError, match=says) as caught:
        parse(text)
    assert len(text) < 20 or text not in str(caught.value)
