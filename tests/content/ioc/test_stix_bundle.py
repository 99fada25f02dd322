"""Claims about `herma.content.ioc.stix_bundle`."""

from typing import Any

import pytest

from herma.content.ioc import stix_bundle as module
from herma.content.ioc.draft import Imported, Terms
from herma.content.ioc.stix_bundle import import_bundle, is_bundle
from support.ioc_files import NOW, bundle, indicator

EVIL = "[domain-name:value = 'evil.example']"


def _import(*objects: Any) -> Imported:
    return import_bundle(bundle(*objects), Terms(NOW), "b.json")


def test_an_indicator_becomes_a_record() -> None:
    """With name, marking, confidence and source in what is kept."""
    found = _import(
        indicator(
            EVIL,
            name="C2",
            confidence=80,
            valid_until="2027-01-01T00:00:00Z",
            object_marking_refs=["marking-definition--f88d31f6-486f-44da-b317-01333bde0b82"],
            external_references=[{"source_name": "a report", "url": "https://example.com/r"}],
        )
    )
    (one,) = found.records
    assert one.indicator.value == "evil.example"
    assert one.note == "C2; TLP:AMBER; confidence 80"
    assert one.references[0].startswith("https://example.com/r (indicator--")
    assert one.valid_until is not None
    assert found.skipped == ()


UNUSED: dict[str, tuple[dict[str, Any], str]] = {
    "revoked": ({"revoked": True}, "revoked"),
    "revoked, as text": ({"revoked": "true"}, "revoked"),
    "revoked, oddly": ({"revoked": ["x"]}, "neither true nor false"),
    "a comment without an end": ({"pattern": "[domain-name:value = 'a.example'] /* x"}, "cannot be read"),
    "another language": ({"pattern_type": "yara"}, "yara"),
    "no pattern": ({"pattern": None}, "no pattern"),
    "benign": ({"indicator_types": ["benign"]}, "benign"),
    "benign by label": ({"labels": ["benign"]}, "benign"),
    "ended": ({"valid_until": "2026-02-01T00:00:00Z"}, "expired"),
    "no pattern at all": ({"pattern": "domain"}, "cannot be read"),
    "an odd day": ({"valid_from": "soon"}, "expected a day"),
    "an odd end": ({"valid_until": 7}, "expected a day"),
}


@pytest.mark.parametrize(("fields", "says"), UNUSED.values(), ids=UNUSED.keys())
def test_what_is_not_used_is_skipped_with_its_reason(fields: dict[str, Any], says: str) -> None:
    """By the id of its object."""
    found = _import(indicator(EVIL) | fields)
    assert found.records == ()
    (left,) = found.skipped
    assert says in left.reason
    assert left.id.startswith("indicator--")


def test_the_newest_version_of_an_object_counts() -> None:
    """In whatever order: what was taken back is not used."""
    old = indicator(EVIL)
    new = indicator(EVIL, modified="2026-02-01T00:00:00.000Z", revoked=True)
    for objects in ((old, new), (new, old)):
        assert _import(*objects).records == ()
    odd = indicator(EVIL, modified="whenever")
    assert len(_import(odd, old).records) == 1


def test_other_objects_are_counted_or_skipped() -> None:
    """What was observed is no indicator by that; nothing is left out silently."""
    found = _import(
        {"type": "malware", "id": "malware--1"},
        {"type": "ipv4-addr", "id": "ipv4-addr--1", "value": "1.2.3.4"},
        {"type": "observed-data"},
        7,
    )
    assert found.other == {"malware": 1}
    assert len(found.skipped) == 3
    assert found.records == ()


def test_the_campaign_is_what_the_indicator_indicates() -> None:
    """Otherwise the report's, otherwise none."""
    objects = (
        {"type": "report", "id": "report--1", "name": "The Report"},
        {"type": "malware", "id": "malware--1", "name": "EvilBot"},
        {
            "type": "relationship",
            "id": "relationship--1",
            "relationship_type": "indicates",
            "source_ref": indicator("")["id"],
            "target_ref": "malware--1",
        },
    )
    assert _import(indicator(EVIL), *objects).records[0].indicator.campaign == "evilbot"
    assert _import(indicator(EVIL), objects[0]).records[0].indicator.campaign == "the-report"
    assert _import(indicator(EVIL)).records[0].indicator.campaign == "stix"


def test_markings_of_the_bundle_are_kept() -> None:
    """Its own definitions of TLP as well as the standard's; others say nothing."""
    own = {"type": "marking-definition", "id": "marking-definition--1", "definition": {"tlp": "green"}}
    other = {"type": "marking-definition", "id": "marking-definition--2", "definition": "x"}
    refs = ["marking-definition--1", "marking-definition--2", "marking-definition--3", 7]
    found = _import(indicator(EVIL, object_marking_refs=refs), own, other)
    assert found.records[0].note == "TLP:GREEN"


def test_a_source_without_an_address_is_cited_by_name() -> None:
    """And one without either by the object's id; an object without a day counts from now."""
    named = indicator(EVIL, external_references=[{"source_name": "a report"}, 7])
    assert _import(named).records[0].references[0].startswith("a report (")
    bare = {"type": "indicator", "pattern": EVIL}
    (one,) = _import(bare).records
    assert one.references == ("STIX indicator",)
    assert one.valid_from == NOW


def test_bundles_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """More objects than anybody judges are refused, and so is what is no list."""
    monkeypatch.setattr(module, "MAX_OBJECTS", 1)
    with pytest.raises(ValueError, match="at most 1"):
        _import({}, {})
    with pytest.raises(ValueError, match="list"):
        import_bundle({"type": "bundle", "objects": {}}, Terms(NOW), "f")
    assert is_bundle({"type": "bundle"})
    assert not is_bundle([])


@pytest.mark.parametrize("value", [False, "false", "False", 0, "0", None, ""])
def test_what_is_said_not_to_be_revoked_is_used(value: object) -> None:
    """Exporters write truth values as text."""
    found = _import(indicator(EVIL, revoked=value))
    assert len(found.records) == 1
    assert found.skipped == ()
