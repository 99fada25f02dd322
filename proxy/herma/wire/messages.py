"""What travels: heads, peers and addresses. Bytes stay as they were sent; nothing here is interpreted."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Certificate",
    "Fields",
    "Headers",
    "Peer",
    "RequestHead",
    "ResponseHead",
    "TcpAddress",
    "UnixAddress",
]

type Headers = tuple[tuple[bytes, bytes], ...]
type Fields = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request; header names as sent, values without the white space around them."""

    method: bytes
    target: bytes
    version: str
    headers: Headers


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of an answer; header names as sent, values without the white space around them."""

    status: int
    reason: bytes
    headers: Headers


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a verified certificate says: its alternative names, each with its kind, and until when it holds (since 1970).

    `authorities` are those that were trusted when it was verified, as hashes.
    """

    names: tuple[tuple[str, str], ...]
    not_after: float
    authorities: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end of a connection; `address` is empty on a unix socket.

    `certificate` is the other side's own, once its chain was verified.
    """

    address: str
    port: int
    local: str
    tls: bool
    unix: bool
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """An upstream by name or IP address; a name is resolved anew for every connection."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """An upstream that listens on a unix socket."""

    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"
