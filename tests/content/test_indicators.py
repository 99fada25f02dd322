"""Claims about `herma.content.indicators`."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from herma.content.indicators import load_indicators
from herma.content.ioc import directory as module
from herma.content.shipped import data_dir
from herma.errors import ContentError
from herma.policy.indicator import Action
from support.ioc_files import GOOD


def _write(directory: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (directory / name).write_text(text)
    pins = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    (directory / "manifest.json").write_text(json.dumps({"schema": 1, "files": pins}))
    return directory


def test_the_shipped_indicators_are_read() -> None:
    """All of them pass the checks, and each kind of action is there."""
    shipped = load_indicators(data_dir("ioc")).indicators
    assert len(shipped) > 250
    assert {indicator.action for indicator in shipped} == set(Action)


def test_campaigns_of_the_shipped_indicators_are_described() -> None:
    """No indicator belongs to a campaign that the directory says nothing about."""
    text = data_dir("ioc").joinpath("campaigns.yaml").read_text(encoding="utf-8")
    assert all(
        f"id: {indicator.campaign}\n" in text for indicator in load_indicators(data_dir("ioc")).indicators
    )


def test_a_pinned_file_is_read(tmp_path: Path) -> None:
    """Fields arrive as they are written; the campaign file holds no indicators."""
    (found,) = load_indicators(
        _write(tmp_path, {"address.yaml": GOOD, "campaigns.yaml": "campaigns: []\n"})
    ).indicators
    assert (found.id, found.value, found.action) == ("c-01", "203.113.5.7", Action.BLOCK)


def _replace(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


REFUSED: dict[str, tuple[Callable[[str], str], str]] = {
    "an unknown key": (_replace("type: ipv4", "type: ipv4\n    extra: 1"), "unknown key"),
    "no reference": (_replace('["https://example.com/report"]', "[]"), "references"),
    "an unknown way of matching": (_replace("match: address", "match: fuzzy"), "cannot be used"),
    "an unknown action": (_replace("action: block", "action: maybe"), "cannot be used"),
    "a private address": (_replace("203.113.5.7", "192.168.1.1"), "private"),
    "a wide network": (_replace("203.113.5.7", "8.0.0.0/8"), "wide"),
    "no address": (_replace("203.113.5.7", "x"), "cannot be used"),
    "a domain of one label": (
        _replace('"203.113.5.7"\n    match: address', "com\n    match: domain"),
        "two labels",
    ),
    "a broken pattern": (
        _replace('"203.113.5.7"\n    match: address', "'['\n    match: regex"),
        "cannot be used",
    ),
    "a package without its ecosystem": (_replace("match: address", "match: package"), "ecosystem"),
    "a short value": (_replace('"203.113.5.7"\n    match: address', "ab\n    match: word"), "too short"),
    "an indicator that is no mapping": (lambda _: "indicators: [x]\n", "a mapping"),
    "no list": (lambda _: "indicators: x\n", "expected a list"),
    "no mapping": (lambda _: "- x\n", "expected a list"),
    "an empty list": (lambda _: "indicators: []\n", "no indicators"),
    "broken YAML": (lambda _: "a: [\n", "address.yaml"),
    "a value that the first look cannot find": (
        _replace('"203.113.5.7"\n    match: address', "/tmp/.x\n    match: path"),
        "first look",
    ),
    "the same id twice": (
        lambda text: text + text.partition("\n")[2].replace("203.113.5.7", "203.113.5.8"),
        "twice",
    ),
    "the same value twice": (lambda text: text + text.partition("\n")[2].replace("c-01", "c-02"), "twice"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_file_that_cannot_be_trusted_is_refused(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    """Each mistake is an error with its place, never a shorter list."""
    with pytest.raises(ContentError, match=message):
        load_indicators(_write(tmp_path, {"address.yaml": change(GOOD)}))


def test_a_pattern_and_a_package_are_accepted(tmp_path: Path) -> None:
    """The kinds that need more have it."""
    text = GOOD.replace(
        '"203.113.5.7"\n    match: address', "'abcd[0-9]'\n    match: regex"
    ) + GOOD.partition("\n")[2].replace("c-01", "c-02").replace(
        '"203.113.5.7"\n    match: address', "bad.example\n    match: domain"
    )
    text += (
        GOOD.partition("\n")[2]
        .replace("c-01", "c-03")
        .replace("match: address", 'match: package\n    ecosystem: npm\n    versions: ["1.0"]')
    )
    text += (
        GOOD.partition("\n")[2]
        .replace("c-01", "c-04")
        .replace('"203.113.5.7"\n    match: address', "wallet\n    match: word")
    )
    assert len(load_indicators(_write(tmp_path, {"address.yaml": text})).indicators) == 4


def test_files_and_manifest_agree_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not pinned, is missing, differs, or is too large stops the start."""
    directory = _write(tmp_path, {"address.yaml": GOOD})
    (directory / "more.yaml").write_text(GOOD)
    with pytest.raises(ContentError, match="differ"):
        load_indicators(directory)
    (directory / "more.yaml").unlink()
    (directory / "address.yaml").write_text(GOOD + "\n")
    with pytest.raises(ContentError, match="digest"):
        load_indicators(directory)
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    with pytest.raises(ContentError, match="larger"):
        load_indicators(_write(tmp_path, {"address.yaml": GOOD}))


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"files": []}', '{"files":{"a":1},"files":{}}'])
def test_a_manifest_that_pins_nothing_is_refused(tmp_path: Path, manifest: str) -> None:
    """So is one that cannot be read in one way."""
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "address.yaml").write_text(GOOD)
    with pytest.raises(ContentError, match="manifest"):
        load_indicators(tmp_path)


def test_a_directory_without_a_manifest_is_refused(tmp_path: Path) -> None:
    """Missing data is not "no indicators"."""
    with pytest.raises(ContentError, match="manifest"):
        load_indicators(tmp_path)
