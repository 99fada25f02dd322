"""Claims about `herma.content.ioc.collection`."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from herma.content.ioc import collection as module
from herma.content.ioc.collection import IndicatorSources, collect
from herma.content.ioc.publication import pin
from herma.content.ioc.signature import new_signing_key, sign
from herma.content.shipped import data_dir
from herma.errors import ContentError
from herma.policy.indicator import Action
from support.ioc_files import NOW, attribute, bundle, directory, event, indicator, item

DOMAIN: dict[str, Any] = {"match": "domain", "type": "domain"}


def _sources(tmp_path: Path, *more: Path, **fields: Any) -> IndicatorSources:
    return IndicatorSources(directory(tmp_path / "base"), shipped=False, more=more, **fields)


def _found(sources: IndicatorSources) -> dict[str, Action]:
    return {one.indicator.value: one.indicator.action for one in collect(sources, NOW).records}


def test_the_shipped_indicators_are_all_in_force() -> None:
    """Nobody has to be told anything about them."""
    found = collect(IndicatorSources(data_dir("ioc")), datetime(2026, 12, 1, tzinfo=UTC))
    assert len(found.records) == 294
    assert found.notes == ()
    assert len(found.indicators().indicators) == 294


def test_directories_and_files_of_operators_are_added(tmp_path: Path) -> None:
    """A directory of YAML, one with a bundle in it, a bundle, an event."""
    own = directory(tmp_path / "own", item(id="o-1", value="own.example", **DOMAIN), pin=False)
    (own / "b.json").write_text(json.dumps(bundle(indicator("[domain-name:value='stix.example']"))))
    (tmp_path / "e.json").write_text(json.dumps(event(attribute("domain", "misp.example"))))
    found = _found(_sources(tmp_path, own, tmp_path / "e.json"))
    assert found.keys() == {"203.113.5.7", "own.example", "stix.example", "misp.example"}
    assert set(found.values()) == {Action.BLOCK}


def test_the_same_value_twice_is_one_with_the_stricter_action(tmp_path: Path) -> None:
    """Under the id that it had first."""
    base = directory(tmp_path / "base", item(value="evil.example", action="alert", **DOMAIN))
    own = directory(tmp_path / "own", item(id="o-1", value="evil.example", **DOMAIN))
    (one,) = collect(IndicatorSources(base, shipped=False, more=(own,)), NOW).records
    assert (one.indicator.id, one.indicator.action) == ("c-01", Action.BLOCK)


def test_an_id_stands_for_one_value(tmp_path: Path) -> None:
    """Two directories that use one id for two things are an error."""
    own = directory(tmp_path / "own", item(value="other.example", **DOMAIN))
    with pytest.raises(ContentError, match="taken by another"):
        collect(_sources(tmp_path, own), NOW)


def test_what_is_not_in_force_is_left_out_with_a_note(tmp_path: Path) -> None:
    """Past its time, before it, or suppressed; an id that suppresses nothing is told as well."""
    own = directory(
        tmp_path / "own",
        item(id="o-1", value="past.example", valid_until="2026-11", **DOMAIN),
        item(id="o-2", value="future.example", valid_from="2027-01-01", **DOMAIN),
        item(id="o-3", value="mine.example", **DOMAIN),
    )
    found = collect(_sources(tmp_path, own, suppressed={"o-3": "our own", "o-9": "a typo"}), NOW)
    assert [one.indicator.id for one in found.records] == ["c-01"]
    told = "\n".join(found.notes)
    assert "o-1" in told
    assert "ended on 2026-11-30" in told
    assert "begins on 2027-01-01" in told
    assert "o-3 is suppressed: our own" in told
    assert "o-9 is suppressed, but there is none" in told


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    """Also when all of it was suppressed or ended: without indicators nothing would be found."""
    with pytest.raises(ContentError, match="no indicators here"):
        collect(_sources(tmp_path, suppressed={"c-01": "x"}), NOW)
    for number, empty in enumerate((bundle(), bundle(indicator("[ipv4-addr:value='127.0.0.1']")))):
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(empty))
        with pytest.raises(ContentError, match="no indicators here"):
            collect(_sources(tmp_path, file), NOW)


def test_many_notes_are_counted(tmp_path: Path) -> None:
    """Nobody reads a thousand lines at the start."""
    bad = [indicator("[ipv4-addr:value='127.0.0.1']", number) for number in range(30)]
    (tmp_path / "b.json").write_text(
        json.dumps(bundle(indicator("[domain-name:value='evil.example']", 99), *bad))
    )
    notes = collect(_sources(tmp_path, tmp_path / "b.json"), NOW).notes
    assert len(notes) == module.MAX_NOTES + 1
    assert notes[-1].startswith("and 10 more")


def test_the_number_of_indicators_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump is no list."""
    monkeypatch.setattr(module, "MAX_INDICATORS", 0)
    with pytest.raises(ContentError, match="more than 0"):
        collect(_sources(tmp_path), NOW)


def test_an_indicator_that_cannot_be_searched_for_is_an_error(tmp_path: Path) -> None:
    """It says so at the start, not by finding nothing."""
    own = directory(tmp_path / "own", item(id="o-1", value="/tmp/.x", match="path", type="path"))
    with pytest.raises(ContentError, match="first look"):
        collect(_sources(tmp_path, own), NOW).indicators()


def test_keys_ask_for_signatures_of_all_but_the_shipped(tmp_path: Path) -> None:
    """Serials are remembered by directory; a file by itself cannot be signed."""
    key = new_signing_key()
    own = directory(tmp_path / "own", item(id="o-1", value="own.example", **DOMAIN))
    sources = IndicatorSources(data_dir("ioc"), more=(own,), keys=(key.public,))
    with pytest.raises(ContentError, match="schema 2"):
        collect(sources, NOW)
    pin(own, NOW, serial=4)
    (own / "manifest.sig").write_bytes(sign((own / "manifest.json").read_bytes(), key))
    found = collect(sources, NOW)
    assert (len(found.records), found.serials[str(own)]) == (295, 4)
    assert collect(replace(sources, more=()), NOW, found.serials).serials[str(own)] == 4
    with pytest.raises(ContentError, match="older state"):
        collect(sources, NOW, {str(own): 5})
    (tmp_path / "b.json").write_text(json.dumps(bundle(indicator("[domain-name:value='evil.example']"))))
    with pytest.raises(ContentError, match="carries no signature"):
        collect(replace(sources, more=(tmp_path / "b.json",)), NOW)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("indicators: []\nmore: 1\n", "nothing else"),
        ("a: &x [1]\nb: *x\n", "anchor"),
        ("indicators: [{id: x}]\n", "cannot be used"),
        ("indicators:\n" + "  - " * 200 + "x\n", "level"),
    ],
)
def test_odd_yaml_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """Aliases, which are how a small file becomes a large one, and what is deep."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.yaml").write_text(text)
    with pytest.raises(ContentError, match=says):
        collect(_sources(tmp_path, own), NOW)
