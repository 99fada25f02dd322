"""One meaning for a request head, or a refusal.

What is judged is forwarded byte for byte, so a head that two parsers could read differently must not get as far as
being judged. The wire refuses most malformed framing already; the rules stand here too, because the core has other
callers than the wire.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from herma.policy.decision import Deny
from herma.policy.message.authority import Authority, parse_authority
from herma.policy.message.headers import TOKEN, is_protected, is_singleton
from herma.policy.message.target import Target, canonical_target

__all__ = ["MAX_HEAD_BYTES", "METHODS", "Head", "Headers", "Target", "canonical_head", "connection_options"]

Headers = tuple[tuple[bytes, bytes], ...]
"""Names in lower case, values without surrounding blanks, in the order they came."""

# CONNECT and TRACE have no place in front of an API; what is not listed is refused, lower case included.
METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS"})

# The wire has its own, configurable limit (32 KiB by default); this one holds for every other caller of the core.
MAX_HEAD_BYTES = 256 * 1024

_NO_OPTIONS: frozenset[bytes] = frozenset()
_VERSIONS = frozenset({"1.0", "1.1"})
# RFC 9110 section 5.5: field-content; controls other than the tab are refused, obs-text is left to the reader.
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_ASCII_VALUE = re.compile(rb"[\t\x20-\x7e]*")
# 19 digits hold every 63-bit number; no parser behind us has to cope with more.
_LENGTH = re.compile(rb"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Head:
    """An accepted request head.

    `host` is lower case, an IPv6 address without brackets; `port` is None when the `Host` header names none.
    """

    method: str
    target: Target
    host: str
    port: int | None
    version: str
    headers: Headers

    def get(self, name: bytes) -> bytes | None:
        """Return the value of the header (lower-case name), None if it is absent.

        For a name that may be repeated this is the first one; use `all` there.
        """
        for held, value in self.headers:
            if held == name:
                return value
        return None

    def all(self, name: bytes) -> tuple[bytes, ...]:
        """Return every value of the header (lower-case name), in order."""
        return tuple(value for held, value in self.headers if held == name)


def canonical_head(
    method: bytes, target: bytes, version: str, headers: Sequence[tuple[bytes, bytes]]
) -> Head | Deny:
    """Judge a request head as it came off the wire; every refusal closes the connection."""
    if method not in METHODS:
        return _refuse(405, "method", "The request method is not allowed.")
    if version not in _VERSIONS:
        return _refuse(505, "version", "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    asked = canonical_target(target)
    if isinstance(asked, Deny):
        return asked
    fields = _fields(headers)
    if isinstance(fields, Deny):
        return fields
    return _assemble(method.decode("ascii"), asked, version, fields)


def connection_options(headers: Headers) -> frozenset[bytes]:
    """Return the options of every `Connection` header, in lower case."""
    values = [value for name, value in headers if name == b"connection"]
    if not values:
        return _NO_OPTIONS
    return frozenset(option.strip(b" \t").lower() for value in values for option in value.split(b",")) - {b""}


def _fields(headers: Sequence[tuple[bytes, bytes]]) -> Headers | Deny:
    fields: list[tuple[bytes, bytes]] = []
    seen: set[bytes] = set()
    size = 0
    for raw_name, raw_value in headers:
        size += len(raw_name) + len(raw_value)
        if size > MAX_HEAD_BYTES:
            return _refuse(431, "head_too_large", "The request headers are too large.")
        known = _name(raw_name)
        if known is None:
            return _refuse(400, "header_name", "A header name holds a character that is not allowed.")
        if _BAD_VALUE.search(raw_value):
            return _refuse(400, "header_value", "A header value holds a control character.")
        name, single = known
        value = raw_value.strip(b" \t")
        if single:
            if name in seen:
                return _refuse(400, "header_duplicate", "A header that may stand only once was sent twice.")
            # A malformed Authorization is not a bad request but a failed login: the same 401 for all of them.
            if name != b"authorization" and not _ASCII_VALUE.fullmatch(value):
                return _refuse(400, "header_value", "A header value holds a character outside ASCII.")
            seen.add(name)
        fields.append((name, value))
    return tuple(fields)


def _name(raw: bytes) -> tuple[bytes, bool] | None:
    """Return a header name in lower case and whether it may stand only once; None if it is no name."""
    return _short_name(raw) if len(raw) <= _MAX_KEPT_NAME_BYTES else _read_name(raw)


def _read_name(raw: bytes) -> tuple[bytes, bool] | None:
    # An underscore is a hyphen to CGI-like servers: `X_Forwarded_User` would pass for the real one.
    if not TOKEN.fullmatch(raw) or b"_" in raw:
        return None
    name = raw.lower()
    return name, is_singleton(name)


# Clients send the same few dozen names over and over. Names that are kept are short, so the table stays below 100 KiB.
_MAX_KEPT_NAME_BYTES = 48
_short_name = lru_cache(maxsize=512)(_read_name)


def _assemble(method: str, target: Target, version: str, fields: Headers) -> Head | Deny:
    single = dict(fields)
    denied = _connection(fields) or _framing(version, single) or _expectation(single)
    if denied is not None:
        return denied
    authority = _authority(single.get(b"host"))
    if authority is None:
        return _refuse(400, "host", "Exactly one valid Host header is required.")
    return Head(method, target, authority.host, authority.port, version, fields)


def _authority(host: bytes | None) -> Authority | None:
    # HTTP/1.0 allows a request without Host; which name it means is then anyone's guess, so it is refused too.
    return None if host is None else parse_authority(host.decode("ascii"))


def _connection(fields: Headers) -> Deny | None:
    for option in connection_options(fields):
        if not TOKEN.fullmatch(option):
            return _refuse(400, "connection", "The Connection header is malformed.")
        if is_protected(option):
            return _refuse(
                400, "connection", "The Connection header names a header that must not be dropped."
            )
    return None


def _framing(version: str, single: dict[bytes, bytes]) -> Deny | None:
    coding, length = single.get(b"transfer-encoding"), single.get(b"content-length")
    # RFC 9112 section 6.1 and 6.3: a length beside a coding, or a coding on 1.0, is how requests are smuggled.
    if coding is not None and (coding.lower() != b"chunked" or length is not None or version == "1.0"):
        return _refuse(400, "framing", "The length of the request body has no single meaning.")
    if length is not None and not _LENGTH.fullmatch(length):
        return _refuse(400, "framing", "The Content-Length header is malformed.")
    return None


def _expectation(single: dict[bytes, bytes]) -> Deny | None:
    expected = single.get(b"expect")
    if expected is not None and expected.lower() != b"100-continue":
        return _refuse(417, "expectation", "The only expectation that can be met is 100-continue.")
    return None


def _refuse(status: int, what: str, message: str) -> Deny:
    return Deny(status, f"herma.request.{what}", message, close=True)
