"""The limits an operator sets; those that nobody should have to set stand beside the code they bound."""

from dataclasses import dataclass

__all__ = ["PoolLimits", "ServerLimits"]


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds of a listener. Zero connections (in all or per address) means no cap."""

    # From the first byte of a head, or from the accept, to its end.
    head_timeout_s: float = 10.0
    # Grace of a body; it grows with the bytes that arrived, see `request_body`.
    body_timeout_s: float = 30.0
    # Between two requests of one connection. Above a client's own pool time resets are rarer.
    idle_timeout_s: float = 75.0
    # Without any progress in draining what was written.
    send_timeout_s: float = 30.0
    max_headers: int = 100
    max_header_bytes: int = 32 * 1024
    max_target_bytes: int = 8 * 1024
    max_connections: int = 2048
    max_connections_per_address: int = 256


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Bounds of an upstream pool."""

    max_connections: int = 512
    connect_timeout_s: float = 5.0
    # How long a request waits for one of the connections before it fails as busy.
    acquire_timeout_s: float = 5.0
    # Below the idle time of the upstream (aiohttp: 75 s, uvicorn: 5 s), so that we are the side that closes.
    keepalive_s: float = 4.0
