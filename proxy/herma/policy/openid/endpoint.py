"""Which addresses of an identity provider are asked: https, or http at a loopback address.

Only an issuer that is on this machine may have endpoints there: a document from elsewhere must not send the gate to services
that listen on loopback.
"""

import ipaddress
import re

from herma.policy.message.authority import parse_authority

__all__ = ["MAX_URL_CHARACTERS", "discovery_url", "is_endpoint", "is_issuer", "is_local"]

# Longer ones are no endpoint of anybody's.
MAX_URL_CHARACTERS = 2048

# RFC 3986 without `#` (a fragment is never sent), and without what browsers and servers read differently.
_URL = re.compile(
    r"(https?)://([^/?]+)((?:/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?)(\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)


def is_issuer(text: str) -> bool:
    """Tell whether it can be an issuer's identifier: a URL without query and fragment (OpenID Connect Discovery, section 3)."""
    return "?" not in text and is_endpoint(text, local=True)


def is_local(url: str) -> bool:
    """Tell whether what the URL names is on this machine."""
    found = _URL.fullmatch(url)
    authority = parse_authority(found[2]) if found else None
    return authority is not None and (authority.host == "localhost" or _is_loopback(authority.host))


def is_endpoint(text: str, *, local: bool) -> bool:
    """Tell whether the gate may ask there, or send a browser there; `local` allows this machine, also without TLS."""
    found = _URL.fullmatch(text) if len(text) <= MAX_URL_CHARACTERS else None
    authority = parse_authority(found[2]) if found else None
    if found is None or authority is None:
        return False
    # A name may lead elsewhere some day, `localhost` too: without TLS only an address will do.
    secure = found[1] == "https" or _is_loopback(authority.host)
    return secure and (local or not is_local(text))


def discovery_url(issuer: str) -> str:
    """Return where an issuer describes itself (OpenID Connect Discovery, section 4)."""
    return f"{issuer.removesuffix('/')}/.well-known/openid-configuration"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
