"""The authorities of the world, as one file of PEM: variables such as SSL_CERT_FILE replace a program's own, and do not add to them."""

import binascii
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["pem_of", "read_roots"]

MAX_ROOTS_BYTES: Final = 8 * 1024 * 1024
_BEGIN: Final = b"-----BEGIN CERTIFICATE-----"
_END: Final = b"-----END CERTIFICATE-----"
# Where systems keep them whose OpenSSL was built with another place in mind.
_PLACES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def read_roots(more: Path | None, without: CertificatePublicKeyTypes) -> list[bytes]:
    """Give the certificates of the system's authorities and of one more file, each once, in PEM.

    Args:
        more: A file with further authorities.
        without: A key that is not to be among them: the gate does not trust itself where it speaks with the world.

    Raises:
        OSError: there are none, or a file cannot be read.
    """
    key = without.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    found: dict[bytes, None] = {}
    for path in (_system(), *([more] if more else [])):
        with path.open("rb") as file:
            text = file.read(MAX_ROOTS_BYTES)
        found |= dict.fromkeys(block for block in _blocks(text) if not _has_key(block, key))
    return list(found)


def pem_of(blocks: list[bytes]) -> bytes:
    """Write certificates one below the other."""
    return b"".join(block + b"\n" for block in blocks)


def _system() -> Path:
    told = ssl.get_default_verify_paths().cafile
    for place in (*([told] if told else []), *_PLACES):
        if Path(place).is_file():
            return Path(place)
    try:
        import certifi
    except ImportError:
        message = "the system has no file of authorities; name one in SSL_CERT_FILE"
        raise FileNotFoundError(message) from None
    return Path(certifi.where())


def _blocks(text: bytes) -> Iterator[bytes]:
    for part in text.split(_BEGIN)[1:]:
        body, end, _ = part.partition(_END)
        if end:
            yield _BEGIN + b"\n" + b"\n".join(body.split()) + b"\n" + _END


def _has_key(block: bytes, key: bytes) -> bool:
    """Tell whether a certificate holds a key, without reading the rest: old authorities are written loosely."""
    try:
        return key in binascii.a2b_base64(block.removeprefix(_BEGIN).removesuffix(_END))
    except binascii.Error:
        return False
