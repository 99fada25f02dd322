"""How one text of the configuration becomes a value.

Every parser takes one spelling only. It raises ValueError with what was expected and how to fix it; it never repeats the
text, which may be a secret in the wrong place.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from herma.config import claims, credentials, places
from herma.config.values import (
    Address,
    Audience,
    ClaimName,
    ClientName,
    ContentDigest,
    Domain,
    EmailAddress,
    FileMode,
    FilePath,
    HeaderName,
    IssuerUrl,
    JobName,
    KeySetUrl,
    Label,
    Name,
    Network,
    Origin,
    PublicName,
    Reason,
    RouteName,
    RuleId,
    San,
    ScopeWord,
    Subject,
    Tcp,
    Unix,
    UpstreamUrl,
    UserName,
)
from herma.policy.egress.destination import Near
from herma.policy.egress.host_pattern import HostPattern

__all__ = ["SCALARS", "Scalar", "parse_address", "parse_public_name", "parse_upstream"]

# sockaddr_un holds 108 bytes with the final NUL.
MAX_UNIX_PATH_BYTES = 107
# RFC 1035 section 2.3.4.
MAX_HOST_CHARACTERS = 253
# PATH_MAX of Linux.
MAX_PATH_CHARACTERS = 4096
MAX_TEXT_CHARACTERS = 64
# The names that agent servers give to servers and jobs, with room to spare.
MAX_LABEL_CHARACTERS = 200
MIN_REASON_CHARACTERS = 10
MAX_REASON_CHARACTERS = 500

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TEXT = re.compile(r"[A-Za-z0-9._-]{0,64}")
_MODE = re.compile(r"0?[0-7]{3}")
_ORIGIN = re.compile(r"(https?)://([^/]+)")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_RULE_ID = re.compile(r"[a-z][a-z0-9-]{1,99}")
_ROUTE = re.compile(r"[A-Z]{3,10} /[A-Za-z0-9._~{}/-]{0,500}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# A resolver reads a last label like these as a number (WHATWG URL, "ends in a number").
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A kind of text: its parser, what a person is told to write, and what an editor can check."""

    parse: Callable[[str], Any]
    expected: str
    schema: Mapping[str, Any]


def _port(text: str) -> int:
    if not _PORT.fullmatch(text) or int(text) > 65535:
        raise ValueError("expected a port from 1 to 65535 after the last colon")
    return int(text)


def _host(text: str) -> str:
    """Take a host name or an IPv4 address in its one spelling.

    `127.1`, `0`, `0x7f000001` and `2130706433` are addresses for a resolver and names for everybody else.
    """
    lower = text.lower()
    if not lower:
        raise ValueError("expected a host before the port; 127.0.0.1 is this machine only")
    if lower.endswith("."):
        raise ValueError("found a host with a dot at its end; leave the dot out")
    labels = lower.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(lower))
        except ValueError:
            raise ValueError(
                "found an odd spelling of an IPv4 address; write four numbers, as in 127.0.0.1"
            ) from None
    if len(lower) > MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("expected a host name of ASCII letters, digits, dots and dashes, or an IP address")
    return lower


def _ipv6(text: str) -> str:
    if "%" in text:
        raise ValueError("found a zone id (%); leave it out")
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError("expected an IPv6 address between the brackets") from None


def _tcp(text: str) -> Tcp:
    if text.startswith("["):
        inside, bracket, port = text[1:].partition("]:")
        if not bracket:
            raise ValueError("expected [IPv6 address]:port")
        return Tcp(_ipv6(inside), _port(port))
    host, colon, port = text.rpartition(":")
    if not colon:
        raise ValueError("expected host:port")
    if ":" in host:
        raise ValueError("found more than one colon; write an IPv6 address as [address]:port")
    return Tcp(_host(host), _port(port))


def _unix(path: str) -> Unix:
    if not path.startswith("/") or path.endswith("/"):
        raise ValueError("expected unix:/path, with an absolute path of a socket")
    if len(path.encode()) > MAX_UNIX_PATH_BYTES:
        raise ValueError(f"found a socket path that is too long; at most {MAX_UNIX_PATH_BYTES} bytes")
    return Unix(_path(path))


def parse_address(text: str) -> Address:
    """Read `host:port`, `[IPv6]:port` or `unix:/path`."""
    return _unix(text[5:]) if text.startswith("unix:") else _tcp(text)


def parse_upstream(text: str) -> UpstreamUrl:
    """Read the address of an agent server."""
    if text.startswith("unix:"):
        return UpstreamUrl(_unix(text[5:]))
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in {"http", "https"}:
        raise ValueError("expected http://host:port, https://host:port or unix:/path")
    tls = scheme == "https"
    rest = rest.removesuffix("/")
    if re.search(r"[/?#@]", rest):
        raise ValueError("expected only scheme, host and port: no path, no query, no user")
    if not re.search(r":[0-9]+$", rest):
        rest += ":443" if tls else ":80"
    return UpstreamUrl(_tcp(rest), tls)


def parse_public_name(text: str) -> PublicName:
    """Read a name as it stands in `Host`."""
    if text.startswith("["):
        inside, _, after = text[1:].partition("]")
        if after and not after.startswith(":"):
            raise ValueError("expected [IPv6 address] or [IPv6 address]:port")
        return PublicName(_ipv6(inside), _port(after[1:]) if after else None)
    if "*" in text:
        raise ValueError("found a wildcard; write every name out")
    host, colon, port = text.rpartition(":")
    if not colon:
        return PublicName(_host(text))
    if ":" in host or "/" in text:
        raise ValueError("expected a name as it stands in `Host`: name or name:port")
    return PublicName(_host(host), _port(port))


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        reason = "the address has bits behind the prefix; " if "host bits" in str(error) else ""
        raise ValueError(f"{reason}expected a network such as 10.1.2.0/24 or an address") from None


def _mode(text: str) -> FileMode:
    if not _MODE.fullmatch(text):
        raise ValueError('expected a file mode in quotes, such as "0600"')
    return FileMode(int(text, 8))


def _path(text: str) -> FilePath:
    if not text or len(text) > MAX_PATH_CHARACTERS or not text.isprintable():
        raise ValueError("expected a path without control characters")
    return FilePath(text)


def _name(text: str) -> Name:
    if not _NAME.fullmatch(text):
        raise ValueError("expected a name of up to 64 letters, digits, dots, dashes and underscores")
    return Name(text)


def _text(text: str) -> str:
    if not _TEXT.fullmatch(text):
        raise ValueError("expected up to 64 letters, digits, dots, dashes and underscores")
    return text


def _origin(text: str) -> Origin:
    found = _ORIGIN.fullmatch(text)
    if not found:
        raise ValueError("expected an origin such as https://app.example.com: no path, no wildcard, not null")
    return Origin(f"{found[1]}://{parse_public_name(found[2])}")


def _instant(text: str) -> datetime:
    if not _RFC3339.fullmatch(text):
        raise ValueError("expected a time with its zone, such as 2027-01-01T00:00:00Z")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a time that exists, such as 2027-01-01T00:00:00Z") from None


def _day(text: str) -> date:
    if not _DAY.fullmatch(text):
        raise ValueError("expected a day such as 2027-01-31")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("expected a day that exists, such as 2027-01-31") from None


def _label(text: str) -> Label:
    if not text or len(text) > MAX_LABEL_CHARACTERS or not text.isprintable():
        raise ValueError(
            f"expected a name of up to {MAX_LABEL_CHARACTERS} characters, exactly as it is written"
        )
    return Label(text)


def _rule_id(text: str) -> RuleId:
    if not _RULE_ID.fullmatch(text):
        raise ValueError("expected the exact id of a rule, no wildcard; `herma rules list` shows them")
    return RuleId(text)


def _route(text: str) -> RouteName:
    if not _ROUTE.fullmatch(text):
        raise ValueError("expected METHOD /path as the profile has it, such as PATCH /api/jobs/{job_id}")
    return RouteName(text)


def _reason(text: str) -> Reason:
    if not MIN_REASON_CHARACTERS <= len(text.strip()) <= MAX_REASON_CHARACTERS or not text.isprintable():
        raise ValueError(f"expected a reason of {MIN_REASON_CHARACTERS} characters at least, on one line")
    return Reason(text)


def _digest(text: str) -> ContentDigest:
    if not _DIGEST.fullmatch(text):
        raise ValueError("expected sha256: and 64 hex digits; `herma explain` prints them")
    return ContentDigest(text)


_TEXT_SCHEMA = {"type": "string"}

# Keyed by the type that a settings field is annotated with.
SCALARS: Mapping[Any, Scalar] = {
    Address: Scalar(
        parse_address, "host:port or unix:/path", {"type": "string", "pattern": "^(unix:/.+|.+:[0-9]{1,5})$"}
    ),
    UpstreamUrl: Scalar(
        parse_upstream, "a URL", {"type": "string", "pattern": "^(https?://[^/?#@]+/?|unix:/.+)$"}
    ),
    PublicName: Scalar(parse_public_name, "a host name", {"type": "string", "pattern": "^[^*/]+$"}),
    Network: Scalar(_network, "a network", _TEXT_SCHEMA),
    FileMode: Scalar(
        _mode, 'a file mode in quotes, such as "0600"', {"type": "string", "pattern": "^0?[0-7]{3}$"}
    ),
    FilePath: Scalar(_path, "a path", {"type": "string", "minLength": 1}),
    Name: Scalar(_name, "a name", {"type": "string", "pattern": f"^{_NAME.pattern}$"}),
    Origin: Scalar(_origin, "an origin", {"type": "string", "pattern": "^https?://[^/]+$"}),
    datetime: Scalar(_instant, "a time", {"type": "string", "format": "date-time"}),
    date: Scalar(_day, "a day", {"type": "string", "format": "date"}),
    Label: Scalar(_label, "a name", {"type": "string", "minLength": 1, "maxLength": MAX_LABEL_CHARACTERS}),
    RuleId: Scalar(_rule_id, "the id of a rule", {"type": "string", "pattern": f"^{_RULE_ID.pattern}$"}),
    RouteName: Scalar(_route, "METHOD /path", {"type": "string", "pattern": f"^{_ROUTE.pattern}$"}),
    Reason: Scalar(
        _reason,
        f"text of {MIN_REASON_CHARACTERS} characters at least",
        {"type": "string", "minLength": MIN_REASON_CHARACTERS, "maxLength": MAX_REASON_CHARACTERS},
    ),
    ContentDigest: Scalar(
        _digest, "sha256: and 64 hex digits", {"type": "string", "pattern": f"^{_DIGEST.pattern}$"}
    ),
    IssuerUrl: Scalar(
        claims.issuer, "the URL of an issuer", {"type": "string", "pattern": "^https?://[^?#@]+$"}
    ),
    ClientName: Scalar(
        claims.client_name, "a client's name", {"type": "string", "minLength": 1, "maxLength": 255}
    ),
    ScopeWord: Scalar(claims.scope_word, "one scope", {"type": "string", "minLength": 1, "maxLength": 255}),
    Subject: Scalar(claims.subject, "a subject", {"type": "string", "minLength": 1, "maxLength": 255}),
    Domain: Scalar(claims.domain, "a domain", {"type": "string", "pattern": "^[A-Za-z0-9.-]+$"}),
    EmailAddress: Scalar(claims.email, "an e-mail address", {"type": "string", "pattern": "^[^@]+@[^@]+$"}),
    Audience: Scalar(
        credentials.audience, "an audience", {"type": "string", "minLength": 1, "maxLength": 255}
    ),
    ClaimName: Scalar(
        credentials.claim_name, "the name of a claim", {"type": "string", "minLength": 1, "maxLength": 200}
    ),
    JobName: Scalar(
        credentials.job_name,
        "the id of a job",
        {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
    ),
    KeySetUrl: Scalar(credentials.key_set_url, "a URL", {"type": "string", "pattern": "^https?://[^#@]+$"}),
    San: Scalar(
        credentials.san, "a name of a certificate", {"type": "string", "pattern": "^(dns|email|uri):[^*]+$"}
    ),
    HeaderName: Scalar(
        credentials.header_name, "the name of a header", {"type": "string", "pattern": "^[A-Za-z0-9-]{1,64}$"}
    ),
    UserName: Scalar(credentials.user_name, "a user", {"type": "string", "minLength": 1, "maxLength": 255}),
    HostPattern: Scalar(places.host, "a host", _TEXT_SCHEMA),
    Near: Scalar(places.near, "a network or an address", _TEXT_SCHEMA),
    str: Scalar(_text, "text", {"type": "string", "maxLength": MAX_TEXT_CHARACTERS}),
}
