"""The authority that signs for the hosts whose traffic the gate reads; only the agent is to trust it.

Its key never leaves the directory. What the agent's trust hangs on is the key and the name: when other hosts are to be excluded, or
the time runs out, the certificate alone is made anew, and a copy that an agent has of the old one stays good. Two processes that start
at once make one authority.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from herma.egress.exclusion import subtrees
from herma.egress.private_directory import PrivateDirectory, UnfitError
from herma.egress.roots import pem_of, read_roots
from herma.errors import ConfigError, Problem, Source
from herma.policy.egress.host_pattern import HostPattern

__all__ = ["Authority"]

# As mitmproxy looks for it: the key and the certificate, and no more.
PAIR: Final = "mitmproxy-ca.pem"
CERTIFICATE: Final = "ca.pem"
TRUST: Final = "trust.pem"
ROOTS: Final = "roots.pem"
_LOCK: Final = "lock"
_VALID: Final = timedelta(days=3653)
_RENEWED_BEFORE: Final = timedelta(days=60)
# Clocks differ, and containers start with wrong ones.
_CLOCK: Final = timedelta(days=2)

type _Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority whose files are there and right.

    `certificate` is what programs are told to trust beside the others, `trust` what they are told to trust instead of them, `roots`
    what the gate itself trusts: the others. `note` says what an operator should know, or nothing.
    """

    directory: Path
    fingerprint: str
    until: datetime
    note: str = ""

    @property
    def certificate(self) -> Path:
        """The file with the certificate alone."""
        return self.directory / CERTIFICATE

    @property
    def trust(self) -> Path:
        """The file with all that the agent is to trust."""
        return self.directory / TRUST

    @property
    def roots(self) -> Path:
        """The file with all that destinations are verified by."""
        return self.directory / ROOTS

    @classmethod
    def open(
        cls,
        directory: Path,
        excluded: Sequence[HostPattern] = (),
        ca_file: Path | None = None,
        now: datetime | None = None,
    ) -> Self:
        """Read the authority of a directory, or make it.

        Args:
            directory: Where it is; made with mode 0700.
            excluded: Hosts that it is not to sign for.
            ca_file: Authorities to trust beside the system's.
            now: When it is.

        Raises:
            ConfigError: somebody else could read the key or put another in its place, or a file cannot be used.
        """
        try:
            with PrivateDirectory.open(directory) as place, _alone(place):
                return cls._of(place, excluded, ca_file, now or datetime.now(UTC))
        except UnfitError as error:
            raise _problem(directory, str(error)) from error
        except OSError as error:
            reason = error.strerror or str(error)
            where = f" ({error.filename})" if isinstance(error.filename, str) else ""
            raise _problem(directory, f"the authority cannot be read or made: {reason}{where}") from error

    @classmethod
    def _of(
        cls, place: PrivateDirectory, excluded: Sequence[HostPattern], ca_file: Path | None, now: datetime
    ) -> Self:
        raw, note = place.read(PAIR, secret=True), ""
        if raw is None:
            key: _Key = ec.generate_private_key(ec.SECP256R1())
            certificate = _signed(key, _name(), excluded, now)
            note = "a new authority was made; the agent must be told to trust it (`herma ca env`)"
        else:
            key, certificate = _read_pair(raw)
        if raw is not None and (reason := _outdated(certificate, excluded, now)):
            certificate = _signed(key, certificate.subject, excluded, now)
            note = f"{reason}, so its certificate was made anew; what trusts the old one trusts it too, and keeps the old exclusions"
        written = certificate.public_bytes(serialization.Encoding.PEM)
        if note:
            place.write(PAIR, _written(key) + written, mode=0o600)
        roots = pem_of(read_roots(ca_file, certificate.public_key()))
        for name, content in ((CERTIFICATE, written), (ROOTS, roots), (TRUST, roots + written)):
            if place.read(name) != content:
                place.write(name, content, mode=0o644)
        return cls(
            place.path, certificate.fingerprint(hashes.SHA256()).hex(), certificate.not_valid_after_utc, note
        )


@contextmanager
def _alone(place: PrivateDirectory) -> Iterator[None]:
    """Hold off other processes that open the same authority."""
    descriptor = place.descriptor(_LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _problem(directory: Path, message: str) -> ConfigError:
    return ConfigError([Problem(Source(str(directory)), "egress.ca", message)])


def _read_pair(raw: bytes) -> tuple[_Key, x509.Certificate]:
    try:
        key = serialization.load_pem_private_key(raw, None)
        certificates = x509.load_pem_x509_certificates(raw)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        message = f"{PAIR} holds no key and certificate; take it away to get a new authority"
        raise UnfitError(message) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) or len(certificates) != 1:
        raise UnfitError(f"{PAIR} holds another kind of key, or not one certificate")
    certificate = certificates[0]
    if certificate.public_key() != key.public_key() or certificate.issuer != certificate.subject:
        raise UnfitError(f"{PAIR} holds a certificate of another key, or one that others signed")
    return key, certificate


def _outdated(certificate: x509.Certificate, excluded: Sequence[HostPattern], now: datetime) -> str:
    """Say why a certificate is to be made anew, if it is."""
    if certificate.not_valid_after_utc - _RENEWED_BEFORE < now:
        return "the authority's time runs out"
    try:
        found = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    except x509.ExtensionNotFound:
        found = None
    return "" if found == _constraints(excluded) else "the authority excluded other hosts"


def _constraints(excluded: Sequence[HostPattern]) -> x509.NameConstraints | None:
    names = subtrees(excluded)
    return x509.NameConstraints(permitted_subtrees=None, excluded_subtrees=names) if names else None


def _name() -> x509.Name:
    # Two authorities of one name and different keys confuse whoever looks one up by its name.
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Herma"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"Herma egress gate {secrets.token_hex(4)}"),
        ]
    )


def _signed(key: _Key, name: x509.Name, excluded: Sequence[HostPattern], now: datetime) -> x509.Certificate:
    usage = dict.fromkeys(
        (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage, key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    constraints = _constraints(excluded)
    if constraints is not None:
        made = made.add_extension(constraints, critical=True)
    return made.sign(key, hashes.SHA256())


def _written(key: _Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
