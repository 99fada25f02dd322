"""Pages of the upstream: what stands in them for its key, and what a browser may load for them."""

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from herma.policy.secret import Secret

__all__ = ["STAND_IN", "PageKey", "key_in", "page_policy", "withheld", "without_stand_in"]

STAND_IN: Final = b"held-by-the-gate"
"""What a page gets in place of the upstream's key. It opens nothing: who the caller is, the gate asks the caller."""

_TAG: Final = re.compile(rb"<script(?=[\s/>])[^>]*+>", re.IGNORECASE)
_SOURCE: Final = re.compile(rb"[\s/]src[\s=]", re.IGNORECASE)
# A page has two or three, with or without a source; what is behind more is not allowed to run.
MAX_INLINE: Final = 8
# Styles are set by scripts in every such page; a style runs nothing.
_POLICY: Final = (
    b"default-src 'self'; script-src 'self'%s; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    b"font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class PageKey:
    """Where an upstream writes its key into a page: the page's path, and the name of the variable of its script."""

    path: str
    name: str


@cache
def _assignment(name: str) -> re.Pattern[bytes]:
    # One form only, the one that the page has: what is another is no key.
    return re.compile(
        rb'window\.%s\s{0,4}=\s{0,4}"([A-Za-z0-9._~-]{16,256})"' % re.escape(name).encode("ascii")
    )


def key_in(html: bytes, name: str) -> Secret | None:
    """Return the key that a page gives its script under this name; None where it gives none, or more than one."""
    found = set(_assignment(name).findall(html))
    return Secret(found.pop()) if len(found) == 1 else None


def page_policy(html: bytes) -> bytes:
    """Return the Content-Security-Policy (CSP level 3) of a page: its own scripts as they stand in it, and nothing of strangers."""
    hashes = (
        b" 'sha256-" + base64.b64encode(hashlib.sha256(script).digest()) + b"'" for script in _inline(html)
    )
    return _POLICY % b"".join(dict.fromkeys(hashes))


def _inline(html: bytes) -> Iterator[bytes]:
    """Give the scripts that hold their text themselves: every one that names no source."""
    lowered, at = html.lower(), 0
    for _ in range(MAX_INLINE):
        tag = _TAG.search(html, at)
        end = lowered.find(b"</script", tag.end()) if tag is not None else -1
        if tag is None or end < 0:
            return
        at = end
        if _SOURCE.search(tag.group()) is None:
            yield html[tag.end() : end]


def withheld(data: bytes, key: Secret | None) -> bytes:
    """Put the stand-in where the upstream's own key stands: it is not for callers, whatever the answer is."""
    if key is None or key.reveal() not in data:
        return data
    return data.replace(key.reveal(), STAND_IN)


def without_stand_in(query: bytes) -> bytes:
    """Take the parameters out that hold the stand-in: they are no credential."""
    if STAND_IN not in query:
        return query
    return b"&".join(pair for pair in query.split(b"&") if pair.partition(b"=")[2] != STAND_IN)
