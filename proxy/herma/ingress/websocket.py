"""WebSocket connections: the handshake is judged like any request, then bytes pass both ways untouched."""

import base64
import hashlib
import hmac

from herma.config.settings import Settings
from herma.policy.message.canonical import Head
from herma.policy.message.forwarding import downstream_headers
from herma.wire import ServerRequest, UpstreamError, UpstreamFailure, UpstreamResponse, splice

__all__ = ["relay_tunnel"]

# RFC 6455 section 1.3.
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


async def relay_tunnel(
    request: ServerRequest, response: UpstreamResponse, head: Head, settings: Settings
) -> None:
    """Answer 101 and carry both directions until one side ends or nothing moves for the upstream's idle time.

    Raises:
        UpstreamError: the upstream's handshake does not answer the caller's, so it is no WebSocket; nothing was sent.
    """
    tunnel = response.upgrade
    accept = {name.lower(): value for name, value in response.head.headers}.get(b"sec-websocket-accept", b"")
    if tunnel is None or not hmac.compare_digest(accept, _accept(head.get(b"sec-websocket-key") or b"")):
        raise UpstreamError(UpstreamFailure.PROTOCOL, "the upstream speaks no WebSocket", sent=True)
    headers = downstream_headers(101, response.head.headers, stream=False)
    await splice(request.switch(headers), tunnel, settings.upstream.idle_timeout_s)


def _accept(key: bytes) -> bytes:
    # SHA-1 is the protocol's; it proves that the peer speaks WebSocket, not who it is.
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())
