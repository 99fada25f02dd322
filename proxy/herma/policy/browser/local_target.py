"""Where a person goes after the login: a path of this host, by construction.

A text that another place chose becomes a target only by being read as one and written anew, so it can hold no host, no scheme
and nothing that a browser reads as either.
"""

from herma.policy.browser.page import own_page
from herma.policy.decision import Deny
from herma.policy.message.target import canonical_target

__all__ = ["HOME", "MAX_CHARACTERS", "encoded", "local_target"]

HOME = "/"
# Longer ones are no place that a person was at.
MAX_CHARACTERS = 2048

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_IN_PATH = _UNRESERVED | frozenset("!$&'()*+,=:@")
# `%` stands: a query keeps the escapes it has.
_IN_QUERY = _IN_PATH | frozenset("/?;%")


def local_target(text: str) -> str:
    """Return the path and query that the text names on this host; `/` when it names anything else."""
    if len(text) > MAX_CHARACTERS or not text.isascii() or "\\" in text:
        return HOME
    target = canonical_target(text.encode("ascii"))
    if isinstance(target, Deny) or own_page(target) is not None:
        return HOME
    path = "/" + "/".join(encoded(segment, _IN_PATH) for segment in target.segments)
    query = encoded(target.query.decode("ascii"), _IN_QUERY)
    return f"{path}?{query}" if query else path


def encoded(text: str, kept: frozenset[str] = _UNRESERVED) -> str:
    """Percent-encode all but the kept characters (RFC 3986 section 2.1)."""
    return "".join(
        character if character in kept else "".join(f"%{byte:02X}" for byte in character.encode())
        for character in text
    )
