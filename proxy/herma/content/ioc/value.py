"""Judges the value of an indicator: it must mean what it is said to be, and must not match what everybody uses."""

import re
from ipaddress import IPv6Network

from herma.content.ioc.known import EMPTY_DIGESTS, GLOBAL_V6, RESERVED, SUFFIXES, is_local
from herma.policy.address import parse_address
from herma.policy.indicator import Indicator, Matching
from herma.policy.indicator.literal import bounded_pattern
from herma.policy.indicator.name import ascii_name
from herma.policy.indicator.network import parse_network
from herma.policy.indicator.url import parse_locator

__all__ = ["DIGEST_CHARS", "judge_value", "normal_value"]

MAX_VALUE_CHARS = 2048
MIN_TEXT_CHARS = 4
# A network of one provider, at most: 65,536 addresses of IPv4, one customer's share of IPv6.
MIN_PREFIX_V4 = 16
MIN_PREFIX_V6 = 32
DIGEST_CHARS = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@([\w.-]{3,253})", re.ASCII)
_ECOSYSTEM = re.compile(r"[a-z0-9][a-z0-9-]{1,31}")


def judge_value(indicator: Indicator, kind: str) -> None:
    """Accept a value, or say what is wrong with it.

    Raises:
        ValueError: it is malformed, means nothing, or would match what everybody uses.
    """
    value = indicator.value
    if len(value) > MAX_VALUE_CHARS or not value.isprintable() or value != value.strip():
        raise ValueError(f"a value has at most {MAX_VALUE_CHARS} printable characters, no blanks around them")
    match indicator.matching:
        case Matching.ADDRESS:
            _judge_network(value)
        case Matching.DOMAIN:
            _judge_domain(value)
        case Matching.URL:
            _judge_url(value)
        case Matching.EMAIL:
            _judge_email(value)
        case Matching.REGEX:
            bounded_pattern(value)
        case Matching.PACKAGE | Matching.SCOPE:
            if not _ECOSYSTEM.fullmatch(indicator.ecosystem):
                raise ValueError("a package needs its ecosystem, such as npm")
        case _:
            _judge_text(value, kind)


def _judge_network(value: str) -> None:
    network, _ = parse_network(value)
    if isinstance(network, IPv6Network):
        unsafe = not network.subnet_of(GLOBAL_V6) or network.prefixlen < MIN_PREFIX_V6
    else:
        unsafe = network.prefixlen < MIN_PREFIX_V4 or any(map(network.overlaps, RESERVED))
    if unsafe:
        raise ValueError("the address is loopback, private, link-local, reserved or too wide")


def _judge_domain(value: str) -> None:
    name, colon, port = value.partition(":")
    if colon and not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65_536):
        raise ValueError("expected a port from 1 to 65535 behind the colon")
    if name != name.lower():
        raise ValueError("a domain is written lower-case")
    _judge_name(name)


def _judge_name(name: str) -> None:
    name = ascii_name(name)
    labels = name.split(".")
    if len(labels) < 2 or len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("a domain has two labels at least, of letters, digits and dashes")
    if parse_address(name) is not None or labels[-1].isdigit():
        raise ValueError("an address is no domain")
    if name in SUFFIXES:
        raise ValueError("the name of a registry or hosting service says nothing about who uses it")
    if is_local(name):
        raise ValueError("the name means something on a local network only")


def _judge_url(value: str) -> None:
    host = parse_locator(value).host
    if (address := parse_address(host)) is not None:
        _judge_network(str(address))
    else:
        _judge_name(host)


def _judge_email(value: str) -> None:
    match = _EMAIL.fullmatch(value)
    if match is None:
        raise ValueError("expected an e-mail address")
    _judge_name(match[1].lower())


def _judge_text(value: str, kind: str) -> None:
    if len(value) < MIN_TEXT_CHARS:
        raise ValueError("the value is too short to mean anything")
    if kind in DIGEST_CHARS:
        if not re.fullmatch(rf"[0-9a-fA-F]{{{DIGEST_CHARS[kind]}}}", value):
            raise ValueError(f"expected {DIGEST_CHARS[kind]} hexadecimal digits")
        if value.lower() in EMPTY_DIGESTS or len(set(value.lower())) == 1:
            raise ValueError("the digest is that of an empty file, or none at all")


def normal_value(indicator: Indicator) -> str:
    """Write a value in one way, so that two lists that mean the same are seen to."""
    match indicator.matching:
        case Matching.ADDRESS:
            network, number = parse_network(indicator.value)
            return f"{network} {number or ''}"
        case Matching.DOMAIN:
            name, colon, port = indicator.value.partition(":")
            return ascii_name(name) + colon + port
        case Matching.URL:
            return repr(parse_locator(indicator.value))
        case Matching.CASEFOLD | Matching.WORD | Matching.EMAIL | Matching.PACKAGE | Matching.SCOPE:
            return indicator.value.lower()
        case _:
            return indicator.value
