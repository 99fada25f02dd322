"""Names that hold an address: services that answer `43-228-79-77.sslip.io` with 43.228.79.77, and clouds that name hosts so.

Whoever resolves such a name goes to the address; it is judged as the address.
"""

import re
from ipaddress import IPv4Address, IPv6Address

__all__ = ["named_address", "written_in_names"]

# Services that answer with the address in the name (their own documentation), and providers' names of hosts.
_SERVICES = (
    ".nip.io",
    ".sslip.io",
    ".xip.io",
    ".traefik.me",
    ".backname.io",
    ".local-ip.co",
    ".local-ip.sh",
    ".plex.direct",
    ".rbndr.us",
    ".1u.ms",
    ".ip.linodeusercontent.com",
    ".amazonaws.com",
)
# The same with the parts in the order of reverse lookups.
_REVERSED = (".bc.googleusercontent.com", ".clients.your-server.de")
# Names that everybody may use for 127.0.0.1, and whatever lies below them.
_LOOPBACK = (".localtest.me", ".lvh.me", ".vcap.me", ".lacolhost.com", ".localho.st")
_HELD = (*_SERVICES, *_REVERSED)
_KNOWN = (*_HELD, *_LOOPBACK)

_QUAD = re.compile(r"(?<![0-9a-z])([0-9]{1,3})[.-]([0-9]{1,3})[.-]([0-9]{1,3})[.-]([0-9]{1,3})(?![0-9])")
_HEX = re.compile(r"(?:^|[.-])([0-9a-f]{8})(?=[.-])")
# `2a01-4f8--2.sslip.io`: colons are no part of names.
_DASHED_V6 = re.compile(r"(?:^|\.)([0-9a-f]{0,4}(?:-[0-9a-f]{0,4}){2,7})(?=\.)")


def named_address(name: str) -> IPv4Address | IPv6Address | None:
    """Give the address that a lower-case host name stands for; None for a name that holds none."""
    name = name.removesuffix(".")
    if not name.endswith(_KNOWN) and f".{name}" not in _LOOPBACK:
        return None
    if not name.endswith(_HELD):
        return IPv4Address("127.0.0.1")
    if (quad := _QUAD.search(name)) is not None:
        parts = [int(part) for part in quad.groups()]
        if max(parts) < 256:
            return IPv4Address(bytes(reversed(parts) if name.endswith(_REVERSED) else parts))
    if (digits := _HEX.search(name)) is not None:
        return IPv4Address(int(digits[1], 16))
    dashed = _DASHED_V6.search(name)
    try:
        return IPv6Address(dashed[1].replace("-", ":")) if dashed is not None else None
    except ValueError:
        return None


def written_in_names(address: IPv4Address) -> tuple[str, ...]:
    """Give how such names write an address, for a first look at raw text; dotted apart, which is the address itself."""
    parts = str(address).split(".")
    return ("-".join(parts), f"{int(address):08x}", ".".join(reversed(parts)), "-".join(reversed(parts)))
