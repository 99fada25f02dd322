"""The upstream client: the names its callers need."""

from herma.wire.failures import UpstreamError, UpstreamFailure
from herma.wire.limits import PoolLimits
from herma.wire.messages import TcpAddress, UnixAddress
from herma.wire.pool import Pool, UpstreamRequest
from herma.wire.response import UpstreamResponse
from herma.wire.tunnel import Tunnel, TunnelEnd, splice

__all__ = [
    "Pool",
    "PoolLimits",
    "TcpAddress",
    "Tunnel",
    "TunnelEnd",
    "UnixAddress",
    "UpstreamError",
    "UpstreamFailure",
    "UpstreamRequest",
    "UpstreamResponse",
    "splice",
]
