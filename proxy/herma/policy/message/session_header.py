"""`X-Hermes-Session-Id` and `X-Hermes-Session-Key`: what they may hold.

The upstream uses the first as the name of a stored conversation and the second as the name of a live session, so both
are bound to the key that used them first; here is only their form. Canonicalisation saw to it that each stands once
and in ASCII.
"""

import re
from dataclasses import dataclass

from herma.policy.decision import Deny
from herma.policy.message.canonical import Head

__all__ = ["MAX_SESSION_CHARS", "SessionHeaders", "session_headers"]

# The upstream's own limit.
MAX_SESSION_CHARS = 256

_PRINTABLE = re.compile(r"[\x20-\x7e]+")
# A session id becomes part of a file name.
_TRAVERSAL = re.compile(r"\.\.|[/\\]|^[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class SessionHeaders:
    """The two values; None where the header is absent or empty, which the upstream takes as the same."""

    id: str | None
    key: str | None


def session_headers(head: Head) -> SessionHeaders | Deny:
    """Read both headers, or refuse the request (400) when one holds what it may not."""
    session_id, session_key = head.get(b"x-hermes-session-id"), head.get(b"x-hermes-session-key")
    if session_id is not None and (not _plain(session_id) or _TRAVERSAL.search(session_id.decode("latin-1"))):
        return _refuse("session_id", "X-Hermes-Session-Id")
    if session_key is not None and not _plain(session_key):
        return _refuse("session_key", "X-Hermes-Session-Key")
    return SessionHeaders(_text(session_id), _text(session_key))


def _plain(value: bytes) -> bool:
    text = value.decode("latin-1")
    return not text or (len(text) <= MAX_SESSION_CHARS and _PRINTABLE.fullmatch(text) is not None)


def _text(value: bytes | None) -> str | None:
    return value.decode("ascii") if value else None


def _refuse(what: str, header: str) -> Deny:
    return Deny(
        400,
        f"herma.request.{what}",
        f"{header} must be at most {MAX_SESSION_CHARS} printable characters and no path.",
    )
