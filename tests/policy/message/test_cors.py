"""CORS is answered at the gate, for configured origins only."""

from herma.policy.message import cors
from herma.policy.message.canonical import Head
from support.heads import make_head

ORIGINS = ("https://ui.example", "https://two.example")


def preflight_head(*headers: tuple[bytes, bytes], origin: bytes = b"https://ui.example") -> Head:
    return make_head(
        (b"Origin", origin), (b"Access-Control-Request-Method", b"POST"), *headers, method=b"OPTIONS"
    )


def test_grant_names_exactly_the_asking_origin() -> None:
    """The one matching origin is echoed, once, with Vary, and never with credentials."""
    granted = cors.grant(make_head((b"Origin", b"https://two.example")), ORIGINS)
    names = [name for name, _ in granted]
    assert dict(granted)[b"access-control-allow-origin"] == b"https://two.example"
    assert dict(granted)[b"vary"] == b"Origin"
    assert b"X-Hermes-Session-Id" in dict(granted)[b"access-control-expose-headers"]
    assert len(names) == len(set(names))
    assert b"access-control-allow-credentials" not in names


def test_no_grant_without_a_configured_origin() -> None:
    """Nobody else is granted anything, but caches are told that the answer depends on the origin."""
    assert cors.grant(make_head(), ORIGINS) == [(b"vary", b"Origin")]
    assert cors.grant(make_head((b"Origin", b"https://evil.example")), ORIGINS) == [(b"vary", b"Origin")]
    assert cors.grant(make_head((b"Origin", b"https://ui.example")), ()) == []
    assert cors.grant(make_head((b"Origin", b"null")), ("null", "*")) == [(b"vary", b"Origin")]


def test_preflight_allows_what_clients_ask_for() -> None:
    """The Hermes and SDK headers are allowed, unknown ones are not, whatever their case."""
    asked = b"authorization, Content-Type,x-hermes-session-key, x-hermes-profile,X-Stainless-Lang , idempotency-key, x-evil, "
    answer = cors.preflight(preflight_head((b"Access-Control-Request-Headers", asked)), ORIGINS)
    assert answer is not None
    allowed = dict(answer)[b"access-control-allow-headers"].split(b", ")
    assert allowed == [
        b"authorization", b"content-type", b"x-hermes-session-key", b"x-hermes-profile", b"x-stainless-lang",
        b"idempotency-key",
    ]  # fmt: skip
    assert b"PATCH" in dict(answer)[b"access-control-allow-methods"]
    assert dict(answer)[b"access-control-max-age"] == b"600"


def test_preflight_without_headers_names_none() -> None:
    """A page that asks for no header is told of none."""
    answer = cors.preflight(preflight_head(), ORIGINS)
    assert answer is not None
    assert b"access-control-allow-headers" not in dict(answer)
    assert b"access-control-allow-private-network" not in dict(answer)


def test_preflight_of_a_private_network_is_answered() -> None:
    """A configured public page may reach a gate on a private address."""
    answer = cors.preflight(preflight_head((b"Access-Control-Request-Private-Network", b"true")), ORIGINS)
    assert answer is not None
    assert dict(answer)[b"access-control-allow-private-network"] == b"true"


def test_what_is_no_preflight_needs_a_key() -> None:
    """OPTIONS without an origin or without a method asked for, another method, or a foreign origin is no preflight."""
    method = (b"Access-Control-Request-Method", b"POST")
    assert cors.preflight(make_head(method, method=b"OPTIONS"), ORIGINS) is None
    assert cors.preflight(make_head((b"Origin", b"https://ui.example"), method=b"OPTIONS"), ORIGINS) is None
    assert cors.preflight(make_head((b"Origin", b"https://ui.example"), method), ORIGINS) is None
    assert cors.preflight(preflight_head(origin=b"https://evil.example"), ORIGINS) is None
