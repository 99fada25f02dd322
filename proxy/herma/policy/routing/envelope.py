"""A refusal as the caller of a route expects it: status, headers and body in the shape of the upstream's own errors.

The SDKs read message and code from the OpenAI shape only; in any other they lose them. The body holds what the `Deny`
says and nothing of the request.
"""

import json
from collections.abc import Sequence
from typing import assert_never

from herma.policy.decision import Deny
from herma.policy.routing.route import Envelope

__all__ = ["Envelope", "error_type", "render"]

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CHALLENGE = b'Bearer realm="herma"'
_FIXED: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"application/json; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


def render(
    deny: Deny,
    envelope: Envelope,
    *,
    token_given: bool = False,
    allow: Sequence[str] = (),
    login_url: str = "",
) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return headers (without framing) and body of a refusal.

    Args:
        deny: the refusal.
        envelope: the shape that the route's clients expect.
        token_given: the caller sent a token, so a 401 says that it is invalid (RFC 6750 section 3.1).
        allow: the methods of the path, for a 405.
        login_url: where a person can log in, for a 401; the pages of the dashboard go there.
    """
    headers = list(_FIXED)
    if deny.status == 401:
        headers.append(
            (b"www-authenticate", _CHALLENGE + (b', error="invalid_token"' if token_given else b""))
        )
    if deny.status == 405 and allow:
        headers.append((b"allow", ", ".join(allow).encode("ascii")))
    if deny.retry_after_s is not None:
        headers.append((b"retry-after", str(deny.retry_after_s).encode("ascii")))
    if not deny.retryable:
        # The OpenAI SDKs repeat 408, 409, 429 and 5xx unless told otherwise; a policy does not change its mind.
        headers.append((b"x-should-retry", b"false"))
    return headers, json.dumps(_body(deny, envelope, login_url)).encode("ascii")


def error_type(status: int) -> str:
    """Name the OpenAI error type of a status."""
    return _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")


def _body(deny: Deny, envelope: Envelope, login_url: str) -> dict[str, object]:
    match envelope:
        case Envelope.OPENAI:
            error = {
                "message": deny.message,
                "type": error_type(deny.status),
                "param": None,
                "code": deny.code,
            }
            return {"error": error}
        case Envelope.FLAT:
            return {"error": deny.message, "code": deny.code}
        case Envelope.FASTAPI:
            body: dict[str, object] = {"detail": deny.message, "code": deny.code}
            if deny.status == 401 and login_url:
                body |= {"error": "unauthenticated", "login_url": login_url}
            return body
        case _:
            assert_never(envelope)
