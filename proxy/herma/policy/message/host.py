"""Which names the gate answers to, and which origins may drive it from a browser.

DNS rebinding: a page on `attacker.tld` lets its name resolve to 127.0.0.1 and talks to the gate as if it were itself.
Only the names that the operator listed (and, on loopback, the loopback names) are answered; a wrong `Host` is 421, a
foreign `Origin` is 403. The one source of the own name is the `Host` policy, never a forwarded header.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from herma.policy.decision import Deny
from herma.policy.message.authority import parse_authority
from herma.policy.message.canonical import Head

__all__ = ["HOST_UNKNOWN", "HostPolicy", "judge_origin", "normal_origin", "normal_origins"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
# Fetch metadata: what a browser says when it sends no Origin. Node clients send `Sec-Fetch-Mode: cors` and nothing
# else, so the mode is never looked at.
_FOREIGN_SITES = frozenset({b"cross-site", b"same-site"})


HOST_UNKNOWN = Deny(
    421, "herma.request.host_unknown", "This gate does not answer to that Host; see listen.public_names."
)


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The names that lead to one upstream at one listener.

    `names` are exact (host, port) pairs; a port of None means the default ports. On a `loopback` listener the loopback
    names with the listener's own `port` are answered too. A listener that is neither loopback nor has names answers
    to addresses with its own port only: an address cannot be rebound.
    """

    names: frozenset[tuple[str, int | None]]
    loopback: bool
    port: int | None = None

    def allows(self, host: str, port: int | None) -> bool:
        """Tell whether the listener answers to this `Host`."""
        if (host, port) in self.names:
            return True
        if port in {80, 443} and (host, None) in self.names:
            return True
        if port is None and not self.names.isdisjoint({(host, 80), (host, 443)}):
            return True
        if self.loopback:
            return host in _LOOPBACK and self._own_port(port)
        return not self.names and (host == "localhost" or _is_address(host)) and self._own_port(port)

    def own_origin(self, origin: str, head: Head) -> bool:
        """Tell whether an origin, as `normal_origin` spells it, is what these names lead to.

        A TLS terminator in front of us makes the scheme https where we see http: both schemes are ours. The port has
        to fit: `https://app:8000` is not `app`. Where any address is answered to, ours is the one that the request itself went
        to, as its `Host` says: a browser writes both, and the page of another address has another origin.
        """
        scheme, _, rest = origin.partition("://")
        authority = parse_authority(rest)
        if scheme not in _DEFAULT_PORTS or authority is None:
            return False
        port = authority.port or _DEFAULT_PORTS[scheme]
        named = (authority.host, port) in self.names
        default = authority.port is None and (authority.host, None) in self.names
        local = self.loopback and authority.host in _LOOPBACK and port == self.port
        itself = not self.names and authority.host == head.host and authority.port == head.port
        return named or default or local or (itself and self.allows(head.host, head.port))

    def _own_port(self, port: int | None) -> bool:
        if port is None:
            return self.port is None or self.port in {80, 443}
        return port == self.port


def judge_origin(head: Head, policy: HostPolicy, origins: Sequence[str]) -> Deny | None:
    """Refuse a request that a foreign page made.

    Allowed are no origin at all, the listener's own and the configured `origins`. `null` (a sandboxed frame, a file)
    never is.
    """
    origin = head.get(b"origin")
    if origin is not None:
        normal = normal_origin(origin.decode("latin-1"))
        if normal is not None and (
            normal in normal_origins(tuple(origins)) or policy.own_origin(normal, head)
        ):
            return None
    elif head.method in _SAFE or head.get(b"sec-fetch-site") not in _FOREIGN_SITES:
        return None
    return Deny(403, "herma.request.origin", "Requests from this origin are not allowed; see cors.origins.")


def normal_origin(text: str) -> str | None:
    """Give an origin (RFC 6454 section 6.1) its one spelling; None when it is no origin, or `null`.

    Scheme and host in lower case, without the scheme's default port. Other schemes than http and https (browser
    extensions, desktop shells) are compared as text.
    """
    scheme, mark, rest = text.strip().lower().partition("://")
    if not mark or not scheme or not rest or not text.isascii() or not set("/?#@ \t\\").isdisjoint(rest):
        return None
    if scheme not in _DEFAULT_PORTS:
        return f"{scheme}://{rest}"
    authority = parse_authority(rest)
    if authority is None:
        return None
    host = f"[{authority.host}]" if ":" in authority.host else authority.host
    default = authority.port is None or authority.port == _DEFAULT_PORTS[scheme]
    return f"{scheme}://{host}" if default else f"{scheme}://{host}:{authority.port}"


@lru_cache(maxsize=16)  # one entry for each listener's configuration, and for those before a reload
def normal_origins(texts: tuple[str, ...]) -> frozenset[str]:
    """Normalise configured origins; what is no origin, such as `*` or `null`, allows nothing."""
    return frozenset(normal for text in texts if (normal := normal_origin(text)) is not None)


def _is_address(host: str) -> bool:
    # parse_authority refused every number-like name that is not an address.
    return ":" in host or host.replace(".", "").isdecimal()
