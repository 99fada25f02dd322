"""The request target: one path, one query, or a refusal.

A path is cut at its raw slashes first and decoded once, segment by segment; a segment that could mean something
else to another parser (dot segments, encoded delimiters, path parameters, control characters, bytes that are not
UTF-8) is refused. The raw bytes are kept: what was judged is what is forwarded.
"""

import re
import unicodedata
from dataclasses import dataclass

from herma.policy.decision import Deny

__all__ = ["MAX_TARGET_BYTES", "Target", "canonical_target", "parameter_names", "percent_decode"]

# The wire has its own, configurable limit (8 KiB by default); this one holds for every other caller of the core.
MAX_TARGET_BYTES = 64 * 1024

# RFC 3986 section 3.3: pchar without `;` (path parameters: what they belong to is read differently everywhere).
# A segment never ends in a dot: Windows and some frameworks drop it. `(?:\.*c)+` is unambiguous, so it is linear.
_PLAIN_SEGMENT = rb"(?:\.*[A-Za-z0-9_~!$&'()*+,=:@-])+"
_PLAIN_PATH = re.compile(rb"/(?:" + _PLAIN_SEGMENT + rb"(?:/" + _PLAIN_SEGMENT + rb")*/?)?")
_RAW_SEGMENT = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})+")
# WHATWG URL leaves more characters of a query unencoded than RFC 3986 allows; all of printable ASCII but `#`.
_RAW_QUERY = re.compile(rb"(?:[!\"$&-~]|%[0-9A-Fa-f]{2})*")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")

# Characters that separate something for some parser. `%` is not among them: `%252e` is the text `%2e`, decoded once.
_DELIMITERS = frozenset("/\\?#;")

# Frameworks that read a method from the query would run another operation than the one that was judged.
_METHOD_OVERRIDES = frozenset({"_method", "x_http_method_override", "x_http_method", "x_method_override"})


@dataclass(frozen=True, slots=True)
class Target:
    """An accepted target.

    `raw` is forwarded byte for byte. `path` is decoded once, which for an accepted target is unambiguous;
    `segments` are its parts (the last one is empty when the path ends in a slash). `query` is raw, without `?`. `slashed`
    tells that a segment holds an encoded slash: only a route that expects one there may take it.
    """

    raw: bytes
    path: str
    segments: tuple[str, ...]
    query: bytes
    slashed: bool = False


def canonical_target(raw: bytes) -> Target | Deny:
    """Give an origin-form target (RFC 9112 section 3.2.1) its one meaning, or refuse it.

    Absolute, authority and asterisk form are refused: an API client of a reverse proxy never needs them, and the
    host they carry competes with `Host`.
    """
    if len(raw) > MAX_TARGET_BYTES:
        return Deny(414, "herma.request.target_too_long", "The request target is too long.", close=True)
    if not raw.startswith(b"/"):
        return _refuse("target_form", "The request target must be a path that starts with a slash.")
    path, mark, query = raw.partition(b"?")
    segments = _segments(path)
    if segments is None:
        return _refuse("target", "The path of the request has no single meaning.")
    if mark and not _plain_query(query):
        return _refuse("query", "The query of the request has no single meaning.")
    if query and not _METHOD_OVERRIDES.isdisjoint(parameter_names(query)):
        return _refuse("method_override", "The query tries to override the request method.")
    slashed = any("/" in segment for segment in segments)
    return Target(raw, "/" + "/".join(segments), segments, query, slashed)


def parameter_names(query: bytes) -> frozenset[str]:
    """Name every parameter of a query, folded: decoded once, lower case, `-` as `_`, each part of `a[b].c` by itself.

    Both `&` and `;` separate, because some parsers take one and some take both.
    """
    if not query:
        return frozenset()
    found: set[str] = set()
    for pair in re.split(rb"[&;]", query):
        name = percent_decode(pair.partition(b"=")[0].replace(b"+", b" ")).decode("utf-8", "replace")
        folded = unicodedata.normalize("NFKC", name).lower().replace("-", "_")
        found.update(part.strip() for part in re.split(r"[\[\].]", folded))
    return frozenset(found)


def percent_decode(raw: bytes) -> bytes:
    """Decode every valid percent-encoding once and leave the rest as it is."""
    if b"%" not in raw:
        return raw
    return _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), raw)


def _segments(path: bytes) -> tuple[str, ...] | None:
    if _PLAIN_PATH.fullmatch(path):
        return tuple(path.decode("ascii").split("/")[1:])
    raw = path.split(b"/")[1:]
    decoded: list[str] = []
    for index, part in enumerate(raw):
        # An empty segment is accepted at the very end only: `//admin` is `/admin` to some and a host to others.
        if not part and index == len(raw) - 1:
            decoded.append("")
            continue
        segment = _segment(part)
        if segment is None:
            return None
        decoded.append(segment)
    return tuple(decoded)


def _segment(raw: bytes) -> str | None:
    if not _RAW_SEGMENT.fullmatch(raw):
        return None
    try:
        text = percent_decode(raw).decode("utf-8", "strict")  # refuses overlong forms and surrogates
    except UnicodeDecodeError:
        return None
    # A raw slash never gets here: these are encoded ones, and what they would cut apart has to be plain too.
    parts = text.split("/")
    # A framework that folds compatibility characters would read U+FF0F as a slash and U+2025 as two dots.
    folded = parts if text.isascii() else [unicodedata.normalize("NFKC", part) for part in parts]
    return text if all(part and _unambiguous(part) for part in (*parts, *folded)) else None


def _unambiguous(text: str) -> bool:
    # isprintable refuses controls, format characters, surrogates and every separator but the ASCII space.
    return (
        text.isprintable()
        and _DELIMITERS.isdisjoint(text)
        and not text.endswith((".", " "))
        and text[0] != " "
    )


def _plain_query(query: bytes) -> bool:
    if not _RAW_QUERY.fullmatch(query):
        return False
    if b"%" not in query:
        return True
    decoded = percent_decode(query)
    try:
        decoded.decode("utf-8", "strict")
    except UnicodeDecodeError:
        return False
    return b"\0" not in decoded


def _refuse(what: str, message: str) -> Deny:
    return Deny(400, f"herma.request.{what}", message, close=True)
