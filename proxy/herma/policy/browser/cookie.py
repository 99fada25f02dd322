"""The cookie that a session is held by.

`__Host-` makes the browser take it from this host alone, over TLS or loopback, for the whole host: no sub-domain can plant one
(RFC 6265bis section 4.1.3.2). It holds 256 random bits and nothing else.
"""

import re

from herma.policy.message.canonical import Head
from herma.policy.secret import Secret

__all__ = ["ERASED", "SESSION_BYTES", "planted", "session_cookie"]

SESSION_BYTES = 32

_NAME = b"__Host-herma"
# 32 bytes in the URL-safe alphabet, without padding.
_VALUE = re.compile(rb"[A-Za-z0-9_-]{43}")
_ATTRIBUTES = b"; Path=/; Secure; HttpOnly; SameSite=Lax"

# Takes the cookie back: browsers only obey it with the attributes that the cookie was set with.
ERASED = _NAME + b"=" + _ATTRIBUTES + b"; Max-Age=0"


def session_cookie(head: Head) -> Secret | None:
    """Return the value of the one session cookie; None when there is none, a malformed one, or more than one.

    Two cookies of that name are two answers to who is asking, so they are none.
    """
    found = [
        value.strip(b" \t")
        for line in head.all(b"cookie")
        for name, _, value in (pair.partition(b"=") for pair in line.split(b";"))
        if name.strip(b" \t") == _NAME
    ]
    return Secret(found[0]) if len(found) == 1 and _VALUE.fullmatch(found[0]) else None


def planted(value: Secret) -> bytes:
    """Write the `Set-Cookie` that begins a session; without an age it ends with the browser at the latest."""
    return _NAME + b"=" + value.reveal() + _ATTRIBUTES
