"""Names of hosts in lists: `api.example.com`, `*.example.com` for every name below it, and each with a port.

Names are compared label by label in their ASCII form, so that `evil-example.com` is not below `example.com`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from herma.policy.address import parse_address
from herma.policy.indicator.name import ascii_name

__all__ = ["HostPattern", "covered"]

_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


@dataclass(frozen=True, slots=True)
class HostPattern:
    """One host, or with `below` all names below one; any port where `port` is None.

    `name` is an ASCII name in lower case, or an address as `ipaddress` writes it.
    """

    name: str
    below: bool = False
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `name`, `*.name`, `address`, `[IPv6]`, each with `:port` or without.

        Raises:
            ValueError: it is none of these; a lone `*` and a top-level domain would be everybody.
        """
        name, port = _parted(text)
        if text.startswith("[") and ":" not in name:
            raise ValueError("expected an IPv6 address between the brackets")
        below = name.startswith("*.")
        name = ascii_name(name.removeprefix("*."))
        address = parse_address(name)
        if address is not None and not below:
            return cls(str(address), port=port)
        if address is not None or not _NAME.fullmatch(name) or (below and "." not in name):
            raise ValueError("expected a host as in `api.example.com`, `*.example.com` or `192.0.2.7:443`")
        return cls(name, below, port)

    def covers(self, name: str, port: int) -> bool:
        """Tell whether a host is meant: its name as `ascii_name` writes it, or its address."""
        if self.port not in {None, port}:
            return False
        return name.endswith(f".{self.name}") if self.below else name == self.name


def _parted(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
        if not closed:
            raise ValueError("expected a bracket behind the address")
        colon, digits = rest[:1], rest[1:]
    elif text.count(":") == 1:
        name, colon, digits = text.partition(":")
    else:
        name, colon, digits = text, "", ""
    if not colon and not digits:
        return name, None
    if colon != ":" or not (
        digits.isascii() and digits.isdigit() and len(digits) < 6 and 0 < int(digits) < 65536
    ):
        raise ValueError("expected a port from 1 to 65535 behind the colon")
    return name, int(digits)


def covered(patterns: Iterable[HostPattern], name: str, port: int) -> bool:
    """Tell whether one of the patterns means a host."""
    return any(pattern.covers(name, port) for pattern in patterns)
