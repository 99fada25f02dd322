"""Configurations that are shown can be used."""

import re
import secrets
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from herma.config.load import load
from support.login import USERS
from support.tokens import key_set, signer
from support.tree import ROOT, tracked

EXAMPLES = tuple(
    path for path in tracked() if path.is_relative_to("deploy/examples") and path.suffix == ".yaml"
)
PAGES = tuple(path for path in tracked() if path.suffix == ".md")

_YAML = re.compile(r"^ *```yaml\n(.*?)^ *```", re.MULTILINE | re.DOTALL)

# Stands under a piece of a configuration, so that the piece can be loaded: a page shows only what it is about.
BASE: dict[str, Any] = {
    "upstream": {"url": "http://127.0.0.1:8642", "key_file": "agent.key"},
    "auth": {"keys": [{"name": "base", "key_file": "base.key", "scopes": ["read"]}]},
}

# One certificate's files; every other file that an example names holds a key, or what its ending says.
_CERTIFICATE, _CERTIFICATE_KEY = "fullchain.pem", "privkey.pem"


def _pieces() -> list[tuple[str, str]]:
    found = [(str(path), (ROOT / path).read_text()) for path in EXAMPLES]
    for page in PAGES:
        for number, indented in enumerate(_YAML.findall((ROOT / page).read_text())):
            text = textwrap.dedent(indented)
            if not yaml.safe_load(text).keys().isdisjoint({"upstream", "auth", "listen", "limits", "checks"}):
                found.append((f"{page}-{number}", text))
    return found


PIECES = _pieces()


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a certificate of a day and its key."""
    directory = tmp_path_factory.mktemp("certificate")
    names = f"-keyout {_CERTIFICATE_KEY} -out {_CERTIFICATE}"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ed25519",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=x",
            *names.split(),
        ],
        cwd=directory,
        check=True,
        capture_output=True,
    )
    return directory


@pytest.mark.parametrize(("name", "piece"), PIECES, ids=[name for name, _ in PIECES])
def test_a_shown_configuration_loads(
    name: str, piece: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every example file and every piece in a document is accepted as it stands, without a warning."""
    shown = yaml.safe_load(piece)
    missing = {key: value for key, value in BASE.items() if key not in shown}
    whole = piece + (yaml.safe_dump(missing) if missing else "")
    for file in re.findall(r"_file: ([\w.-]+)", whole):
        if file.endswith(".pem"):
            made = file if file == _CERTIFICATE_KEY else _CERTIFICATE
            _write(tmp_path / file, (request.getfixturevalue("certificate") / made).read_text())
        elif file.endswith(".json"):
            _write(tmp_path / file, key_set(signer()).decode())
        elif file.endswith(".hash"):
            _write(tmp_path / file, USERS[0]["password_hash"])
        else:
            _write(tmp_path / file, secrets.token_urlsafe(32))
    config = tmp_path / "herma.yaml"
    _write(config, whole)
    assert load(config, {}).warnings == (), name


def test_there_is_something_to_load() -> None:
    """An empty list would make the test above pass."""
    assert len(EXAMPLES) >= 3
    assert len(PIECES) > len(EXAMPLES)
