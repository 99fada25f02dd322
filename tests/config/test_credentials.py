"""Texts about tokens, certificates and headers of proxies."""

from collections.abc import Callable

import pytest

from herma.config import credentials


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (credentials.audience, "https://agent.example.com", "https://agent.example.com"),
        (credentials.claim_name, "scope", "scope"),
        (credentials.claim_name, "https://example.com/roles", "https://example.com/roles"),
        (credentials.claim_name, "/realm_access/roles", "/realm_access/roles"),
        (credentials.key_set_url, "https://id.example.com/certs?x=1", "https://id.example.com/certs?x=1"),
        (credentials.key_set_url, "http://127.0.0.1:8080/certs", "http://127.0.0.1:8080/certs"),
        (credentials.san, "dns:Scheduler.Example.com", "dns:scheduler.example.com"),
        (credentials.san, "dns:worker_1", "dns:worker_1"),
        (credentials.san, "uri:spiffe://example.com/ns/Ops/sa/bot", "uri:spiffe://example.com/ns/Ops/sa/bot"),
        (credentials.san, "uri:urn:uuid:00000000-0000-4000-8000-000000000000", None),
        (credentials.san, "email:Ops@Example.com", "email:Ops@example.com"),
        (credentials.header_name, "X-Forwarded-User", "x-forwarded-user"),
        (credentials.header_name, "Remote-User", "remote-user"),
        (credentials.header_name, "Cf-Access-Authenticated-User-Email", None),
        (credentials.header_name, "X-Herma-Proxy-Secret", "x-herma-proxy-secret"),
        (credentials.user_name, "alice@example.com", "alice@example.com"),
    ],
)
def test_what_is_taken(read: Callable[[str], str], text: str, expected: str | None) -> None:
    """In the form in which it will be compared."""
    assert read(text) == (
        text.lower() if expected is None and read is credentials.header_name else expected or text
    )


@pytest.mark.parametrize(
    ("read", "texts"),
    [
        (credentials.audience, ["", "a b", "ä", "a\n", "x" * 256]),
        (credentials.claim_name, ["", "/", "/a/*", "ä", "a\n", "x" * 201]),
        (
            credentials.key_set_url,
            [
                "",
                "id.example.com",
                "http://id.example.com/certs",
                "http://localhost/certs",
                "file:///certs",
                "https://a@b/",
            ],
        ),
        (
            credentials.san,
            [
                "",
                "scheduler.example.com",
                "dns:",
                "dns:*.example.com",
                "dns:a b",
                "dns:example.com.",
                "DNS:example.com",
                "dns:" + "a." * 130 + "b",
                "ip:192.0.2.1",
                "cn:scheduler",
                "uri:spiffe",
                "uri:spiffe://example.com/*",
                "uri:a b:c",
                "email:ops",
                "email:a@b@example.com",
                "email:*@example.com",
            ],
        ),
        (
            credentials.header_name,
            [
                "",
                "X_Forwarded_User",
                "X-Forwarded-User:",
                "X Forwarded User",
                "X-Forwarded-For",
                "X-Forwarded-Proto",
                "X-Real-IP",
                "Forwarded",
                "Authorization",
                "Proxy-Authorization",
                "Cookie",
                "Host",
                "Origin",
                "X-Api-Key",
                "X-Auth-Token",
                "X-Hermes-Session-Id",
                "X-Request-Id",
                "User-Agent",
                "X-Usér",
                "X-User-" + "a" * 60,
            ],
        ),
        (credentials.user_name, ["", "a b", "a,b", "a;b", "ä", "x" * 256]),
    ],
)
def test_what_is_refused(read: Callable[[str], str], texts: list[str]) -> None:
    """What has two meanings, or would be believed by others; and what is said does not depend on the text."""
    said = set()
    for text in texts:
        with pytest.raises(ValueError, match="expected") as error:
            read(text)
        said.add(str(error.value))
    assert len(said) <= 2
