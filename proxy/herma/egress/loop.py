"""An event loop that connects to judged addresses only.

A name is resolved once, its addresses are judged, and exactly these are what the connection is made to: between the check and
the connect there is no second answer of a name server (DNS rebinding).
"""

import asyncio
import ipaddress
import socket
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, override

from herma.policy.address import Address

__all__ = ["JudgedLoop", "NotJudgedError"]

# Names whose judged addresses are remembered; a connection that takes longer than so many others asks again.
MAX_PINS: Final = 4096
RESOLVE_TIMEOUT_S: Final = 10.0
# All addresses of a destination together; the kernel alone would try for two minutes.
CONNECT_TIMEOUT_S: Final = 15.0


class NotJudgedError(OSError):
    """Somebody connects to a name whose addresses nobody has judged."""


class JudgedLoop(asyncio.SelectorEventLoop):
    """Resolves names for the gate, and for connections only what the gate has allowed."""

    def __init__(self) -> None:
        super().__init__()
        self._pins: OrderedDict[tuple[str, int], tuple[Address, ...]] = OrderedDict()

    async def resolve(self, host: str, port: int) -> tuple[Address, ...]:
        """Give the addresses of a name.

        Raises:
            OSError: it has none, or nobody answers in time.
        """
        try:
            async with asyncio.timeout(RESOLVE_TIMEOUT_S):
                found = await super().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (TimeoutError, UnicodeError) as error:
            raise OSError("the name does not resolve") from error
        return tuple(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))

    def pin(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        """Let connections to a host lead to these addresses from now on."""
        self._pins[host, port] = tuple(addresses)
        self._pins.move_to_end((host, port))
        if len(self._pins) > MAX_PINS:
            self._pins.popitem(last=False)

    @override
    async def getaddrinfo(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        """Answer a connection that is being made."""
        del type, proto, flags
        addresses = self._pins.get((host, port))
        if addresses is None:
            raise NotJudgedError("the destination was not judged")
        return [_entry(address, port) for address in addresses if family in {0, _family(address)}]

    @override
    async def create_connection(self, *args: Any, **kwargs: Any) -> Any:
        """Connect to the addresses of a destination, within a time."""
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            return await super().create_connection(*args, **kwargs)


def _family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6


def _entry(address: Address, port: int) -> tuple[int, int, int, str, tuple[Any, ...]]:
    place = (str(address), port) if address.version == 4 else (str(address), port, 0, 0)
    return _family(address), socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place
