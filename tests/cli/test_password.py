"""`herma key password`."""

import getpass
import stat
from pathlib import Path

import pytest

from herma.policy.browser.password_hash import PasswordHash
from support.console import herma
from support.login import PASSWORDS

STRONG = PASSWORDS["alice"]


def test_a_strong_password_is_hashed_and_not_shown() -> None:
    """One line, as the configuration takes it."""
    said = herma(["key", "password"], STRONG + "\n")
    assert (said.code, said.err) == (0, "")
    assert PasswordHash.parse(said.out.strip())
    assert herma(["key", "password", "--json"], STRONG).json()["hash"] != said.out.strip()


def test_the_hash_goes_to_a_new_private_file(tmp_path: Path) -> None:
    """Mode 0600, and an existing file is never touched."""
    file = tmp_path / "alice.hash"
    said = herma(["key", "password", "--out", file], STRONG + "\r\n")
    assert said.code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = file.read_text()
    assert PasswordHash.parse(kept.strip())
    again = herma(["key", "password", "--out", file], STRONG)
    assert (again.code, file.read_text()) == (1, kept)
    assert "File exists" in again.err
    other = tmp_path / "other"
    assert herma(["key", "password", "--json", "--out", other], STRONG).json() == {"file": str(other)}


def test_a_person_types_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unseen; two that differ are none."""
    typed: list[str] = []
    monkeypatch.setattr(getpass, "getpass", lambda _prompt: typed.pop(0))
    typed[:] = [STRONG, STRONG]
    assert herma(["key", "password"], person=True).code == 0
    typed[:] = [STRONG, STRONG + "x"]
    said = herma(["key", "password"], person=True)
    assert said.code == 2
    assert "typed the same twice" in said.err


@pytest.mark.parametrize("text", ["short", "password1234567", "Summer2024!Summer2024!"])
def test_a_weak_password_is_refused_with_a_reason(text: str) -> None:
    """And is not repeated."""
    said = herma(["key", "password"], text)
    assert (said.code, said.out) == (1, "")
    assert "four unrelated words" in said.err
    assert text not in said.err


@pytest.mark.parametrize(
    "text", ["", "\n", "two\nlines that are long enough to be a password", "a\0b", "tab\tin it, long enough"]
)
def test_what_is_no_password_is_a_mistake(text: str) -> None:
    """Nothing, more than one line, controls."""
    assert herma(["key", "password"], text).code == 2


def test_bytes_that_are_no_text_are_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another encoding would hash to something that no browser sends."""
    from herma.cli.terminal import Terminal

    class Raw(Terminal):
        @property
        def input(self):  # type: ignore[no-untyped-def, override]
            import io

            return io.BytesIO(b"p\xe4sswort das lang genug ist")

    from herma.cli import main

    assert main(["key", "password"], Raw()) == 2
