"""A request or a message that the agent sent or would send, as somebody wrote it down."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from herma.policy.address import Address

__all__ = ["Recorded", "at_url"]

# A scheme, an authority and what is sent of the rest; a fragment stays with whoever has it.
_URL: Final = re.compile(r"(https?|wss?)://([^/?#\s]+)((?:/[^?#\s]*)?(?:\?[^#\s]*)?)(?:#.*)?", re.IGNORECASE)
_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request, or with `message` one message of a WebSocket that was opened at `target`.

    `authority` is the host as it was written, with `default_port` where that names none; `body` is None when it was not recorded, and
    `packed` when it is as it travels, in the content coding that the headers tell. `addresses` are those the host had.
    """

    authority: str
    default_port: int
    method: str
    target: bytes = field(repr=False)
    headers: Sequence[tuple[bytes, bytes]] = field(repr=False, default=())
    body: bytes | None = field(repr=False, default=b"")
    packed: bool = False
    message: bool = False
    addresses: tuple[Address, ...] = ()

    def header(self, name: bytes) -> bytes:
        """Give the value of a header; of several, all; nothing where it is not there."""
        return b", ".join(value for found, value in self.headers if found.lower() == name)


def at_url(url: str) -> tuple[str, int, bytes]:
    """Take a URL apart: the authority, the port of its scheme, and the target of the request.

    Raises:
        ValueError: it is no URL that a program sends a request to.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise ValueError("expected a URL of http, https, ws or wss, without blanks")
    scheme, authority, target = found.groups()
    if "@" in authority:
        raise ValueError("leave the credentials in the URL out: they travel in a header, which is not judged")
    path = target if target.startswith("/") else f"/{target}"
    return authority, _PORTS[scheme.lower()], path.encode("utf-8", "surrogatepass")
