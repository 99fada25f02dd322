"""CORS at the gate: preflights are answered here, before authentication, and the upstream never sees an Origin.

Only configured origins, never `*`, never with credentials: a key travels in `Authorization`, which a page sets itself.
Call them after `judge_origin` has let the request pass.
"""

from collections.abc import Sequence

from herma.policy.message.canonical import METHODS, Head
from herma.policy.message.headers import TOKEN
from herma.policy.message.host import normal_origin, normal_origins

__all__ = ["grant", "preflight"]

_METHODS = b", ".join(sorted(METHODS))

# What the SDKs and web UIs of the field set on a request; field report E5 is a client that failed for want of one.
_ALLOWED = frozenset({
    b"accept", b"authorization", b"cache-control", b"content-type", b"http-referer", b"idempotency-key",
    b"last-event-id", b"openai-beta", b"openai-organization", b"openai-project", b"user-agent", b"x-request-id",
    b"x-requested-with", b"x-title",
})  # fmt: skip
_ALLOWED_PREFIXES = (b"x-hermes-", b"x-stainless-")
# What a page may read of an answer beside the few headers it always may.
_EXPOSED = (
    b"X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Completed, X-Hermes-Partial, X-Hermes-Error, "
    b"Idempotency-Replayed, Retry-After, Retry-After-Ms, X-Should-Retry, X-Request-Id, X-Herma-Exchange, "
    b"WWW-Authenticate"
)
# As long as the upstream says. A changed list of origins is felt within ten minutes.
_MAX_AGE_S = b"600"
# A page of the field asks for about a dozen; more names than this are not echoed.
_MAX_ASKED = 64


def grant(head: Head, origins: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """Return the headers that let a page of a configured origin read an answer, our own refusals included.

    `Vary: Origin` also stands where there is no grant but could be one, so that no cache mixes the two.
    """
    vary = [(b"vary", b"Origin")] if origins else []
    origin = head.get(b"origin")
    if origin is None or not _configured(origin, origins):
        return vary
    return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED), *vary]


def preflight(head: Head, origins: Sequence[str]) -> list[tuple[bytes, bytes]] | None:
    """Return what the 204 to a preflight (Fetch, section 3.2.2) carries beside `grant`; None if this is none.

    An OPTIONS request without a configured origin is no preflight: it needs a key like any other request.
    """
    origin = head.get(b"origin")
    if head.method != "OPTIONS" or origin is None or head.get(b"access-control-request-method") is None:
        return None
    if not _configured(origin, origins):
        return None
    headers = [(b"access-control-allow-methods", _METHODS), (b"access-control-max-age", _MAX_AGE_S)]
    asked = _asked(head.get(b"access-control-request-headers") or b"")
    if asked:
        headers.append((b"access-control-allow-headers", b", ".join(asked)))
    if head.get(b"access-control-request-private-network") == b"true":
        # A public page that talks to a private address asks once more (Private Network Access).
        headers.append((b"access-control-allow-private-network", b"true"))
    return headers


def _configured(origin: bytes, origins: Sequence[str]) -> bool:
    return normal_origin(origin.decode("latin-1")) in normal_origins(tuple(origins))


def _asked(value: bytes) -> list[bytes]:
    names = [name.strip(b" \t").lower() for name in value.split(b",")[:_MAX_ASKED]]
    return [
        name
        for name in names
        if TOKEN.fullmatch(name) and (name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES))
    ]
