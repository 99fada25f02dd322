"""A login that was begun and waits for the browser to come back from the issuer.

Rules of the file:

1. The gate keeps nothing: what has to be remembered travels in a cookie of the browser, sealed. So no number of logins that are
   begun and left can push out anybody else's.
2. State, nonce and the verifier of PKCE are worked out from a random value under a key that only the gate has. The browser sees
   neither nonce nor verifier before their time, and nobody can make a state.
3. The seal covers what the login was begun for: the issuer and the client as configured, and where the browser is to come back
   to. A change of these ends it.
"""

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field

from herma.policy.browser.local_target import HOME, local_target
from herma.policy.secret import Secret

__all__ = ["LOGIN_FOR_S", "MAX_COOKIE_CHARACTERS", "RANDOM_BYTES", "Pending", "begun", "resumed"]

# Long enough to find a second factor.
LOGIN_FOR_S = 600
RANDOM_BYTES = 32
# Browsers keep 4,096 bytes of a cookie with its name and attributes.
MAX_COOKIE_CHARACTERS = 3000

_SEAL_BYTES = 32
_TIME_BYTES = 8
# The clocks of two processes on one machine.
_SKEW_S = 5
_HEAD_BYTES = _SEAL_BYTES + RANDOM_BYTES + _TIME_BYTES
# What fits into the cookie with the rest.
_MAX_BACK_CHARACTERS = MAX_COOKIE_CHARACTERS * 3 // 4 - _HEAD_BYTES


@dataclass(frozen=True, slots=True)
class Pending:
    """What the issuer is told of a login and has to say again, and where the login leads on this host.

    `ident` names the login for whoever notes that it is used up.
    """

    ident: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    back: str

    @property
    def challenge(self) -> str:
        """The code challenge of PKCE, method S256 (RFC 7636 section 4.2)."""
        return _text(hashlib.sha256(self.verifier.encode("ascii")).digest())

    def is_state(self, state: str) -> bool:
        """Tell whether it is this login's state, in constant time."""
        return hmac.compare_digest(self.state.encode(), state.encode())


def begun(key: Secret, purpose: str, random: bytes, back: str, now: float) -> tuple[Pending, Secret]:
    """Begin a login.

    Args:
        key: what only the gate has.
        purpose: what the login is for; it resumes only with the same.
        random: 32 bytes that nobody can guess and that were never used before.
        back: a path of this host.
        now: seconds since the epoch.

    Returns:
        The login, and what the cookie holds.
    """
    kept = back if len(back) <= _MAX_BACK_CHARACTERS else HOME
    body = random + int(now).to_bytes(_TIME_BYTES, "big") + kept.encode("ascii")
    return _pending(key, purpose, random, kept), Secret(
        _text(_seal(key, purpose, b"cookie", body) + body).encode()
    )


def resumed(key: Secret, purpose: str, value: Secret, now: float) -> Pending | None:
    """Return the login that a cookie holds; None when the gate did not begin it for this, or too long ago."""
    raw = _bytes(value.reveal())
    seal, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
    if len(raw) < _HEAD_BYTES or not hmac.compare_digest(seal, _seal(key, purpose, b"cookie", body)):
        return None
    random, rest = body[:RANDOM_BYTES], body[RANDOM_BYTES:]
    began = int.from_bytes(rest[:_TIME_BYTES], "big")
    if not began - _SKEW_S <= now <= began + LOGIN_FOR_S:
        return None
    # Sealed by the gate, and read again all the same: nothing that a browser brings becomes a target unread.
    return _pending(key, purpose, random, local_target(rest[_TIME_BYTES:].decode("ascii")))


def _pending(key: Secret, purpose: str, random: bytes, back: str) -> Pending:
    ident, state, nonce, verifier = (
        _text(_seal(key, purpose, use, random)) for use in (b"ident", b"state", b"nonce", b"verifier")
    )
    return Pending(ident, state, nonce, verifier, back)


def _seal(key: Secret, purpose: str, use: bytes, body: bytes) -> bytes:
    # Each part is told apart from the next by its length, so that no two uses can have the same text.
    parts = (use, purpose.encode(), body)
    text = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.digest(key.reveal(), text, "sha256")


def _bytes(text: bytes) -> bytes:
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        return b""


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")
