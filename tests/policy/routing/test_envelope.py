"""A refusal has the shape that the clients of its route read."""

import json

import pytest

from herma.policy.decision import Deny
from herma.policy.routing.envelope import Envelope, error_type, render

DENY = Deny(403, "herma.scope.missing", "This key may not do that.")


def test_openai_shape() -> None:
    """The SDKs find message, type, param and code where they look for them."""
    _, body = render(DENY, Envelope.OPENAI)
    assert json.loads(body) == {
        "error": {
            "message": "This key may not do that.",
            "type": "permission_error",
            "param": None,
            "code": "herma.scope.missing",
        }
    }


def test_flat_and_fastapi_shapes() -> None:
    """The other two shapes carry the same message and code."""
    _, flat = render(DENY, Envelope.FLAT)
    _, fastapi = render(DENY, Envelope.FASTAPI)
    assert json.loads(flat) == {"error": DENY.message, "code": DENY.code}
    assert json.loads(fastapi) == {"detail": DENY.message, "code": DENY.code}


def test_a_page_of_the_dashboard_learns_where_to_log_in() -> None:
    """In its own shape, for a 401 only: with `error` and `login_url` it goes there."""
    unknown = Deny(401, "herma.auth.required", "A valid API key is required.")

    def said(deny: Deny, envelope: Envelope) -> dict[str, object]:
        found: dict[str, object] = json.loads(render(deny, envelope, login_url="/.herma/login")[1])
        return found

    assert said(unknown, Envelope.FASTAPI) == {
        "detail": unknown.message,
        "code": unknown.code,
        "error": "unauthenticated",
        "login_url": "/.herma/login",
    }
    assert "login_url" not in said(DENY, Envelope.FASTAPI)
    assert "login_url" not in said(unknown, Envelope.OPENAI) | said(unknown, Envelope.FLAT)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "invalid_request_error"),
        (405, "invalid_request_error"),
        (413, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_type_follows_the_status(status: int, kind: str) -> None:
    """The type is the one that the OpenAI API has for the status."""
    assert error_type(status) == kind


def test_401_carries_a_challenge() -> None:
    """RFC 6750: the scheme always, the error only when a token was given."""
    deny = Deny(401, "herma.auth.invalid", "Invalid API key.")
    without, body = render(deny, Envelope.OPENAI)
    given, same = render(deny, Envelope.OPENAI, token_given=True)
    assert dict(without)[b"www-authenticate"] == b'Bearer realm="herma"'
    assert dict(given)[b"www-authenticate"] == b'Bearer realm="herma", error="invalid_token"'
    assert body == same
    assert b"www-authenticate" not in dict(render(DENY, Envelope.OPENAI)[0])


def test_405_names_the_methods() -> None:
    """Allow stands on a 405 when the methods are known, and on nothing else."""
    deny = Deny(405, "herma.route.method", "This path takes GET only.")
    assert dict(render(deny, Envelope.OPENAI, allow=("GET", "HEAD"))[0])[b"allow"] == b"GET, HEAD"
    assert b"allow" not in dict(render(deny, Envelope.OPENAI)[0])
    assert b"allow" not in dict(render(DENY, Envelope.OPENAI, allow=("GET",))[0])


def test_repeating_a_policy_refusal_is_discouraged() -> None:
    """A refusal by policy says that it will not change; a full gate says when to come back."""
    assert dict(render(DENY, Envelope.OPENAI)[0])[b"x-should-retry"] == b"false"
    full = Deny(429, "herma.limit.concurrency", "Too many.", retry_after_s=3, retryable=True)
    headers = dict(render(full, Envelope.OPENAI)[0])
    assert headers[b"retry-after"] == b"3"
    assert b"x-should-retry" not in headers


@pytest.mark.parametrize("envelope", list(Envelope))
def test_no_refusal_is_cached_or_sniffed(envelope: Envelope) -> None:
    """Every refusal is JSON in ASCII, not to be stored, not to be framed, with each header once."""
    headers, body = render(Deny(400, "herma.x", "caf\u00e9 \u2028"), envelope)
    names = [name for name, _ in headers]
    assert len(names) == len(set(names))
    assert dict(headers)[b"cache-control"] == b"no-store"
    assert dict(headers)[b"x-content-type-options"] == b"nosniff"
    assert dict(headers)[b"content-type"] == b"application/json; charset=utf-8"
    assert body.isascii()
    assert not {b"content-length", b"transfer-encoding"} & set(names)
