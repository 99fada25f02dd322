"""HTTP/1.1 on the wire: a server, an upstream client, tunnels. It knows framing and deadlines, and no policy."""

from herma.wire.census import Census
from herma.wire.failures import (
    BodyMalformed,
    BodyTimeout,
    BodyTooLarge,
    Disconnected,
    RequestFailure,
    SlowReader,
    UpstreamError,
    UpstreamFailure,
)
from herma.wire.frames import Frames, Message
from herma.wire.limits import PoolLimits, ServerLimits
from herma.wire.listener import Handler, WireError
from herma.wire.loop import run
from herma.wire.messages import Fields, Headers, Peer, RequestHead, ResponseHead, TcpAddress, UnixAddress
from herma.wire.pool import Pool
from herma.wire.request import ServerRequest
from herma.wire.response import UpstreamResponse
from herma.wire.server import Server
from herma.wire.tls import ListenerContext, client_context, renew, server_context
from herma.wire.tunnel import Between, Tunnel, TunnelEnd, splice

__all__ = [
    "Between",
    "BodyMalformed",
    "BodyTimeout",
    "BodyTooLarge",
    "Census",
    "Disconnected",
    "Fields",
    "Frames",
    "Handler",
    "Headers",
    "ListenerContext",
    "Message",
    "Peer",
    "Pool",
    "PoolLimits",
    "RequestFailure",
    "RequestHead",
    "ResponseHead",
    "Server",
    "ServerLimits",
    "ServerRequest",
    "SlowReader",
    "TcpAddress",
    "Tunnel",
    "TunnelEnd",
    "UnixAddress",
    "UpstreamError",
    "UpstreamFailure",
    "UpstreamResponse",
    "WireError",
    "client_context",
    "renew",
    "run",
    "server_context",
    "splice",
]
