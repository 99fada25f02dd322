"""Hosts in text: an address in any spelling a resolver takes, and names by label.

`inet_aton(3)` reads `0x2b.0xe4.79.77`, `736382797` and `43.14962509` as addresses; browsers and curl do too. Comparing text
would miss them all, and a text prefix such as `60.165.167.` also lies inside `160.165.167.1`.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network

from herma.policy.text.shape import Shape
from herma.policy.text.views import rewritten
from herma.policy.wildcard_dns import named_address

__all__ = ["Address", "Host", "hosts", "is_foreign", "is_metadata", "parse_address", "spellings", "url_host"]

type Address = IPv4Address | IPv6Address

_PART = re.compile(r"0[xX]0{0,16}[0-9a-fA-F]{1,8}|0{1,16}[0-7]{1,11}|[0-9]{1,12}")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20}):/{2,4}([^/\s?#\"'<>\\|;]{1,512})")
_NUMERIC = re.compile(
    r"(?<![\w.])(?:(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,12})(?:\.(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,12})){1,3}|[0-9]{8,10}"
    r"|0{1,16}[0-7]{9,11}|0[xX]0{0,16}[0-9a-fA-F]{7,8})(?::([0-9]{1,5}))?(?![\w])"
)
_BRACKETED = re.compile(r"\[([0-9a-fA-F:.]{2,45})(?:%25?\w{1,16})?\](?::([0-9]{1,5}))?")
_BARE = re.compile(r"(?<![\w:.])((?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F.]{0,15})(?![\w:])")
_NAME = re.compile(
    # A part of a path is none, as in `docs.example.com/named.example.org`.
    r"(?:(?<=//)|(?<![\w./-]))((?:[\w-]{1,63}\.){1,10}[^\W\d_][\w-]{1,62})\.?(?::([0-9]{1,5}))?",
    re.UNICODE,
)
# What a text has that names a host in one of these ways: told in a tenth of the time that looking for one takes.
_POINT_DIGIT = re.compile(r"\.[0-9]")
_POINT_LETTER = re.compile(r"\.[^\W\d_]")
_LONG_NUMBER = Shape({"0": "0123456789"}, "0" * 8, ascii_only=True)
_ESCAPED = re.compile(r"%([0-9a-fA-F]{2})")
# Signs that grow to a sentence when they are normalised are no part of a name.
_DOTS = dict(zip("\u3002\uff0e\uff61\ufdfa\ufdfb", "...  ", strict=True))

# Instance metadata of the clouds: link-local for AWS, Azure, GCP, Oracle, DigitalOcean; 100.100.100.200 for Alibaba;
# 192.0.0.192 for Oracle classic; fd00:ec2::254 for AWS on IPv6; 168.63.129.16 for Azure's host.
_METADATA_V4 = (
    IPv4Network("169.254.0.0/16"),
    IPv4Network("100.100.100.200/32"),
    IPv4Network("192.0.0.192/32"),
    IPv4Network("168.63.129.16/32"),
)
_METADATA_V6 = IPv6Address("fd00:ec2::254")
_METADATA_NAMES = frozenset(
    {
        "metadata.google.internal",
        "metadata",
        "metadata.azure.internal",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.goog",
        "metadata.internal",
        "metadata.oraclecloud.com",
        "metadata.platformequinix.com",
        "metadata.packet.net",
        "api.metadata.cloud.ibm.com",
        "rancher-metadata",
    }
)
_NAT64 = int(IPv6Address("64:ff9b::")) >> 32


@dataclass(frozen=True, slots=True)
class Host:
    """A host found in text: its name in lower case, the address it spells or holds, the port if one is given."""

    name: str
    address: Address | None = None
    port: int | None = None
    scheme: str = ""
    userinfo: bool = False


def parse_address(text: str) -> Address | None:
    """Read an address as a resolver would; None for a name."""
    text = _plain(text).strip("[]").split("%", 1)[0]
    if ":" in text:
        try:
            return _embedded(IPv6Address(text))
        except ValueError:
            return None
    parts = text.removesuffix(".").split(".")
    if len(parts) > 4 or not all(_PART.fullmatch(part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    if None in numbers:
        return None
    *leading, last = [number for number in numbers if number is not None]
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        return None
    value = last
    for index, number in enumerate(leading):
        value |= number << (24 - 8 * index)
    return IPv4Address(value)


def _number(part: str) -> int | None:
    if part[:2] in {"0x", "0X"}:
        return int(part, 16)
    if len(part) > 1 and part.startswith("0"):
        return int(part, 8) if not set(part) & {"8", "9"} else None
    return int(part)


def _embedded(address: IPv6Address) -> Address:
    """Give the IPv4 address inside a mapped, 6to4 or NAT64 one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    value = int(address)
    return IPv4Address(value & 0xFFFFFFFF) if value >> 32 in {_NAT64, 0} and value > 1 else address


def _plain(text: str) -> str:
    if "%" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", rewritten(text, _DOTS))
    return text.lower()


def url_host(authority: str, scheme: str = "") -> Host | None:
    """Take a URL's authority apart: `user@host:port`."""
    authority = _plain(authority)
    _before, at, rest = authority.rpartition("@")
    rest = rest.strip()
    name, port = rest, ""
    if rest.startswith("["):
        name, _, tail = rest[1:].partition("]")
        port = tail.removeprefix(":")
    elif rest.count(":") == 1:
        name, _, port = rest.partition(":")
    if not name.strip("."):
        return None
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None
    return Host(
        name.removesuffix("."), parse_address(name) or named_address(name), number, scheme.lower(), bool(at)
    )


def hosts(text: str) -> Iterator[Host]:
    """Give the hosts a text names, each once: of URLs, bare addresses in any spelling, bare names.

    All of them: behind any number of others stands the one that counts. Who asks bounds the text.
    """
    text = _plain(text)
    for match in _each(_URL, text) if ":/" in text else ():
        host = url_host(match[2], match[1])
        if host is not None:
            yield host
    numeric = _POINT_DIGIT.search(text) or "0x" in text or _LONG_NUMBER.may_match(text)
    for pattern in (_NUMERIC, _BRACKETED) if numeric else (_BRACKETED,):
        for match in _each(pattern, text):
            name = match[0] if pattern is _NUMERIC else match[1]
            name = name.split(":")[0] if pattern is _NUMERIC else name
            if (address := parse_address(name)) is not None:
                yield Host(name, address, _port(match[match.re.groups]))
    for match in _each(_BARE, text) if text.count(":") > 1 else ():
        # A sentence may end behind an address.
        name = match[1].removesuffix(".")
        if (address := parse_address(name)) is not None:
            yield Host(name, address)
    for match in _each(_NAME, text) if _POINT_LETTER.search(text) else ():
        yield Host(match[1], named_address(match[1]), _port(match[2]))


def _each(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Give what a pattern finds; what a text says again is the same host."""
    said: set[str] = set()
    for match in pattern.finditer(text):
        if match[0] not in said:
            said.add(match[0])
            yield match


def _port(digits: str | None) -> int | None:
    return int(digits) if digits else None


def is_metadata(host: Host) -> bool:
    """Tell whether a host is a cloud's metadata service or anything link-local."""
    if host.address is None:
        return host.name in _METADATA_NAMES or host.name.startswith("instance-data.")
    if isinstance(host.address, IPv4Address):
        return any(host.address in network for network in _METADATA_V4)
    return host.address == _METADATA_V6 or host.address.is_link_local


def is_foreign(host: Host) -> bool:
    """Tell whether a host lies outside this machine and its neighbourhood; a name that is not known yet does not."""
    if host.address is not None:
        return not any(
            host.address in network for network in _NEAR if network.version == host.address.version
        )
    return "." in host.name and "$" not in host.name and not host.name.endswith(_NEAR_NAMES)


# Private ranges, loopback, shared address space (Tailscale), link-local. Documentation ranges are not near: in a rule's
# example they stand for anybody.
_NEAR = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "::/128",
        "fc00::/7",
        "fe80::/10",
    )
)
_NEAR_NAMES = (
    ".local",
    ".localhost",
    ".localdomain",
    ".lan",
    ".internal",
    ".home",
    ".arpa",
    ".intranet",
    ".corp",
    ".svc",
    ".ts.net",
)


def spellings(address: str) -> tuple[str, ...]:
    """Give the usual spellings of an IPv4 address, lower-case, for a first look at raw text."""
    parsed = ip_address(address)
    if not isinstance(parsed, IPv4Address):
        return (str(parsed), parsed.exploded)
    value = int(parsed)
    a, b, c, d = parsed.packed
    return (
        str(parsed),
        str(value),
        f"0x{value:08x}",
        f"0{value:o}",
        f"{a}.{value & 0xFFFFFF}",
        f"{a}.{b}.{value & 0xFFFF}",
        ".".join(f"0x{part:x}" for part in (a, b, c, d)),
        ".".join(f"0x{part:02x}" for part in (a, b, c, d)),
        ".".join(f"0{part:o}" for part in (a, b, c, d)),
        ".".join(f"{part:04o}" for part in (a, b, c, d)),
        f"{value >> 16:x}:{value & 0xFFFF:x}",
    )
