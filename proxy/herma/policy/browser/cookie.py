"""The cookie that a session is held by, and the one that a login at an identity provider waits in.

`__Host-` makes the browser take them from this host alone, over TLS or loopback, for the whole host: no sub-domain can plant one
(RFC 6265bis section 4.1.3.2). That of a session holds 256 random bits and nothing else. `SameSite=Lax` lets both come along when
the browser is sent back from the provider, and not with what other pages load.
"""

import re

from herma.policy.message.canonical import Head
from herma.policy.openid.pending import LOGIN_FOR_S, MAX_COOKIE_CHARACTERS
from herma.policy.secret import Secret

__all__ = [
    "ERASED",
    "LOGIN_ERASED",
    "SESSION_BYTES",
    "login_cookie",
    "login_planted",
    "planted",
    "session_cookie",
]

SESSION_BYTES = 32

_NAME = b"__Host-herma"
# 32 bytes in the URL-safe alphabet, without padding.
_VALUE = re.compile(rb"[A-Za-z0-9_-]{43}")
_LOGIN_NAME = b"__Host-herma-login"
_LOGIN_VALUE = re.compile(rb"[A-Za-z0-9_-]{1,%d}" % MAX_COOKIE_CHARACTERS)
_ATTRIBUTES = b"; Path=/; Secure; HttpOnly; SameSite=Lax"

# Takes the cookie back: browsers only obey it with the attributes that the cookie was set with.
ERASED = _NAME + b"=" + _ATTRIBUTES + b"; Max-Age=0"
LOGIN_ERASED = _LOGIN_NAME + b"=" + _ATTRIBUTES + b"; Max-Age=0"


def session_cookie(head: Head) -> Secret | None:
    """Return the value of the one session cookie; None when there is none, a malformed one, or more than one.

    Two cookies of that name are two answers to who is asking, so they are none.
    """
    return _one(head, _NAME, _VALUE)


def login_cookie(head: Head) -> Secret | None:
    """Return the value of the one cookie that a login waits in; None as for that of a session."""
    return _one(head, _LOGIN_NAME, _LOGIN_VALUE)


def _one(head: Head, wanted: bytes, form: re.Pattern[bytes]) -> Secret | None:
    found = [
        value.strip(b" \t")
        for line in head.all(b"cookie")
        for name, _, value in (pair.partition(b"=") for pair in line.split(b";"))
        if name.strip(b" \t") == wanted
    ]
    return Secret(found[0]) if len(found) == 1 and form.fullmatch(found[0]) else None


def planted(value: Secret) -> bytes:
    """Write the `Set-Cookie` that begins a session; without an age it ends with the browser at the latest."""
    return _NAME + b"=" + value.reveal() + _ATTRIBUTES


def login_planted(value: Secret) -> bytes:
    """Write the `Set-Cookie` of a login that was begun; the browser forgets it when the gate does."""
    return _LOGIN_NAME + b"=" + value.reveal() + _ATTRIBUTES + b"; Max-Age=%d" % LOGIN_FOR_S
