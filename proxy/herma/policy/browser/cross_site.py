"""Whether another site made the browser send a request: the guard of everything that a cookie authenticates.

A browser adds the cookie to requests that other pages make. `SameSite=Lax` stops some of these, and not those of a sibling
sub-domain, of another port, or those of two minutes after a login in some browsers. What a page cannot forge is `Origin` and
`Sec-Fetch-Site`. An `Origin` that is there decides alone; only in its absence the fetch metadata are asked.
"""

from dataclasses import dataclass

from herma.policy.decision import Deny
from herma.policy.message.canonical import Head
from herma.policy.message.host import HostPolicy, normal_origin

__all__ = ["Approach", "cross_site", "led_here"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FOREIGN_SITES = frozenset({b"cross-site", b"same-site"})
_DENIED = Deny(
    403, "herma.auth.cross_site", "A request with the gate's session has to come from the gate's own pages."
)
_LED = Deny(403, "herma.auth.cross_site", "A page of another site made the browser ask for this.")


@dataclass(frozen=True, slots=True)
class Approach:
    """How a request came: to which listener's names, by which scheme (`http` or `https`), and whether it is an upgrade.

    `shows` is False where a request does something, whatever its method is: then a link of another site may not lead there.
    """

    hosts: HostPolicy
    proto: str
    upgrade: bool
    shows: bool = True


def cross_site(head: Head, approach: Approach, *, programs: bool = False) -> Deny | None:
    """Refuse what another site made the browser send.

    What changes something, and every upgrade, has to show that a page of ours sent it. What only reads must not be shown to
    come from elsewhere; a link from elsewhere that a person follows is fine, where it shows something. With `programs`, what says neither whence nor how it
    was fetched is taken for no browser's: those say at least one of it over TLS, where certificates are.
    """
    origin = head.get(b"origin")
    if origin is not None:
        return None if _own(origin, head, approach) else _DENIED
    site = head.get(b"sec-fetch-site")
    if programs and site is None and head.get(b"sec-fetch-mode") is None:
        return None
    if head.method not in _SAFE or approach.upgrade:
        return None if site == b"same-origin" else _DENIED
    return _DENIED if _foreign(head, approach) else None


def led_here(head: Head, approach: Approach) -> Deny | None:
    """Refuse what another site made a browser ask for, where nobody has to say who they are.

    Whoever can reach such a gate is somebody, and a browser on the machine can: an image of any page is a request of its. An
    `Origin` is judged before, by the gate's names and those that the operator lists.
    """
    return _LED if head.get(b"origin") is None and _foreign(head, approach) else None


def _foreign(head: Head, approach: Approach) -> bool:
    followed = approach.shows and head.get(b"sec-fetch-mode") == b"navigate"
    return head.get(b"sec-fetch-site") in _FOREIGN_SITES and not followed


def _own(origin: bytes, head: Head, approach: Approach) -> bool:
    normal = normal_origin(origin.decode("latin-1"))
    # Whoever is on the network can make a page under our name without TLS.
    if normal is None or (approach.proto == "https" and not normal.startswith("https://")):
        return False
    return approach.hosts.own_origin(normal, head)
