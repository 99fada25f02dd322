"""The authorities of the world as one file."""

import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from herma.egress import roots
from herma.egress.roots import pem_of, read_roots
from support.certificates import Authority, make_authority

_STRANGER = ec.generate_private_key(ec.SECP256R1()).public_key()


def _system(monkeypatch: pytest.MonkeyPatch, path: Path | None, places: Sequence[str] = ()) -> None:
    told = SimpleNamespace(cafile=str(path) if path else None)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: told)
    monkeypatch.setattr(roots, "_PLACES", tuple(places))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority of the system."""
    return make_authority(tmp_path, "system")


def test_more_authorities_stand_beside_the_system_s(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stands there once, whatever is written between them, and OpenSSL reads what comes out."""
    other = make_authority(tmp_path, "other")
    more = tmp_path / "more.pem"
    text = Path(authority.path).read_bytes()
    more.write_bytes(
        b"# comment\r\n"
        + text
        + b"\nsubject: x\n"
        + Path(other.path).read_bytes()
        + b"-----BEGIN CERTIFICATE-----\nhalf"
    )
    _system(monkeypatch, Path(authority.path))
    found = read_roots(more, _STRANGER)
    assert len(found) == 2
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=pem_of(found).decode())
    assert context.cert_store_stats()["x509_ca"] == 2


def test_the_gate_s_own_authority_is_none_of_them(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the variables of the agent are also the gate's, its authority would be one of the world; it is taken out."""
    _system(monkeypatch, Path(authority.path))
    assert read_roots(None, authority.certificate.public_key()) == []


def test_what_cannot_be_read_as_a_certificate_is_left_to_who_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An authority of a kind that is not known here is none of ours, and may be known to the agent's programs."""
    file = tmp_path / "odd.pem"
    file.write_bytes(b"-----BEGIN CERTIFICATE-----\nAAAAA\n-----END CERTIFICATE-----\n")
    _system(monkeypatch, file)
    assert pem_of(read_roots(None, _STRANGER)) == file.read_bytes()


def test_the_file_is_looked_for_where_systems_keep_it(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An OpenSSL that was built with another place in mind names none."""
    _system(monkeypatch, None, ["/nowhere", authority.path])
    assert len(read_roots(None, _STRANGER)) == 1


def test_a_system_without_authorities_has_those_of_certifi(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package comes with the extra."""
    _system(monkeypatch, None)
    assert len(read_roots(None, _STRANGER)) > 50


def test_without_any_authorities_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without authorities would make every destination fail for no reason that anybody could see."""
    _system(monkeypatch, None)
    monkeypatch.setitem(sys.modules, "certifi", None)
    with pytest.raises(OSError, match="SSL_CERT_FILE"):
        read_roots(None, _STRANGER)
