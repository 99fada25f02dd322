"""`herma ca`."""

import ssl
import stat
from pathlib import Path

import pytest

from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import herma


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with an egress gate that has never run."""
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    path = tmp_path / "herma.yaml"
    path.write_text(UPSTREAM + KEYS + "egress: {address: '127.0.0.1:18645'}\n")
    path.chmod(0o600)
    return path


def test_the_certificate_is_printed(config: Path) -> None:
    """It is made where there is none, which is told, and is the same from then on; the key is never in it."""
    first = herma(["ca", "export", "--config", config])
    assert first.code == 0
    assert "new authority" in first.err
    assert first.out.startswith("-----BEGIN CERTIFICATE-----\n")
    assert "PRIVATE" not in first.out
    again = herma(["ca", "export", "--config", config, "--json"])
    assert again.err == ""
    assert again.json()["certificate"] == first.out
    assert len(again.json()["fingerprint"]) == 64
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=first.out)


def test_the_certificate_goes_to_a_file_that_the_agent_may_read(config: Path, tmp_path: Path) -> None:
    """Whatever stood there; with the bundle, all authorities are in it."""
    out = tmp_path / "out.pem"
    out.write_text("old")
    assert "SHA-256" in herma(["ca", "export", "--config", config, "--out", out]).err
    assert stat.S_IMODE(out.stat().st_mode) == 0o644
    one = out.read_text()
    said = herma(["ca", "export", "--bundle", "--config", config, "--out", out, "--json"])
    assert said.json()["file"] == str(out)
    assert out.read_text().endswith(one)
    assert out.read_text().count("BEGIN CERTIFICATE") > 50
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_place_that_cannot_be_written_is_told(config: Path, tmp_path: Path) -> None:
    """By its name and the reason."""
    said = herma(["ca", "export", "--config", config, "--out", tmp_path / "no" / "out.pem"])
    assert (said.code, said.out) == (1, "")
    assert "No such file" in said.err
    (tmp_path / "taken").mkdir()
    assert herma(["ca", "export", "--config", config, "--out", tmp_path / "taken"]).code == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_variables_name_files_that_are_there(config: Path) -> None:
    """The proxy is the configured one, and each form is another way to write the same."""
    found = herma(["ca", "env", "--config", config, "--json"]).json()["variables"]
    assert found["https_proxy"] == "http://127.0.0.1:18645"
    for name in ("SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"):
        assert Path(found[name]).is_absolute()
        assert Path(found[name]).is_file()
    for form, start in (
        ("shell", "export "),
        ("systemd", "[Service]"),
        ("compose", "environment:"),
        ("dotenv", "HTTP_PROXY="),
    ):
        said = herma(["ca", "env", "--config", config, "--for", form])
        assert said.out.startswith(start)
        assert all(name in said.out for name in found)
    assert herma(["ca", "env", "--config", config]).out.startswith("export ")


def test_the_agent_may_see_the_files_elsewhere(config: Path) -> None:
    """In a container they are where they were mounted."""
    said = herma(
        [
            "ca",
            "env",
            "--config",
            config,
            "--ca-file",
            "/run/ca.pem",
            "--bundle-file",
            "/run/all.pem",
            "--json",
        ]
    )
    found = said.json()["variables"]
    assert found["NODE_EXTRA_CA_CERTS"] == "/run/ca.pem"
    assert found["PIP_CERT"] == "/run/all.pem"


def test_without_a_section_it_says_what_to_add(config: Path) -> None:
    """And makes nothing."""
    config.write_text(UPSTREAM + KEYS)
    said = herma(["ca", "env", "--config", config])
    assert said.code == 78
    assert "egress: {}" in said.err
    assert not (config.parent / "egress").exists()


def test_an_authority_that_cannot_be_used_is_told(config: Path) -> None:
    """Nobody is asked to trust a key that others could have read."""
    herma(["ca", "export", "--config", config])
    (config.parent / "egress" / "mitmproxy-ca.pem").chmod(0o644)
    said = herma(["ca", "env", "--config", config, "--json"])
    assert said.code == 78
    assert said.json()["problems"][0]["code"] == "egress.ca"
    assert "go-rwx" in said.err
