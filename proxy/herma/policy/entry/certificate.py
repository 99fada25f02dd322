"""Checks of certificates that an entry turns off, and authorities that everybody may write.

Whoever stands on the way to such a server answers in its place: what it lists as tools, and what is sent to it, is theirs.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from herma.policy.address import hosts, is_foreign
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.keys import fold
from herma.policy.entry.place import is_scratch, is_uploaded

__all__ = ["certificate_effects", "is_unchecked", "unchecked_settings"]

# Members that say whether certificates are checked, and others that say they are not.
_CHECKS = frozenset(
    {"sslverify", "verifyssl", "verify", "tlsverify", "verifytls", "verifycerts", "verifycertificate", "verifycertificates", "checkcertificate",
     "checkcertificates", "certificatecheck", "strictssl", "rejectunauthorized", "validatecerts", "verifypeer", "verifyhost", "sslverification",
     "tlsverification", "certverify", "sslcertverify"}
)  # fmt: skip
_UNCHECKS = frozenset(
    {"insecure", "insecureskipverify", "skiptlsverify", "tlsskipverify", "skipsslverify", "sslskipverify", "skipverify", "noverify", "noverifyssl",
     "sslnoverify", "allowinsecure", "insecuretls", "insecuressl", "acceptinvalidcerts", "dangeracceptinvalidcerts", "ignorecerterrors",
     "ignorecertificateerrors", "ignorehttpserrors", "ignoresslerrors", "disablesslverification", "disabletlsverification", "trustallcerts",
     "trustall", "nocheckcertificate", "trustselfsigned"}
)  # fmt: skip
_AUTHORITIES = frozenset(
    {"sslcacert", "cacert", "cafile", "cabundle", "sslcertfile", "sslca", "verify", "sslverify"}
)
# Members that hold such members.
_AROUND = frozenset(
    {"tls", "ssl", "https", "http", "client", "clientkwargs", "options", "transportoptions", "httpclient"}
)
_OFF = frozenset({"false", "0", "no", "off", "none", "disabled", "never", "certnone"})
_ON = frozenset({"true", "1", "yes", "on", "always", "enabled"})


def certificate_effects(fields: Mapping[str, Any]) -> Iterator[str]:
    """Give what the members of a server entry say of certificates, by the host that it leads to."""
    url = fields.get("url")
    if not isinstance(url, str) or not url.strip():
        return
    for authority in _authorities(fields):
        if is_scratch(authority) or is_uploaded(authority):
            yield "url:authority"
    if not is_unchecked(fields):
        return
    found = [host for host in hosts(url) if host.scheme]
    if any(is_foreign(host) and host.address is not None for host in found):
        yield "url:unchecked:raw"
    elif not found or any(map(is_foreign, found)):
        # Also where the host is filled in later.
        yield "url:unchecked"


def unchecked_settings(path: tuple[str, ...], members: Mapping[str, Any], place: str) -> Iterator[Entry]:
    """Give the setting that a mapping below servers or providers is, if it turns the check off and leads to no host at home.

    A server with its address or its command is judged as a server.
    """
    if _CONNECTED.isdisjoint(path) or path[-1] in _AROUND or not is_unchecked(members):
        return
    if not _SERVERS.isdisjoint(path) and ("url" in members or "command" in members):
        return
    texts = " ".join(value for value in members.values() if isinstance(value, str))
    found = [host for host in hosts(texts) if host.scheme]
    if not found or any(map(is_foreign, found)):
        yield Entry("", {"setting": "ssl_verify", "value": "false"}, place, Kind.SETTING)


# Keys below which connections stand, and among them those of servers.
_SERVERS = frozenset({"mcpservers", "mcp"})
_CONNECTED = _SERVERS | {"providers", "customproviders", "model", "auxiliary", "delegation"}


def is_unchecked(members: Mapping[str, Any]) -> bool:
    """Tell whether a mapping, or one in it that is about connections, turns the check of certificates off."""
    for name, value in _members(members):
        told = str(value).strip().lower() if isinstance(value, (str, bool, int)) else ""
        if (name in _CHECKS and told in _OFF) or (name in _UNCHECKS and told in _ON):
            return True
    return False


def _authorities(fields: Mapping[str, Any]) -> Iterator[str]:
    yield from (
        value.strip().lower()
        for name, value in _members(fields)
        if name in _AUTHORITIES and isinstance(value, str)
    )


def _members(members: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in members.items():
        name = fold(key)
        yield name, value
        if name in _AROUND and isinstance(value, Mapping):
            yield from ((fold(inner), held) for inner, held in value.items())
