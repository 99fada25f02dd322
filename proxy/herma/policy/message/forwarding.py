"""Which headers pass the gate, and with what beside them.

Upstream: nothing that speaks of one connection, of the caller's identity or address, or of another target than the
one that was judged; then our own. Framing (Content-Length, Transfer-Encoding) belongs to the wire on both sides.
Downstream: nothing that speaks of one connection, of the server, or to a proxy in front of us.
"""

import re
from dataclasses import dataclass

from herma.policy.message.canonical import Head, Headers, connection_options
from herma.policy.message.headers import HOP_BY_HOP, TOKEN, is_stripped
from herma.policy.secret import Secret

__all__ = [
    "MAX_RESPONSE_HEADER_BYTES",
    "Forwarded",
    "downstream_headers",
    "upstream_headers",
]

# Longest useful value seen from the upstreams: a Content-Security-Policy of 2 KiB. What is longer is dropped: the
# header limit of many clients is 8 KiB in all, and one header must not be able to break an answer.
MAX_RESPONSE_HEADER_BYTES = 8 * 1024

# Set anew, or settled by the gate: the body is sent inflated, as it was judged, and the answer must be readable.
_REPLACED = HOP_BY_HOP | {
    b"host", b"authorization", b"content-length", b"content-encoding", b"expect", b"accept-encoding",
}  # fmt: skip
_RANGE = frozenset({b"range", b"if-range"})

_DROPPED_DOWNSTREAM = HOP_BY_HOP | {
    b"content-length",  # the wire frames
    b"server", b"x-powered-by", b"x-aspnet-version", b"via", b"x-runtime",  # what runs behind us
    b"alt-svc",  # would lead clients round the gate
    b"x-sendfile", b"x-lighttpd-send-file",  # orders to a proxy in front of us: serve this file, go to this path
}  # fmt: skip
_DROPPED_DOWNSTREAM_PREFIXES = (b"x-accel-", b"access-control-")
# The gate's own cookie names; an upstream must not be able to set a session of the gate.
_OWN_COOKIE = re.compile(rb"\s*(?:__host-|__secure-)?herma", re.IGNORECASE)
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LOCATIONS = frozenset({b"location", b"content-location"})
# What may stand alone for a URL of the upstream. A second slash, a backslash or a tab behind the first slash would make
# browsers read a host.
_LOCAL = re.compile(rb"(?:/(?:[!-.0-\[\]-~][!-~]*)?|\?[!-~]*)?")
_ONCE = frozenset({
    b"date", b"content-type", b"x-content-type-options", b"x-frame-options", b"referrer-policy", b"location",
    b"strict-transport-security", b"retry-after", b"x-should-retry",
})  # fmt: skip
# Added where the upstream has none. No HSTS: whether a name is served by TLS only is not ours to say.
_SECURITY: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


@dataclass(frozen=True, slots=True)
class Forwarded:
    """What the upstream is told of the caller, as the gate saw it; `host` is the judged `Host` value."""

    address: str
    proto: str
    host: str


def upstream_headers(
    head: Head,
    *,
    authority: bytes,
    credential: Secret | None,
    forwarded: Forwarded | None,
    inspected: bool = True,
    cookies: bool = False,
    websocket: bool = False,
) -> list[tuple[bytes, bytes]]:
    """Return the headers of the upstream request, without framing.

    Args:
        head: the judged head.
        authority: the upstream's own `Host`.
        credential: the upstream's key; None sends no `Authorization` at all, never the caller's.
        forwarded: what to say of the caller; None says nothing.
        inspected: the answer is read by the gate: it has to come whole and uncompressed.
        cookies: whether the upstream uses cookies; where it does not they are dropped.
        websocket: carry the handshake on; the wire has told it from other requests.
    """
    named = connection_options(head.headers)
    kept = [
        (name, value)
        for name, value in head.headers
        if name not in _REPLACED
        and name not in named
        and not is_stripped(name)
        # No extension is offered: frames that are packed could not be read.
        and (websocket or not name.startswith(b"sec-websocket-"))
        and name != b"sec-websocket-extensions"
        and (cookies or name != b"cookie")
        and not (inspected and name in _RANGE)
    ]
    result = [(b"host", authority), *kept]
    if inspected:
        result.append((b"accept-encoding", b"identity"))
    elif (accepted := head.get(b"accept-encoding")) is not None:
        result.append((b"accept-encoding", accepted))
    if cookies:
        result = [line for pair in result if (line := _without_session(pair)) is not None]
    if credential is not None:
        result.append((b"authorization", b"Bearer " + credential.reveal()))
    if forwarded is not None:
        result += _forwarded(forwarded)
    if websocket:
        result += [(b"connection", b"Upgrade"), (b"upgrade", b"websocket")]
    return result


def downstream_headers(
    status: int, headers: Headers, *, stream: bool, authority: bytes = b""
) -> list[tuple[bytes, bytes]]:
    """Return the headers of the answer to the caller, without framing; names in lower case.

    `stream` is True for an event stream. A 1xx answer gets nothing added. `authority` is the `Host` that the upstream was
    given: a redirect that it makes from it would lead the caller round the gate, so its host is taken off.
    """
    lowered = tuple((name.lower(), value.strip(b" \t")) for name, value in headers)
    named = connection_options(lowered)
    kept: list[tuple[bytes, bytes]] = []
    seen: set[bytes] = set()
    for name, value in lowered:
        if name in named or _dropped(name, value) or (name in _ONCE and name in seen):
            continue
        seen.add(name)
        kept.append((name, _local(value, authority) if name in _LOCATIONS else value))
    if status < 200:
        return kept
    kept += [(name, value) for name, value in _SECURITY if name not in seen]
    return _for_stream(kept) if stream else _for_document(kept, seen)


def _without_session(line: tuple[bytes, bytes]) -> tuple[bytes, bytes] | None:
    """Take the gate's own cookies out of a `Cookie` line; None when nothing else was in it."""
    if line[0] != b"cookie":
        return line
    kept = b";".join(pair for pair in line[1].split(b";") if not _OWN_COOKIE.match(pair)).strip()
    return (line[0], kept) if kept else None


def _dropped(name: bytes, value: bytes) -> bool:
    return (
        name in _DROPPED_DOWNSTREAM
        or name.startswith(_DROPPED_DOWNSTREAM_PREFIXES)
        or is_stripped(name)
        or not TOKEN.fullmatch(name)
        or len(value) > MAX_RESPONSE_HEADER_BYTES
        or _BAD_VALUE.search(value) is not None
        or (name == b"set-cookie" and _OWN_COOKIE.match(value) is not None)
    )


def _local(url: bytes, authority: bytes) -> bytes:
    scheme, _, rest = url.partition(b"://")
    path = rest[len(authority) :]
    ours = authority and rest[: len(authority)].lower() == authority.lower()
    if not ours or scheme.lower() not in {b"http", b"https"} or _LOCAL.fullmatch(path) is None:
        return url
    return path if path.startswith(b"/") else b"/" + path


def _for_stream(kept: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    # nginx buffers whatever does not say otherwise, caches and compressors do too (field reports A2, A4, A5).
    return [
        *((name, value) for name, value in kept if name != b"cache-control"),
        (b"cache-control", b"no-cache"),
        (b"x-accel-buffering", b"no"),
    ]


def _for_document(kept: list[tuple[bytes, bytes]], seen: set[bytes]) -> list[tuple[bytes, bytes]]:
    kind = next((value for name, value in kept if name == b"content-type"), b"").lower()
    if b"cache-control" not in seen and b"json" in kind:
        kept.append((b"cache-control", b"no-store"))
    return kept


def _forwarded(forwarded: Forwarded) -> Headers:
    address = forwarded.address.encode("ascii", "replace")
    host = forwarded.host.encode("ascii", "replace")
    lines: list[tuple[bytes, bytes]] = []
    if address:
        lines.append((b"x-forwarded-for", address))
    lines.append((b"x-forwarded-proto", forwarded.proto.encode("ascii", "replace")))
    lines.append((b"x-forwarded-host", host))
    return tuple(lines)
