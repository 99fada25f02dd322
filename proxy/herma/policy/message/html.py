"""Pages of the upstream: what stands in them for its key, and what a browser may load for them."""

import base64
import hashlib
import re
from typing import Final

__all__ = ["STAND_IN", "page_policy", "without_stand_in"]

STAND_IN: Final = b"held-by-the-gate"
"""What a page gets in place of the upstream's key. It opens nothing: who the caller is, the gate asks the caller."""

# RFC 9110 leaves the type of a script to HTML: every element that names no source holds its text itself.
_INLINE: Final = re.compile(rb"<script(?![^>]*\ssrc[\s=])[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
# A page has one or two; more are not allowed to run.
MAX_INLINE: Final = 8
# Styles are set by scripts in every such page; a style runs nothing.
_POLICY: Final = (
    b"default-src 'self'; script-src 'self'%s; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    b"font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def page_policy(html: bytes) -> bytes:
    """Return the Content-Security-Policy (CSP level 3) of a page: its own scripts as they stand in it, and nothing of strangers."""
    found = _INLINE.findall(html)[:MAX_INLINE]
    hashes = (b" 'sha256-" + base64.b64encode(hashlib.sha256(script).digest()) + b"'" for script in found)
    return _POLICY % b"".join(dict.fromkeys(hashes))


def without_stand_in(query: bytes) -> bytes:
    """Take the parameters out that hold the stand-in: they are no credential."""
    if STAND_IN not in query:
        return query
    return b"&".join(pair for pair in query.split(b"&") if pair.partition(b"=")[2] != STAND_IN)
