"""The header tables agree with each other."""

import pytest

from herma.policy.message.headers import (
    CREDENTIAL_HEADERS,
    HOP_BY_HOP,
    is_protected,
    is_singleton,
    is_stripped,
    names_somebody,
)

STRIPPED = [
    b"x-forwarded-for", b"x-forwarded-user", b"x-forwarded-uri", b"x-forwarded-prefix", b"x-forwarded-method", b"forwarded",
    b"x-real-ip", b"true-client-ip", b"cf-connecting-ip", b"x-original-url", b"x-rewrite-url", b"x-envoy-original-path",
    b"x-http-method-override", b"x-http-method", b"x-method-override", b"x-remote-user", b"remote-user", b"x-user",
    b"x-user-role", b"x-userid", b"x-auth-request-user", b"proxy-authorization", b"x-api-key", b"origin",
    b"cf-access-jwt-assertion", b"tailscale-user-login",
]  # fmt: skip
PASSED = [
    b"accept", b"content-type", b"idempotency-key", b"last-event-id", b"user-agent", b"x-hermes-session-id",
    b"x-hermes-session-key", b"x-request-id", b"x-stainless-lang", b"openai-beta", b"traceparent", b"referer",
]  # fmt: skip


@pytest.mark.parametrize("name", STRIPPED)
def test_identity_and_rewrite_headers_are_stripped_and_protected(name: bytes) -> None:
    """What is stripped can neither be forwarded nor be named in Connection, but for the harmless proxy headers."""
    assert is_stripped(name)
    assert is_protected(name) is not name.startswith(b"proxy-")


@pytest.mark.parametrize("name", PASSED)
def test_headers_that_clients_need_are_not_stripped(name: bytes) -> None:
    """What SDKs and the upstream use passes."""
    assert not is_stripped(name)


def test_one_of_each_judged_header() -> None:
    """A header that the gate judges by stands once, and may not be deleted by way of Connection."""
    for name in (
        b"host",
        b"authorization",
        b"content-length",
        b"origin",
        b"idempotency-key",
        b"x-hermes-anything",
    ):
        assert is_singleton(name)
        assert is_protected(name)
    assert not is_singleton(b"x-forwarded-for")
    assert not is_singleton(b"accept")


def test_hop_by_hop_headers_may_be_named() -> None:
    """Naming a hop-by-hop header in Connection is what Connection is for, except for the framing."""
    assert {name for name in HOP_BY_HOP if is_protected(name)} == {b"transfer-encoding"}
    assert not is_protected(b"proxy-authorization")
    assert not is_protected(b"x-custom")


def test_tables_are_lower_case() -> None:
    """Names are compared in lower case, so the tables must be."""
    assert all(name == name.lower() for name in CREDENTIAL_HEADERS | HOP_BY_HOP)


@pytest.mark.parametrize(
    "name",
    [
        b"x-webauth-role",
        b"x-token-subject",
        b"x-proxy-user-email",
        b"x-acme-tenant",
        b"x-my-sso-uid",
        b"x-accel-redirect",
    ],
)
def test_an_identity_in_any_spelling_is_stripped(name: bytes) -> None:
    """Every proxy has its own name for who is asking; the words in it tell."""
    assert is_stripped(name)


@pytest.mark.parametrize(
    "name", [b"x-hermes-session-token", b"x-stainless-auth", b"x-request-id", b"x-roleplay", b"user-agent"]
)
def test_other_names_with_such_letters_pass(name: bytes) -> None:
    """Only whole words count, and the upstream's own names are not about identity at the gate."""
    assert not is_stripped(name)


@pytest.mark.parametrize(
    "name",
    [
        b"x-forwarded-user",
        b"remote-user",
        b"x-auth-request-email",
        b"x-authentik-groups",
        b"x-herma-proxy-secret",
    ],
)
def test_a_proxy_may_say_who_is_asking(name: bytes) -> None:
    """In a header that the upstream never sees."""
    assert names_somebody(name)
    assert is_stripped(name)


@pytest.mark.parametrize(
    "name",
    [
        *PASSED,
        b"x-forwarded-for",
        b"x-forwarded-proto",
        b"authorization",
        b"proxy-authorization",
        b"x-auth-token",
        b"x-hermes-user",
        b"user",
    ],
)
def test_other_headers_say_nothing_of_that_kind(name: bytes) -> None:
    """Credentials, addresses, and what the upstream is told."""
    assert not names_somebody(name)
