"""`herma ioc pin`, `keygen`, `sign`, `verify` and `check`."""

import json
from pathlib import Path

import pytest

from herma.content.ioc.signature import new_signing_key
from support.console import herma
from support.ioc_files import directory, item


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "signing.key"
    assert herma(["ioc", "keygen", "--out", path]).code == 0
    return path


@pytest.fixture
def signed(tmp_path: Path, key: Path) -> Path:
    made = directory(tmp_path / "iocs", pin=False)
    assert herma(["ioc", "pin", made]).code == 0
    assert herma(["ioc", "sign", made, "--key", key]).code == 0
    return made


def test_a_key_is_two_files(key: Path) -> None:
    """The private one for its owner only; none is overwritten, and it is not shown."""
    assert key.stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE KEY" in key.read_bytes()
    assert b"PUBLIC KEY" in key.with_name("signing.key.pub").read_bytes()
    again = herma(["ioc", "keygen", "--out", key])
    assert (again.code, "File exists" in again.err) == (1, True)
    other = herma(["ioc", "keygen", "--json", "--out", key.with_name("b")])
    assert other.json().keys() == {"key", "private", "public"}
    assert "PRIVATE" not in other.out + other.err


def test_what_was_signed_is_verified(signed: Path, key: Path) -> None:
    """By its public key, told as text or JSON."""
    said = herma(["ioc", "verify", signed, "--public-key", f"{key}.pub"])
    assert said.code == 0
    assert said.out.startswith("signed by a key that is trusted: 1 indicators, serial 1")
    facts = herma(["ioc", "verify", signed, "--public-key", f"{key}.pub", "--json"]).json()
    assert facts == {"ok": True, "serial": 1, "indicators": 1, "expires": None}


def test_another_key_or_another_state_is_refused(signed: Path, key: Path, tmp_path: Path) -> None:
    """Whatever changed: the key, a file, the manifest, the serial, the day."""
    verify = ["ioc", "verify", signed, "--public-key", f"{key}.pub"]
    herma(["ioc", "keygen", "--out", tmp_path / "other"])
    assert herma(["ioc", "verify", signed, "--public-key", tmp_path / "other.pub"]).code == 1
    assert herma([*verify, "--public-key", tmp_path / "other.pub"]).code == 0
    assert herma([*verify, "--minimum-serial", 2]).code == 1
    directory(signed, item(), item(id="c-02", value="203.113.5.8"), pin=False)
    assert herma(verify).code == 1
    assert herma(["ioc", "sign", signed, "--key", key]).code == 1
    assert herma(["ioc", "pin", signed]).code == 0
    assert herma(verify).code == 1
    assert herma(["ioc", "sign", signed, "--key", key]).code == 0
    assert herma(verify).code == 0


def test_a_second_key_can_sign_beside_the_first(signed: Path, key: Path, tmp_path: Path) -> None:
    """While keys change, both count."""
    herma(["ioc", "keygen", "--out", tmp_path / "next"])
    assert herma(["ioc", "sign", signed, "--key", tmp_path / "next", "--add"]).code == 0
    for public in (f"{key}.pub", tmp_path / "next.pub"):
        assert herma(["ioc", "verify", signed, "--public-key", public]).code == 0
    (signed / "manifest.sig").write_text("{}")
    assert herma(["ioc", "sign", signed, "--key", key, "--add"]).code == 1
    assert herma(["ioc", "sign", signed, "--key", key]).code == 0
    assert herma(["ioc", "verify", signed, "--public-key", tmp_path / "next.pub"]).code == 1


def test_a_key_that_others_may_read_does_not_sign(signed: Path, key: Path, tmp_path: Path) -> None:
    """Nor does a public one, or a link."""
    key.chmod(0o644)
    assert herma(["ioc", "sign", signed, "--key", key]).code == 1
    public = key.with_name("signing.key.pub")
    public.chmod(0o600)
    assert herma(["ioc", "sign", signed, "--key", public]).code == 1
    (tmp_path / "raw").touch(mode=0o600)
    (tmp_path / "raw").write_bytes(new_signing_key().raw)
    assert herma(["ioc", "sign", signed, "--key", tmp_path / "raw"]).code == 0
    (tmp_path / "link").symlink_to(tmp_path / "raw")
    assert herma(["ioc", "sign", signed, "--key", tmp_path / "link"]).code == 1


def test_a_manifest_without_a_serial_cannot_be_signed(tmp_path: Path, key: Path) -> None:
    """It could be taken back to at any time."""
    said = herma(["ioc", "sign", directory(tmp_path / "old"), "--key", key])
    assert (said.code, "ioc pin" in said.err) == (1, True)


def test_a_manifest_gets_an_end_and_a_serial(tmp_path: Path) -> None:
    """Within bounds."""
    made = directory(tmp_path / "iocs", pin=False)
    said = herma(["ioc", "pin", made, "--expires-days", 30, "--serial", 7, "--json"])
    assert said.json() == {"serial": 7, "indicators": 1}
    assert "expires" in json.loads((made / "manifest.json").read_text())
    assert "until" in herma(["ioc", "check", made]).out
    for words in (["--expires-days", 0], ["--expires-days", 99999], ["--serial", 0]):
        assert herma(["ioc", "pin", made, *words]).code == 2
    assert herma(["ioc", "pin", made, "--serial", 3]).code == 1


def test_a_check_tells_what_is_left_out(tmp_path: Path) -> None:
    """And fails where a gate would."""
    made = directory(tmp_path / "iocs")
    (made / "x.json").write_text(
        json.dumps({"type": "bundle", "objects": [{"type": "url", "id": "url--1", "value": "x"}]})
    )
    assert herma(["ioc", "check", made]).code == 1
    assert herma(["ioc", "pin", made]).code == 0
    said = herma(["ioc", "check", made])
    assert said.code == 0
    assert "url--1 is skipped" in said.err
    (made / "manifest.json").unlink()
    assert herma(["ioc", "check", made]).code == 1
