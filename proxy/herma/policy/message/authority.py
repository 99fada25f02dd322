"""`host[:port]`, as it stands in a `Host` header, in an origin and in the configuration."""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Authority", "parse_authority"]

# RFC 1035 section 2.3.4: 255 octets on the wire, 253 in text.
_MAX_HOST_CHARS = 253
_MAX_AUTHORITY_CHARS = _MAX_HOST_CHARS + len(":65535")
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[^\[\]:@/?#\\%]+))(?::(?P<port>[1-9][0-9]{0,4}))?"
)
# A last label that is a number makes a name an IPv4 address for WHATWG URL parsers (`127.1`, `0x7f.1`, `2130706433`).
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class Authority:
    """A host in lower case, IPv6 without brackets and compressed, and the port if one was given."""

    host: str
    port: int | None


def parse_authority(text: str) -> Authority | None:
    """Parse `host[:port]`; None for whatever has no single meaning.

    Refused beside syntax errors: user information, percent-encoding, a trailing dot, an empty port, a zone id, and
    IPv4 addresses in any form but four decimal numbers.
    """
    return _parse(text) if len(text) <= _MAX_AUTHORITY_CHARS else None


@lru_cache(
    maxsize=256
)  # a gate is asked for by a handful of names; the keys are short, so the table is small
def _parse(text: str) -> Authority | None:
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > _MAX_PORT:
        return None
    host = _six(found["six"]) if found["six"] else _name(found["name"])
    return None if host is None else Authority(host, port)


def _six(text: str) -> str | None:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        return None


def _name(text: str) -> str | None:
    if len(text) > _MAX_HOST_CHARS or not _NAME.fullmatch(text):
        return None
    if _NUMBER.fullmatch(text.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(text))
        except ValueError:
            return None
    return text.lower()
