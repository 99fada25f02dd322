"""Listeners: the law, collisions, certificates."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.config_text import codes, parsed, problems

OPEN = {
    "all addresses": "0.0.0.0:8643",
    "all IPv6 addresses": "[::]:8643",
    "private network": "192.168.1.1:8643",
    "carrier-grade NAT": "100.64.0.1:8643",
    "link-local": "169.254.1.1:8643",
    "mapped loopback": "[::ffff:127.0.0.1]:8643",
    "name with a public address": "mixed.example.com:8643",
    "name that does not resolve": "missing.example.com:8643",
}


@pytest.mark.parametrize("address", OPEN.values(), ids=OPEN)
def test_public_listener_needs_a_key(address: str) -> None:
    """Without one nothing starts: the message names the line and the fix; with one it starts."""
    text = f"listen:\n  - address: '{address}'\n"
    (found,) = problems(text, keys=False)
    assert found.startswith("herma.yaml:2:14: listen.unauthenticated: found ")
    assert "add a key to auth.keys" in found
    assert parsed(text).listen[0].public


@pytest.mark.parametrize("auth", ["", "auth: {}\n", "auth: {keys: []}\n"])
def test_no_way_of_writing_no_key_opens_a_public_listener(auth: str) -> None:
    """Absent and empty are the same."""
    assert codes("listen: [{address: '0.0.0.0:80'}]\n" + auth, keys=False) == ["listen.unauthenticated"]


def test_wide_unix_socket_needs_a_key() -> None:
    """Other users of the machine are others."""
    text = 'listen: [{address: "unix:/run/herma.sock", mode: "0660"}]\n'
    assert codes(text, keys=False) == ["listen.unauthenticated"]
    assert parsed(text).warnings == ()


def test_loopback_without_a_key_is_allowed_and_warned_about() -> None:
    """The law speaks of what others can reach."""
    settings = parsed("", keys=False)
    assert [warning.code for warning in settings.warnings] == ["auth.none"]
    assert settings.auth.keys == ()
    assert not settings.listen[0].public


@pytest.mark.parametrize("environ", [{"HERMA_INSECURE": "1"}, {"HERMA_INSECURE": "true"}])
def test_insecure_changes_nothing(environ: dict[str, str]) -> None:
    """The switch people know from elsewhere is warned about and opens nothing."""
    public = "listen: [{address: '0.0.0.0:80'}]\nupstream: {url: 'http://127.0.0.1:8642'}\n"
    assert codes(public, environ=environ, keys=False, upstream=False) == ["listen.unauthenticated"]
    private = parsed(
        "upstream: {url: 'http://127.0.0.1:8642'}\n", environ=environ, keys=False, upstream=False
    )
    assert "config.insecure" in [warning.code for warning in private.warnings]


def test_listener_carries_what_is_bound() -> None:
    """The addresses that were judged are in the settings."""
    settings = parsed(
        "listen: [{address: 'localhost:80'}, {address: 'unix:/run/a.sock'}]\nadmin: {address: '[::1]:81'}\n"
    )
    assert [one.binds for one in settings.listen] == [("127.0.0.1", "::1"), ()]
    assert settings.admin.binds == ("::1",)


def test_public_listener_should_have_tls_and_names() -> None:
    """Both are warned about; a unix socket has neither."""
    settings = parsed("listen: [{address: '0.0.0.0:80'}]\n")
    assert [warning.code for warning in settings.warnings] == ["listen.cleartext", "listen.public_names"]
    named = parsed("listen: [{address: '0.0.0.0:80', public_names: [agent.example.com]}]\n")
    assert [warning.code for warning in named.warnings] == ["listen.cleartext"]
    missing = parsed("listen: [{address: 'missing.example.com:80', public_names: [a]}]\n")
    assert "listen.unresolved" in [warning.code for warning in missing.warnings]


COLLISIONS = {
    "twice": ("['127.0.0.1:80', '127.0.0.1:80']", 1),
    "three times": ("['127.0.0.1:80', '127.0.0.1:80', '127.0.0.1:80']", 2),
    "name and address": ("['127.0.0.1:80', 'localhost:80']", 1),
    "all and one": ("['0.0.0.0:80', '127.0.0.1:80']", 1),
    "all IPv6 and one": ("['[::]:80', '[::1]:80']", 1),
    "socket twice": ("['unix:/a', 'unix:/a']", 1),
    "other port": ("['127.0.0.1:80', '127.0.0.1:81']", 0),
    "other family": ("['0.0.0.0:80', '[::1]:80']", 0),
    "other address": ("['127.0.0.1:80', '127.0.0.2:80']", 0),
    "other socket": ("['unix:/a', 'unix:/b', '127.0.0.1:80']", 0),
    "the admin's default": ("['127.0.0.1:8644']", 1),
}


@pytest.mark.parametrize(("addresses", "count"), COLLISIONS.values(), ids=COLLISIONS)
def test_address_is_taken_once(addresses: str, count: int) -> None:
    """Two listeners on one address are told before one of them fails to bind."""
    listed = (
        ", ".join(f"{{address: {one}}}" for one in addresses.strip("[]").split(", "))
        if "[:" not in addresses
        else ""
    )
    listed = listed or ", ".join(f"{{address: '{one}'}}" for one in addresses[2:-2].split("', '"))
    assert codes(f"listen: [{listed}]\n") == ["listen.duplicate"] * count


@pytest.mark.parametrize("address", ["127.0.0.1:8642", "0.0.0.0:8642", "localhost:8642"])
def test_gate_does_not_call_itself(address: str) -> None:
    """A listener on the upstream's address is a loop."""
    assert codes(f"listen: [{{address: '{address}'}}]\n") == ["listen.upstream"]


@pytest.mark.parametrize("host", ["agent", "10.0.0.5", "[2001:db8::5]"])
def test_another_host_s_port_may_be_the_gate_s_too(host: str) -> None:
    """In a container the gate listens on the agent's usual port, on every address of its own."""
    text = (
        f"listen: [{{address: '0.0.0.0:8642'}}, {{address: '[::]:8642'}}]\n"
        f"upstream: {{url: 'http://{host}:8642', key: '${{OTHER_FAKE_KEY}}'}}\n"
    )
    assert "listen.upstream" not in codes(text, upstream=False)


def test_an_address_that_is_not_loopback_is_a_loop_too() -> None:
    """The same address and port is the gate itself, whatever kind of address it is."""
    text = "listen: [{address: '10.0.0.5:8642'}]\nupstream: {url: 'http://10.0.0.5:8642', key: '${OTHER_FAKE_KEY}'}\n"
    assert "listen.upstream" in codes(text, upstream=False)


def test_unix_upstream_is_not_listened_on() -> None:
    """The same holds for sockets; other upstreams are left alone."""
    text = "listen: [{address: 'unix:/run/a.sock'}]\nupstream: {url: 'unix:/run/a.sock', key: '${OTHER_FAKE_KEY}'}\n"
    assert codes(text, upstream=False) == ["listen.upstream"]
    away = "upstream: {url: 'http://localhost:8642', key: '${OTHER_FAKE_KEY}'}\n"
    assert codes(away, upstream=False) == []


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8644", "10.0.0.1:8644", "agent.example.com:8644", "missing.example.com:8644"]
)
def test_admin_listener_is_never_public(address: str) -> None:
    """It knows no keys: nothing but loopback or a private socket is taken, with keys or without."""
    assert codes(f"admin: {{address: '{address}'}}\n") == ["admin.public"]
    assert parsed("admin: {address: 'unix:/run/admin.sock'}\n").admin.binds == ()


def test_mode_belongs_to_a_socket() -> None:
    """A mode on a TCP address is a misunderstanding."""
    assert codes('listen: [{address: "127.0.0.1:80", mode: "0600"}]\n') == ["listen.mode"]


def test_mode_without_quotes_is_told_to_be_quoted() -> None:
    """`0600` is another number for every other YAML reader."""
    (found,) = problems("listen: [{address: 'unix:/a', mode: 0600}]\n")
    assert 'quote it ("…")' in found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    directory = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    files = ["-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem")]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    (directory / "key.pem").chmod(0o600)
    return directory


def with_tls(directory: Path, cert: str = "cert.pem", key: str = "key.pem") -> dict[str, object]:
    text = f"listen: [{{address: '0.0.0.0:443', public_names: [a], tls: {{cert_file: {cert}, key_file: {key}}}}}]\n"
    return {"text": text, "file": str(directory / "herma.yaml")}


def test_certificate_is_loaded_from_beside_the_file(certificate: Path) -> None:
    """Relative paths start at the configuration; a public listener with TLS and names has no warning."""
    settings = parsed(**with_tls(certificate))
    assert settings.warnings == ()
    assert settings.listen[0].tls is not None
    assert settings.listen[0].tls.cert_file == str(certificate / "cert.pem")


def test_certificate_that_does_not_load_is_told(certificate: Path, tmp_path: Path) -> None:
    """A wrong, missing or readable key stops the start."""
    assert codes(**with_tls(certificate, cert="key.pem")) == ["listen.tls"]
    assert codes(**with_tls(certificate, cert="missing.pem")) == ["listen.tls"]
    assert codes(**with_tls(certificate, key="missing.pem")) == ["config.secret.file"]
    shutil.copy(certificate / "key.pem", certificate / "open.pem")
    (certificate / "open.pem").chmod(0o644)
    assert codes(**with_tls(certificate, key="open.pem")) == ["config.secret.mode"]
