"""TLS of a listener, and towards an upstream."""

import asyncio
import hashlib
import re
import ssl
from pathlib import Path

__all__ = ["ListenerContext", "client_context", "renew", "said_goodbye", "server_context"]

_ALPN = ["http/1.1"]
_PEM_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class ListenerContext(ssl.SSLContext):
    """The context of a listener; `authorities` has a hash of each that it takes clients' certificates from."""

    authorities: frozenset[bytes] = frozenset()


def server_context(
    cert: str, key: str, *, client_ca: str | None = None, required: bool = True
) -> ListenerContext:
    """Make the context of a listener: TLS 1.2 or newer, HTTP/1.1 by ALPN.

    Args:
        cert: path of a PEM file with the certificate and its chain.
        key: path of a PEM file with the private key, without a passphrase.
        client_ca: path of a PEM file with the authorities of clients' certificates; without it none is asked for.
        required: whether who has no certificate is not connected.

    Raises:
        OSError: a file cannot be read, or (`ssl.SSLError`) holds no matching pair.
    """
    context = ListenerContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(_ALPN)
    # An empty passphrase: a key that needs one is an error, not a prompt on a terminal nobody looks at.
    context.load_cert_chain(cert, key, password=b"")
    if client_ca is not None:
        # Read before it is loaded: if the file changes in between, the old names stand for the new ones, and not the reverse.
        context.authorities = _blocks(Path(client_ca).read_bytes())
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
        # TLS 1.2 shows a client's certificate to the network. A session that is resumed would bring a certificate along that
        # is not verified again, by authorities that may be trusted no more; of TLS 1.3 there is none without tickets.
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0
    return context


def _blocks(pem: bytes) -> frozenset[bytes]:
    return frozenset(hashlib.sha256(found[0]).digest() for found in _PEM_BLOCK.finditer(pem))


def renew(serving: ssl.SSLContext, fresh: ssl.SSLContext) -> None:
    """Show the certificate of `fresh` to the new connections of a listener that was opened with `serving`.

    Loading another pair into `serving` itself would leave it with half of one if the files do not fit each other.
    """

    def hand_over(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = fresh

    # OpenSSL calls it for every handshake, whether the client names a server or not.
    serving.sni_callback = hand_over


def client_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Make the context of an upstream connection: certificate and host name are always verified.

    Args:
        ca_file: path of a PEM file with the only authorities to trust; without it those of the system.

    Raises:
        OSError: the file cannot be read, or (`ssl.SSLError`) holds no certificate.
    """
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(_ALPN)
    return context


def said_goodbye(transport: asyncio.Transport) -> bool:
    """Whether an EOF just received is the other side's own: on TLS only if `close_notify` came before it.

    asyncio reports a bare FIN, which anybody on the path can forge, like a `close_notify`.
    """
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    if tls is None:
        return True
    try:
        return not tls.read(1)
    except ssl.SSLError:
        return False
