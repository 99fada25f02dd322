"""An authority of the suites, and certificates of any form that it signs."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from support.wire_tls import Pair

__all__ = ["Authority", "make_authority"]

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority; `path` is where its certificate stands."""

    path: str
    directory: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def issue(
        self,
        file: str,
        *names: str,
        common_name: str = "somebody",
        until: datetime | None = None,
        usage: Sequence[x509.ObjectIdentifier] = (
            ExtendedKeyUsageOID.CLIENT_AUTH,
            ExtendedKeyUsageOID.SERVER_AUTH,
        ),
    ) -> Pair:
        """Sign a certificate with these alternative names, each with its kind before it, such as `dns:a.example.com`."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _builder(common_name, self.certificate.subject, key, until or datetime.now(UTC) + _DAY)
        if names:
            made = made.add_extension(
                x509.SubjectAlternativeName([_name(name) for name in names]), critical=False
            )
        made = made.add_extension(x509.ExtendedKeyUsage(usage), critical=False)
        signed = made.sign(self.key, hashes.SHA256())
        return Pair(
            _write(self.directory / f"{file}.pem", signed), _write_key(self.directory / f"{file}.key", key)
        )


def make_authority(directory: Path, name: str = "authority") -> Authority:
    """Make an authority of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"fake {name}")])
    made = _builder(f"fake {name}", subject, key, datetime.now(UTC) + _DAY)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = made.sign(key, hashes.SHA256())
    return Authority(_write(directory / f"{name}.pem", signed), directory, signed, key)


def _builder(
    common_name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - 2 * _DAY)
        .not_valid_after(until)
    )


def _name(text: str) -> x509.GeneralName:
    kind, _, name = text.partition(":")
    match kind:
        case "dns":
            return x509.DNSName(name)
        case "uri":
            return x509.UniformResourceIdentifier(name)
        case "email":
            return x509.RFC822Name(name)
        case "ip":
            return x509.IPAddress(ipaddress.ip_address(name))
    raise AssertionError(f"not a kind of name: {kind}")


def _write(path: Path, certificate: x509.Certificate) -> str:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return str(path)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> str:
    path.touch(mode=0o600)
    plain = serialization.NoEncryption()
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return str(path)
