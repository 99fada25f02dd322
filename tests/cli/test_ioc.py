"""`herma ioc list`, `show` and `import`."""

import json
from pathlib import Path
from typing import Any

import pytest

from herma.cli import ioc as module
from support.config_text import FAKE_KEY
from support.console import herma
from support.ioc_files import attribute, bundle, directory, event, indicator

EVIL = "[domain-name:value = 'evil.example']"


def _write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_shipped_indicators_are_listed() -> None:
    """As lines for people, or as JSON with all that is known."""
    said = herma(["ioc", "list"])
    assert said.code == 0
    assert len(said.out.splitlines()) == 294
    listed = herma(["ioc", "list", "--json"]).json()
    assert len(listed) == 294
    assert {"id", "value", "match", "type", "campaign", "action", "references"} <= listed[0].keys()


def test_one_indicator_is_shown(tmp_path: Path) -> None:
    """By its id, or by the name that a finding has; of a directory or of what ships."""
    shown = herma(["ioc", "show", "ioc-axios-npm-06"])
    assert "value: /tmp/ld.py" in shown.out
    assert herma(["ioc", "show", "axios-npm-06", "--json"]).json()["campaign"] == "axios-npm"
    assert herma(["ioc", "show", "c-01", "--dir", directory(tmp_path)]).code == 0
    missing = herma(["ioc", "show", "nobody"])
    assert (missing.code, missing.out) == (1, "")


def test_the_indicators_of_a_configuration_are_listed(tmp_path: Path) -> None:
    """With a note on each that is left out."""
    _write(tmp_path / "b.json", bundle(indicator(EVIL), indicator("[ipv4-addr:value = '127.0.0.1']", 2)))
    config = tmp_path / "herma.yaml"
    config.touch(mode=0o600)
    config.write_text(
        f"upstream: {{url: 'http://127.0.0.1:1', key: '{FAKE_KEY}'}}\ncontent: {{ioc_dirs: [b.json]}}\n"
    )
    said = herma(["ioc", "list", "--config", config])
    assert said.code == 0
    assert "evil.example" in said.out
    assert "loopback" in said.err
    config.write_text("nonsense: 1\n")
    assert herma(["ioc", "list", "--config", config]).code == 78


def test_bundles_and_events_are_imported_together(tmp_path: Path) -> None:
    """What was taken, what was not and why, and a directory that a gate reads."""
    files = [
        _write(
            tmp_path / "b.json",
            bundle(indicator(EVIL), indicator(EVIL, 2, revoked=True), {"type": "malware"}),
        ),
        _write(tmp_path / "e.json", event(attribute("domain", "evil.example"), attribute("mutex", "x", 2))),
    ]
    said = herma(["ioc", "import", *files, "--out", tmp_path / "out", "--json"])
    assert said.code == 0
    answer = said.json()
    assert [one["value"] for one in answer["imported"]] == ["evil.example"]
    assert sorted(one["reason"] for one in answer["skipped"]) == [
        "attributes of the type mutex cannot be seen in requests",
        "revoked",
    ]
    assert answer["other_objects"] == {"malware": 1}
    assert herma(["ioc", "check", tmp_path / "out"]).code == 0


def test_an_import_is_told_to_people(tmp_path: Path) -> None:
    """Line by line; terminals see no control characters of others."""
    file = _write(tmp_path / "b.json", bundle(indicator(EVIL), indicator("[", 2), {"type": "x\x1b[2J"}))
    said = herma(
        ["ioc", "import", file, "--out", tmp_path / "out", "--action", "alert", "--campaign", "mine"]
    )
    assert "alert   domain    evil.example" in said.out
    assert "skipped indicator--" in said.out
    assert "1 imported, 1 skipped" in said.err
    assert "\x1b" not in said.out + said.err
    assert '"mine"' in (tmp_path / "out/imported-001.yaml").read_text()


def test_nothing_imported_is_nothing_written(tmp_path: Path) -> None:
    """And no success."""
    file = _write(tmp_path / "b.json", bundle(indicator("[ipv4-addr:value = '127.0.0.1']")))
    said = herma(["ioc", "import", file, "--out", tmp_path / "out"])
    assert said.code == 1
    assert "nothing was written" in said.err
    assert not (tmp_path / "out").exists()


def test_an_import_replaces_only_when_asked_to(tmp_path: Path) -> None:
    """The serial goes on."""
    file = _write(tmp_path / "b.json", bundle(indicator(EVIL)))
    assert herma(["ioc", "import", file, "--out", tmp_path / "out", "--expires-days", 30]).code == 0
    assert herma(["ioc", "import", file, "--out", tmp_path / "out"]).code == 1
    assert herma(["ioc", "import", file, "--out", tmp_path / "out", "--replace"]).code == 0
    assert json.loads((tmp_path / "out/manifest.json").read_text())["serial"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["ioc"],
        ["ioc", "list", "--nonsense"],
        ["ioc", "import", "x"],
        ["ioc", "import", "x", "--out", "y", "--action", "context"],
        ["ioc", "import", "x", "--out", "y", "--campaign", "My List"],
        ["ioc", "import", "x", "--out", "y", "--expires-days", "0"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_told(words: list[str]) -> None:
    """With the code for wrong calls, and nothing is written."""
    assert herma(words).code == 2


def test_help_is_help() -> None:
    """Of the group and of each command."""
    assert herma(["ioc", "--help"]).code == 0
    assert herma(["ioc", "import", "--help"]).code == 0


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing, of another format, or too large."""
    missing = herma(["ioc", "import", tmp_path / "none.json", "--out", tmp_path / "out"])
    assert (missing.code, "none.json" in missing.err) == (1, True)
    file = _write(tmp_path / "x.json", {})
    odd = herma(["ioc", "import", file, "--out", tmp_path / "out"])
    assert (odd.code, "neither" in odd.err) == (1, True)
    monkeypatch.setattr(module, "MAX_FOREIGN_BYTES", 1)
    large = herma(["ioc", "import", file, "--out", tmp_path / "out"])
    assert (large.code, "larger" in large.err) == (1, True)


def test_an_import_is_bounded_over_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files are no way round."""
    monkeypatch.setattr(module, "MAX_DRAFTS", 1)
    files = [
        _write(tmp_path / f"{name}.json", bundle(indicator(f"[domain-name:value = '{name}.example']")))
        for name in ("a", "b")
    ]
    said = herma(["ioc", "import", *files, "--out", tmp_path / "out"])
    assert (said.code, "more than 1" in said.err) == (1, True)
