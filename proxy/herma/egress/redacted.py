"""A flow as it may be kept for debugging: who was asked for what, and of everything else only what is known to tell nothing.

Fields, names and segments are kept by a list of what is harmless, never left out by a list of what is not. Bodies are masked.
"""

import re
from typing import Final

from mitmproxy.http import Headers, HTTPFlow, Request, Response

from herma.policy.egress.masking import Masker
from herma.policy.egress.platform import InUse
from herma.policy.message.form import FormError

__all__ = ["MAX_BODY_BYTES", "redacted"]

# A prompt has a few kilobytes; a larger body is a file.
MAX_BODY_BYTES: Final = 16 * 1024
_LEFT_OUT: Final = b"[left out]"
_FIELDS: Final = frozenset(
    {
        b"host",
        b"content-type",
        b"content-length",
        b"transfer-encoding",
        b"accept",
        b"expect",
        b"upgrade",
        b"date",
    }
)
# A word of an API, or a version; what is longer, or has capitals and digits, may be somebody's token.
_SEGMENT: Final = re.compile(rb"(?:[a-z][a-z._-]{0,23}|v[0-9]{1,2})?")
_NAME: Final = re.compile(rb":?[A-Za-z]{1,20}(?:-[A-Za-z0-9]{1,20}){0,6}")
_READABLE: Final = (b"application/json", b"application/x-www-form-urlencoded", b"text/")


def redacted(flow: HTTPFlow, masker: Masker) -> HTTPFlow:
    """Make another flow that may be written to a file.

    Raises:
        ValueError: the place itself holds a secret.
    """
    made = HTTPFlow(flow.client_conn, flow.server_conn)
    made.timestamp_created = flow.timestamp_created
    given = flow.request
    place = f"{given.host} {given.authority}".encode("utf-8", "replace")
    if masker.text(place, InUse(()))[1] or not re.fullmatch(rb"[A-Z-]{1,20}", given.data.method):
        raise ValueError("the place or the method is none that can be written down")
    made.request = Request(
        host=given.host,
        port=given.port,
        method=given.data.method,
        scheme=given.data.scheme,
        authority=given.data.authority,
        path=_target(given.data.path, masker),
        http_version=given.data.http_version,
        headers=_fields(given.headers, masker),
        content=_body(given, masker),
        trailers=None,
        timestamp_start=given.timestamp_start,
        timestamp_end=given.timestamp_end,
    )
    if flow.response is not None:
        # Answers go on as they come, so there is no body of one here.
        made.response = Response.make(flow.response.status_code, b"", _fields(flow.response.headers, masker))
        made.response.timestamp_start = flow.response.timestamp_start
        made.response.timestamp_end = flow.response.timestamp_end
    return made


def _target(target: bytes, masker: Masker) -> bytes:
    path, mark, query = target.partition(b"?")
    names = b"&".join(_kept(pair.partition(b"=")[0], masker) + b"=-" for pair in query.split(b"&") if pair)
    return b"/".join(_kept(part, masker) for part in path.split(b"/")) + mark + names


def _kept(part: bytes, masker: Masker) -> bytes:
    return part if _SEGMENT.fullmatch(part) and not masker.text(part, InUse(()))[1] else b"-"


def _fields(fields: Headers, masker: Masker) -> Headers:
    return Headers(
        [(_name(name, masker), _value(name.lower(), value, masker)) for name, value in fields.fields]
    )


def _name(name: bytes, masker: Masker) -> bytes:
    """Keep a name that is made of words; another may be what it was sent for."""
    return name if _NAME.fullmatch(name) and not masker.text(name, InUse(()))[1] else b"x-left-out"


def _value(name: bytes, value: bytes, masker: Masker) -> bytes:
    if name not in _FIELDS or len(value) > MAX_BODY_BYTES:
        return _LEFT_OUT
    return masker.text(value, InUse(()))[0]


def _body(request: Request, masker: Masker) -> bytes:
    raw = request.raw_content
    if raw is None:
        return b"[a body that was too large left out]"
    kind = request.headers.get("content-type", "").encode("utf-8", "replace")
    readable = kind.lower().startswith(_READABLE) and "content-encoding" not in request.headers
    if raw and readable and len(raw) <= MAX_BODY_BYTES:
        try:
            masked = masker.body(raw, kind, InUse(()))[0]
        except FormError:
            masked = raw
        # What is masked once and holds something still is not understood.
        if not masker.text(masked, InUse(()))[1]:
            return masked
    return b"[%d bytes left out]" % len(raw) if raw else b""
