"""A certificate for loopback, made once for a session and trusted by nobody else."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["Pair", "make_pair"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Paths of a certificate and its key."""

    cert: str
    key: str

    def trusting(self) -> ssl.SSLContext:
        """Make a client context that trusts this certificate only."""
        return ssl.create_default_context(cafile=self.cert)

    def serving(self) -> ssl.SSLContext:
        """Make a server's context that shows it."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.cert, self.key)
        return context


def make_pair(directory: Path, *, passphrase: str = "") -> Pair:
    """Make a self-signed certificate for `localhost` and 127.0.0.1, valid for two days."""
    cert, key = directory / "cert.pem", directory / "key.pem"
    protection = ["-passout", f"pass:{passphrase}"] if passphrase else ["-nodes"]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]
    command = [
        "openssl",
        "req",
        "-x509",
        *kind,
        *protection,
        *subject,
        "-keyout",
        str(key),
        "-out",
        str(cert),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl makes the certificate")
    return Pair(str(cert), str(key))
