"""What the tools judge with."""

import argparse
import io
from pathlib import Path

import pytest

from herma.cli.sources import Sources, add_source_options, open_sources, report, today
from herma.cli.terminal import Terminal
from herma.errors import ConfigError, ContentError, Source
from herma.policy.secret import Secret
from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM
from support.console import herma


def opened(*words: object) -> Sources:
    parser = argparse.ArgumentParser()
    add_source_options(parser, fingerprints=True)
    return open_sources(parser.parse_args([str(word) for word in words]))


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_KEY", FAKE_KEY)
    monkeypatch.setenv("OTHER_FAKE_KEY", OTHER_FAKE_KEY)
    path = tmp_path / "herma.yaml"
    path.write_text(UPSTREAM + KEYS)
    return path


def test_without_a_configuration_it_is_what_ships() -> None:
    """With the usual upstream and a key of this run only."""
    first, second = opened(), opened()
    assert first.settings is None
    assert first.profiles()["default"].name == "hermes-api"
    assert first.rule_set().mcp
    assert first.key.reveal() != second.key.reveal()


def test_a_configuration_names_profile_and_key(config: Path) -> None:
    """The fingerprints are those of the gate, unless a file gives another key."""
    config.write_text(
        "redaction: {fingerprint_key: '${FAKE_KEY}'}\n"
        + KEYS
        + UPSTREAM.replace("{url", "{profile: openai, url")
    )
    sources = opened("--config", config)
    assert sources.profiles()["default"].name == "openai"
    assert sources.key == Secret(FAKE_KEY.encode())
    key = config.with_name("key")
    key.write_text(OTHER_FAKE_KEY + "\n")
    key.chmod(0o600)
    assert opened("--config", config, "--fingerprint-key-file", key).key.reveal() == OTHER_FAKE_KEY.encode()


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """Like every file with a secret."""
    key = tmp_path / "key"
    key.write_text(FAKE_KEY)
    key.chmod(0o644)
    with pytest.raises(ConfigError, match=r"config\.secret\."):
        opened("--fingerprint-key-file", key)


def test_what_cannot_be_used_is_told_once() -> None:
    """Rules and configurations alike; in JSON for a script."""
    error = ContentError("made up", Source("x.yaml", 3, 1))
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(stdout=out, stderr=err)
    assert report(error, argparse.Namespace(json=True), terminal) == 78
    assert '"line": 3' in out.getvalue()
    assert err.getvalue() == "x.yaml:3:1: content.invalid: made up\n"


def test_today_is_a_day() -> None:
    """Exemptions expire by it."""
    assert today().year >= 2026


def test_a_missing_configuration_stops_a_tool(tmp_path: Path) -> None:
    """It does not judge with what ships instead."""
    assert herma(["redact", "--config", tmp_path / "none.yaml"], "x").code == 78
