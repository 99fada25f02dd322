"""The authority whose certificates the agent trusts."""

import ipaddress
import json
import os
import socket
import ssl
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509 import DNSName, IPAddress
from mitmproxy.certs import CertStore

from herma.egress.authority import Authority
from herma.errors import ConfigError
from herma.policy.egress.host_pattern import HostPattern
from support.certificates import make_authority

_EXCLUDED = tuple(map(HostPattern.parse, ("api.model.example", "*.models.example", "192.0.2.7")))


def _leaf(authority: Authority, name: str) -> tuple[Path, Path]:
    """Let mitmproxy sign for a host as it does in the proxy; give the files of the certificate and its key."""
    store = CertStore.from_store(authority.directory, "mitmproxy", 2048)
    general = IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else DNSName(name)
    entry = store.get_cert(name, [general])
    certificate, key = authority.directory / "leaf.pem", authority.directory / "leaf.key"
    certificate.write_bytes(entry.cert.to_pem())
    key.write_bytes(
        entry.privatekey.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate, key


def _shakes_hands(authority: Authority, name: str, trusted: Path) -> bool:
    """Tell whether Python's own TLS accepts a leaf for a host, as strictly as it can."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*_leaf(authority, name))
    client = ssl.create_default_context(cafile=str(trusted))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except OSError:
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        client.wrap_socket(ours, server_hostname=name).close()
    except ssl.SSLCertVerificationError:
        return False
    finally:
        ours.close()
        thread.join()
    return True


def _openssl(authority: Authority, name: str) -> bool:
    certificate, _key = _leaf(authority, name)
    command = ["openssl", "verify", "-x509_strict", "-CAfile", str(authority.certificate), str(certificate)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("chat.example", True),
        ("models.test", True),
        ("xapi.model.example", True),
        ("198.51.100.7", True),
        ("api.model.example", False),
        ("a.models.example", False),
        ("192.0.2.7", False),
    ],
)
def test_it_is_good_for_all_hosts_but_those_excluded(tmp_path: Path, name: str, *, good: bool) -> None:
    """The proxy signs for whatever it is asked; programs do not accept what the authority says that it does not sign."""
    authority = Authority.open(tmp_path / "egress", _EXCLUDED)
    assert _shakes_hands(authority, name, authority.trust) is good
    assert _openssl(authority, name) is good


def test_the_files_are_its_owner_s(tmp_path: Path) -> None:
    """The key is readable by its owner alone; the rest holds no key, and the roots do not hold the authority itself."""
    before = os.umask(0)
    try:
        authority = Authority.open(tmp_path / "egress")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in authority.directory.iterdir()}
    assert modes == {
        "mitmproxy-ca.pem": 0o600,
        "lock": 0o600,
        "ca.pem": 0o644,
        "trust.pem": 0o644,
        "roots.pem": 0o644,
    }
    assert stat.S_IMODE(authority.directory.stat().st_mode) == 0o700
    assert b"PRIVATE" not in authority.certificate.read_bytes() + authority.trust.read_bytes()
    assert authority.trust.read_bytes() == authority.roots.read_bytes() + authority.certificate.read_bytes()
    assert authority.certificate.read_bytes() not in authority.roots.read_bytes()
    assert "herma ca env" in authority.note


def test_it_stays_the_same(tmp_path: Path) -> None:
    """Opened again, nothing is written and nothing is to be told."""
    first = Authority.open(tmp_path / "egress", _EXCLUDED)
    states = {path.name: path.stat().st_ino for path in first.directory.iterdir()}
    again = Authority.open(tmp_path / "egress", (*_EXCLUDED[::-1], _EXCLUDED[0]))
    assert (again.fingerprint, again.note) == (first.fingerprint, "")
    assert {path.name: path.stat().st_ino for path in first.directory.iterdir()} == states


@pytest.mark.parametrize("later", [timedelta(0), timedelta(days=3650)], ids=["exclusions", "time"])
def test_a_certificate_made_anew_keeps_what_trust_hangs_on(tmp_path: Path, later: timedelta) -> None:
    """An agent that has a copy of the old certificate accepts what is signed from now on."""
    now = datetime.now(UTC)
    first = Authority.open(tmp_path / "egress", _EXCLUDED, now=now - later)
    copy = tmp_path / "copy.pem"
    copy.write_bytes(first.certificate.read_bytes())
    second = Authority.open(tmp_path / "egress", _EXCLUDED if later else (), now=now)
    assert second.fingerprint != first.fingerprint
    assert "made anew" in second.note
    assert _shakes_hands(second, "chat.example", copy)
    assert _shakes_hands(second, "api.model.example", second.trust) is not bool(later)
    old, new = (x509.load_pem_x509_certificate(path.read_bytes()) for path in (copy, second.certificate))
    assert (old.subject, old.public_key()) == (new.subject, new.public_key())


def test_other_roots_are_taken_over(tmp_path: Path) -> None:
    """What the operator trusts beside the system's authorities is for the agent and for the gate."""
    own = make_authority(tmp_path)
    authority = Authority.open(tmp_path / "egress", ca_file=Path(own.path))
    again = Authority.open(tmp_path / "egress")
    assert authority.fingerprint == again.fingerprint
    text = Path(own.path).read_bytes().strip()
    assert text not in again.trust.read_bytes()
    assert text in Authority.open(tmp_path / "egress", ca_file=Path(own.path)).roots.read_bytes()


def _readable(directory: Path) -> None:
    (directory / "mitmproxy-ca.pem").chmod(0o640)


def _link(directory: Path) -> None:
    (directory / "mitmproxy-ca.pem").rename(directory / "other.pem")
    (directory / "mitmproxy-ca.pem").symlink_to(directory / "other.pem")


def _writable(directory: Path) -> None:
    directory.chmod(0o777)


def _torn(directory: Path) -> None:
    file = directory / "mitmproxy-ca.pem"
    file.write_bytes(file.read_bytes()[:100])


def _no_certificate(directory: Path) -> None:
    file = directory / "mitmproxy-ca.pem"
    file.write_bytes(file.read_bytes().partition(b"-----BEGIN CERTIFICATE")[0])


def _of_another(directory: Path) -> None:
    other = Authority.open(directory.parent / "other")
    key = (directory / "mitmproxy-ca.pem").read_bytes().partition(b"-----BEGIN CERTIFICATE")[0]
    (directory / "mitmproxy-ca.pem").write_bytes(key + other.certificate.read_bytes())


def _other_kind(directory: Path) -> None:
    key = ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "mitmproxy-ca.pem").write_bytes(key + (directory / "ca.pem").read_bytes())


@pytest.mark.parametrize(
    "spoil", [_readable, _link, _writable, _torn, _no_certificate, _of_another, _other_kind]
)
def test_what_is_not_right_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    """Nobody is to trust a key that others may know, and a new authority is not made behind the operator's back."""
    directory = tmp_path / "egress"
    Authority.open(directory)
    spoil(directory)
    before = sorted(os.listdir(directory))
    with pytest.raises(ConfigError) as caught:
        Authority.open(directory)
    assert caught.value.problems[0].code == "egress.ca"
    assert "PRIVATE" not in str(caught.value)
    assert sorted(os.listdir(directory)) == before


def test_a_place_where_nothing_can_be_made_is_told(tmp_path: Path) -> None:
    """The message names the directory and the reason."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"egress\.ca: the authority cannot be read or made: Not a dir"):
        Authority.open(tmp_path / "file" / "egress")


_OPEN = """
import json, sys
from pathlib import Path
from herma.egress.authority import Authority
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(Authority.open(Path(sys.argv[1])).fingerprint))
"""


def test_processes_that_start_at_once_make_one(tmp_path: Path) -> None:
    """Whoever comes second reads what the first has made."""
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "egress")]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    found = {json.loads(process.communicate()[0]) for process in processes}
    assert found == {Authority.open(tmp_path / "egress").fingerprint}
