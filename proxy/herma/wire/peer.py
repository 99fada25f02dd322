"""Who is at the other end of an accepted connection."""

import asyncio
import ssl
from typing import Any

from herma.wire.messages import Certificate, Peer
from herma.wire.tls import ListenerContext

__all__ = ["peer_of"]


def peer_of(transport: asyncio.Transport) -> Peer:
    """Return what the transport knows of the other side."""
    name = transport.get_extra_info("peername")
    local = transport.get_extra_info("sockname")
    tls = transport.get_extra_info("sslcontext") is not None
    certificate = _certificate(transport) if tls else None
    if not isinstance(name, tuple):
        return Peer("", 0, str(local or ""), tls, unix=True, certificate=certificate)
    return Peer(name[0], name[1], f"{local[0]}:{local[1]}", tls, unix=False, certificate=certificate)


def _certificate(transport: asyncio.Transport) -> Certificate | None:
    """Read the certificate that TLS has verified; of one that it has not it tells nothing."""
    said: dict[str, Any] | None = transport.get_extra_info("peercert")
    if not said:
        return None
    # After a renewal it is another one than the transport was made with.
    context = transport.get_extra_info("ssl_object").context
    authorities = context.authorities if isinstance(context, ListenerContext) else frozenset[bytes]()
    names = tuple((str(kind), str(name)) for kind, name in said.get("subjectAltName", ()))
    return Certificate(names, float(ssl.cert_time_to_seconds(said["notAfter"])), authorities)
