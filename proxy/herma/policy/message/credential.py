"""The caller's key: in one place, once, in one spelling.

RFC 6750 section 2 allows one way of sending a token per request; two ways are two answers to who is asking, so they are
refused. A malformed `Authorization` is no bad request but a failed login: the same 401 for every one of them.
"""

import re

from herma.policy.decision import Deny
from herma.policy.message.canonical import Head
from herma.policy.message.headers import CREDENTIAL_HEADERS
from herma.policy.message.html import without_stand_in
from herma.policy.message.target import parameter_names
from herma.policy.secret import Secret

__all__ = ["MAX_TOKEN_BYTES", "bearer", "credential_offered"]

# Keys are 43 characters, signed tokens about a kilobyte. The comparison hashes what it is given.
MAX_TOKEN_BYTES = 8 * 1024

# RFC 6750 section 2.1, b64token. RFC 9110 makes the scheme case-insensitive, the upstream does not: one spelling.
_BEARER = re.compile(rb"Bearer ([A-Za-z0-9\-._~+/]+=*)")

# A credential in a URL lands in logs, histories and Referer headers. Names as `parameter_names` folds them.
_PARAMETERS = frozenset({
    "access_key", "access_token", "accesstoken", "api_key", "api_token", "apikey", "apitoken", "auth", "auth_key",
    "auth_token", "authkey", "authorization", "authtoken", "bearer", "bearer_token", "client_secret", "credential",
    "credentials", "id_token", "jwt", "key", "passwd", "password", "private_key", "pwd", "refresh_token", "secret",
    "secret_key", "session_token", "ticket", "token", "x_access_token", "x_api_key", "x_auth_token", "x_goog_api_key",
})  # fmt: skip
# The gate's own session: a browser adds it to whatever its page sends, so beside a key it is no second answer; the key decides.
_SESSION = b"__Host-herma"
# Cookies that are credentials of somebody; beside a bearer token it is open whose request it is.
_COOKIE = re.compile(
    rb"(?:__host-|__secure-)?(?:herma.*|.*session.*|.*token.*|.*api[-_]?key.*|.*auth.*|jwt|sid|bearer)",
    re.IGNORECASE,
)


def bearer(head: Head) -> Secret | Deny | None:
    """Return the token of `Authorization: Bearer`.

    Returns:
        The token; None when there is none or it is malformed (a 401, uniform); a denial with 400 when a credential
        stands in the query string or in two places.
    """
    query = without_stand_in(head.target.query)
    if query and not _PARAMETERS.isdisjoint(parameter_names(query)):
        return Deny(
            400,
            "herma.auth.credential_in_query",
            "A credential does not belong into the URL; send it as a bearer token in the Authorization header.",
            close=True,
        )
    given = head.get(b"authorization")
    if given is None:
        return None
    if len(head.all(b"authorization")) > 1 or _elsewhere(head):
        return Deny(
            400,
            "herma.auth.credential_twice",
            "More than one credential was sent; send exactly one.",
            close=True,
        )
    found = _BEARER.fullmatch(given)
    if found is None or len(found[1]) > MAX_TOKEN_BYTES:
        return None
    return Secret(found[1])


def credential_offered(head: Head) -> bool:
    """Tell whether the caller tried to authenticate at all; decides on `error="invalid_token"` (RFC 6750 section 3.1)."""
    return head.get(b"authorization") is not None


def _elsewhere(head: Head) -> bool:
    for name, value in head.headers:
        if name in CREDENTIAL_HEADERS:
            return True
        if name == b"cookie":
            names = {pair.partition(b"=")[0].strip() for pair in value.split(b";")} - {_SESSION}
            if any(map(_COOKIE.fullmatch, names)):
                return True
    return False
