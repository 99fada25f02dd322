"""Bytes of a head to a head, strictly.

Two locks: a grammar over the raw bytes (RFC 9112 without any of its tolerances: no bare LF or CR, no line folding, no
control bytes, no space before the colon, versions 1.0 and 1.1 only), then llhttp with every leniency off, which also
delivers the fields. A head is parsed alone, never with the bytes after it, so that llhttp can neither run on into the
next message, nor merge trailers into the fields, nor stop at an upgrade.
"""

import re

try:
    import httptools
except ImportError as error:
    # Not one of the lenient parsers instead: without this one there is no wire.
    raise ImportError("the HTTP parser cannot be loaded", name="httptools") from error

from herma.wire.failures import FramingError, Refusal
from herma.wire.limits import ServerLimits
from herma.wire.messages import RequestHead, ResponseHead

__all__ = ["parse_request_head", "parse_response_head", "premature_refusal"]

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_FIELDS = rb"(?:" + _TOKEN + rb":[\t -~\x80-\xff]*+\r\n)*+\r\n"
_REQUEST = re.compile(_TOKEN + rb" [!-~]++ HTTP/1\.[01]\r\n" + _FIELDS)
_RESPONSE = re.compile(rb"HTTP/1\.[01] [1-9][0-9][0-9](?: [\t -~\x80-\xff]*+)?\r\n" + _FIELDS)
_REQUEST_LINE = re.compile(_TOKEN + rb" [!-~]++ HTTP/1\.[01]\r")
_OTHER_VERSION = re.compile(rb"[!-~]++ [!-~]++ HTTP/(?!1\.[01]\r?$)[0-9]+\.?[0-9]*\r?")
_FIRST_BYTE = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]|\r\n?")
_HTTP2_PREFACE = b"PRI * HTTP/2.0\r"

# Answers of an agent server carry about 15 fields; the largest seen (a CSP and cookies) 9 KB.
MAX_RESPONSE_HEAD_BYTES = 64 * 1024
MAX_RESPONSE_HEADERS = 200

_MALFORMED = Refusal(400, "herma.request.malformed", "the request head is malformed")
_HTTP2 = Refusal(
    400, "herma.request.http2", "this port speaks HTTP/1.1; HTTP/2 without negotiation is refused"
)
_VERSION = Refusal(505, "herma.request.version", "only HTTP/1.1 and HTTP/1.0 are spoken here")
_METHOD = Refusal(405, "herma.request.method", "the method is not known")
_TARGET = Refusal(414, "herma.request.target_too_long", "the request target is too long")
_HEADER_BYTES = Refusal(431, "herma.request.headers_too_large", "the request headers are too large")
_HEADER_COUNT = Refusal(431, "herma.request.too_many_headers", "the request has too many headers")


class _Fields:
    """What llhttp calls back; made anew for each head."""

    __slots__ = ("fields", "status", "url")

    def __init__(self) -> None:
        self.fields: list[tuple[bytes, bytes]] = []
        self.url = b""
        self.status = b""

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_status(self, status: bytes) -> None:
        self.status += status

    def on_header(self, name: bytes, value: bytes) -> None:
        # llhttp drops the white space before a value and keeps it behind (RFC 9110 section 5.5: it is no part of it).
        self.fields.append((name, value.rstrip(b" \t")))


def parse_request_head(raw: bytes, limits: ServerLimits) -> RequestHead | Refusal:
    """Parse one whole head, the empty line included."""
    if _REQUEST.fullmatch(raw) is None:
        return _diagnose(raw)
    found = _Fields()
    parser = httptools.HttpRequestParser(found)
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass  # llhttp stops here for CONNECT and for any Upgrade; whether it is one is not llhttp's to say
    except httptools.HttpParserInvalidMethodError:
        return _METHOD
    except httptools.HttpParserError:
        return _MALFORMED
    if len(found.url) > limits.max_target_bytes:
        return _TARGET
    if len(raw) - len(found.url) > limits.max_header_bytes:
        return _HEADER_BYTES
    if len(found.fields) > limits.max_headers:
        return _HEADER_COUNT
    return RequestHead(parser.get_method(), found.url, parser.get_http_version(), tuple(found.fields))


def parse_response_head(raw: bytes) -> ResponseHead:
    """Parse one whole head of an answer, the empty line included.

    Raises:
        FramingError: it is not strictly HTTP/1.1 or exceeds a bound.
    """
    if _RESPONSE.fullmatch(raw) is None:
        raise FramingError("the upstream's response head is malformed")
    found = _Fields()
    parser = httptools.HttpResponseParser(found)
    try:
        parser.feed_data(raw)
    except httptools.HttpParserUpgrade:
        pass  # 101: the caller knows whether it was asked for
    except httptools.HttpParserError:
        raise FramingError("the upstream's response head is malformed") from None
    if len(found.fields) > MAX_RESPONSE_HEADERS:
        raise FramingError("the upstream's response has too many headers")
    return ResponseHead(parser.get_status_code(), found.status, tuple(found.fields))


def premature_refusal(raw: bytes, limits: ServerLimits) -> Refusal | None:
    """Judge a head that is still incomplete: what can no longer become valid is refused now, not at the deadline."""
    if _FIRST_BYTE.match(raw) is None:
        return _MALFORMED
    end = raw.find(b"\n", 2)
    if end < 0:
        # Method, version and blanks fit the allowance.
        return _TARGET if len(raw) > limits.max_target_bytes + 64 else None
    if _REQUEST_LINE.fullmatch(raw[:end].removeprefix(b"\r\n")) is None:
        return _diagnose(raw)
    if raw.count(b"\n") != raw.count(b"\r\n"):
        return _MALFORMED
    if len(raw) > limits.max_header_bytes + limits.max_target_bytes:
        return _HEADER_BYTES
    return None


def _diagnose(raw: bytes) -> Refusal:
    line = raw.removeprefix(b"\r\n").partition(b"\n")[0]
    if line == _HTTP2_PREFACE:
        return _HTTP2
    if _REQUEST_LINE.fullmatch(line) is None and _OTHER_VERSION.fullmatch(line) is not None:
        return _VERSION
    return _MALFORMED
