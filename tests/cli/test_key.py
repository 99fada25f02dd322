"""`herma key`."""

import getpass
from pathlib import Path

import pytest

from herma.cli import key as module
from herma.cli.key import strong_key
from herma.config.entropy import estimate_bits
from herma.config.values import KeyHash
from herma.policy.secret import Secret
from support.config_text import FAKE_KEY
from support.console import herma

WEAK = "aaaaaaaaaaaaaaaa"
STRONG = "8f3a1c07e5b92d64b07c5e81d9369a2f"


def test_new_key_is_printed_once_and_strong() -> None:
    """One line on standard output, nothing else."""
    said = herma(["key", "new"])
    assert said.code == 0
    assert estimate_bits(said.out.strip()) > 192
    assert said.err == ""
    assert herma(["key", "new", "--json"]).json()["key"] != said.out.strip()


def test_new_key_goes_to_a_new_private_file(tmp_path: Path) -> None:
    """Mode 0600, the key not on the screen, and an existing file is never touched."""
    file = tmp_path / "my.key"
    said = herma(["key", "new", "--out", file])
    assert said.code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    key = file.read_text()
    assert key.strip() not in said.out + said.err
    again = herma(["key", "new", "--out", file])
    assert again.code == 1
    assert "File exists" in again.err
    assert file.read_text() == key
    assert herma(["key", "new", "--json", "--out", tmp_path / "b.key"]).json() == {
        "file": str(tmp_path / "b.key")
    }


def test_hash_knows_the_key_and_never_shows_it(tmp_path: Path) -> None:
    """From standard input or a file; salted anew each time."""
    said = herma(["key", "hash"], STRONG + "\n")
    assert said.code == 0
    assert KeyHash.parse(said.out.strip()).is_of(STRONG.encode())
    file = tmp_path / "my.key"
    file.touch(mode=0o600)
    file.write_text(STRONG + "\n")
    second = herma(["key", "hash", "--json", "--file", file]).json()["hash"]
    assert KeyHash.parse(second).is_of(STRONG.encode())
    assert second != said.out.strip()
    assert STRONG not in said.out + said.err


def test_weak_key_is_not_hashed() -> None:
    """A fast hash protects a key of 128 bits and nothing less."""
    said = herma(["key", "hash"], "8f3a1c07e5b92d64\n")
    assert said.code == 1
    assert said.out == ""
    assert "about 64 bits, the floor is 128" in said.err


def test_check_tells_the_estimate() -> None:
    """0 for a key that is fine, 1 for a weak one; the key stays hidden."""
    fine = herma(["key", "check"], FAKE_KEY)
    assert fine.code == 0
    assert "the floor is 64: fine" in fine.out
    weak = herma(["key", "check", "--json"], WEAK)
    assert weak.code == 1
    assert weak.json() == {"ok": False, "bits": 6.6, "floor": 64, "code": "weak"}
    assert herma(["key", "check", "--floor", "200"], FAKE_KEY).code == 1
    assert FAKE_KEY not in fine.out + fine.err


def test_person_is_asked_without_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal the key is typed unseen."""
    monkeypatch.setattr(getpass, "getpass", lambda _prompt: STRONG)
    assert herma(["key", "check"], person=True).code == 0


@pytest.mark.parametrize("text", ["", "\n", "two words", "fäke", "two\nlines", "\x1b[31m"])
@pytest.mark.parametrize("action", ["hash", "check"])
def test_input_without_a_key_is_2(action: str, text: str) -> None:
    """One word on one line is a key."""
    said = herma(["key", action], text)
    assert said.code == 2
    assert "one word" in said.err


def test_file_that_others_may_read_is_2(tmp_path: Path) -> None:
    """The same rule as for the configuration."""
    file = tmp_path / "my.key"
    file.touch(mode=0o644)
    assert herma(["key", "check", "--file", file]).code == 2


def test_random_source_that_gives_patterns_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No weak key is made, whatever the machine's random source gives."""
    monkeypatch.setattr(module, "new_key", lambda: Secret(WEAK.encode()))
    with pytest.raises(RuntimeError, match="random source"):
        strong_key()
