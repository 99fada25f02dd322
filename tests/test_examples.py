"""Configurations that are shown can be used."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from herma.config import load
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

# Fake, and strong enough for the key floor.
FAKE_KEY = "fake-key-for-a-test-Zq7vT2mXw9Lr4KdB8sHn"


def _pieces() -> list[tuple[str, dict[str, Any]]]:
    found = [(str(path), yaml.safe_load((ROOT / path).read_text())) for path in EXAMPLES]
    for page in PAGES:
        for number, text in enumerate(_YAML.findall((ROOT / page).read_text())):
            piece = yaml.safe_load(text)
            if isinstance(piece, dict) and not piece.keys().isdisjoint(
                {"upstream", "auth", "listen", "limits", "checks"}
            ):
                found.append((f"{page}-{number}", piece))
    return found


def _files(value: Any) -> list[str]:
    """Give every file that a configuration names."""
    match value:
        case dict():
            named = [str(entry) for key, entry in value.items() if key.endswith("_file")]
            return named + [name for entry in value.values() for name in _files(entry)]
        case list():
            return [name for entry in value for name in _files(entry)]
        case _:
            return []


PIECES = _pieces()


@pytest.mark.parametrize(("name", "piece"), PIECES, ids=[name for name, _ in PIECES])
def test_a_shown_configuration_loads(name: str, piece: dict[str, Any], tmp_path: Path) -> None:
    """Every example file and every piece in a document is accepted as it stands, without a warning."""
    whole = {**BASE, **piece}
    for number, file in enumerate(_files(whole)):
        path = tmp_path / file
        path.write_text(f"{FAKE_KEY}{number}\n")
        path.chmod(0o600)
    config = tmp_path / "herma.yaml"
    config.write_text(yaml.safe_dump(whole))
    config.chmod(0o600)
    settings = load(config, {"LAPTOP_KEY": FAKE_KEY})
    assert not settings.warnings, name


def test_there_is_something_to_load() -> None:
    """An empty list would make the test above pass."""
    assert len(EXAMPLES) >= 3
    assert len(PIECES) > len(EXAMPLES)
