"""Claims about `herma.content.ioc.misp_event`."""

from typing import Any

import pytest

from herma.content.ioc import misp_event as module
from herma.content.ioc.draft import Imported, Terms
from herma.content.ioc.misp_event import import_events, is_events
from herma.policy.indicator import Action
from support.ioc_files import NOW, attribute, event

MD5 = "0123456789abcdef0123456789abcdef"


def _import(*attributes: Any, **fields: Any) -> Imported:
    return import_events(event(*attributes, **fields), Terms(NOW), "e.json")


KINDS = {
    "ip-src": ("203.113.5.7", ["203.113.5.7"]),
    "ip-dst": ("2a0e:bad::7", ["2a0e:bad::7"]),
    "ip-dst|port": ("203.113.5.7|443", ["203.113.5.7:443"]),
    "ip-src|port": ("2a0e:bad::7|443", ["[2a0e:bad::7]:443"]),
    "domain": ("Evil.example", ["evil.example"]),
    "hostname": ("c2.evil.example.", ["c2.evil.example"]),
    "hostname|port": ("C2.evil.example|81", ["c2.evil.example:81"]),
    "domain|ip": ("evil.example|203.113.5.7", ["203.113.5.7", "evil.example"]),
    "url": ("evil.example/x", ["http://evil.example/x"]),
    "md5": (MD5.upper(), [MD5]),
    "sha1": (MD5 + "01234567", [MD5 + "01234567"]),
    "sha256": (MD5 * 2, [MD5 * 2]),
    "filename|md5": (f"x.exe|{MD5}", [MD5]),
    "filename": ("evil.exe", ["evil.exe"]),
    "email-src": ("a@evil.example", ["a@evil.example"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_become_records(kind: str) -> None:
    """Each kind in its form, of an event or of an object in one."""
    value, values = KINDS[kind]
    for found in (_import(attribute(kind, value)), _import(Object=[{"Attribute": [attribute(kind, value)]}])):
        assert sorted(one.indicator.value for one in found.records) == values
        assert found.skipped == ()


def test_what_is_not_marked_for_detection_only_reports() -> None:
    """So does what stands on a list of harmless things."""
    (one,) = _import(attribute("domain", "evil.example", to_ids=False)).records
    assert one.indicator.action is Action.ALERT
    (one,) = _import(attribute("domain", "evil.example", to_ids=[])).records
    assert one.indicator.action is Action.ALERT
    (one,) = _import(attribute("domain", "evil.example", warnings=[{"match": "x"}])).records
    assert one.indicator.action is Action.ALERT
    for marked in ("1", 1, "true", "True"):
        (one,) = _import(attribute("domain", "evil.example", to_ids=marked, deleted="false")).records
        assert one.indicator.action is Action.BLOCK


UNUSED: dict[str, tuple[dict[str, Any], str]] = {
    "deleted": ({"deleted": True}, "deleted"),
    "deleted, oddly": ({"deleted": ["x"]}, "deleted"),
    "decayed": ({"decay_score": [{"score": 1, "decayed": True}]}, "decayed"),
    "no value": ({"value": None}, "no type and value"),
    "another type": ({"type": "mutex"}, "mutex"),
    "another digest": ({"type": "filename|ssdeep"}, "ssdeep"),
    "private": ({"type": "ip-dst", "value": "10.1.2.3"}, "private"),
    "no day": ({"first_seen": "soon"}, "expected a day"),
    "no port": ({"type": "ip-dst|port", "value": "203.113.5.7|x"}, "port"),
}


@pytest.mark.parametrize(("fields", "says"), UNUSED.values(), ids=UNUSED.keys())
def test_what_is_not_used_is_skipped_with_its_reason(fields: dict[str, Any], says: str) -> None:
    """By the attribute's id."""
    found = _import(attribute("domain", "evil.example") | fields)
    assert found.records == ()
    (left,) = found.skipped
    assert says in left.reason


def test_the_attributes_of_a_deleted_object_are_deleted() -> None:
    """They do not outlive it."""
    for deleted, count in ((True, 0), ("true", 0), ("0", 1), ("false", 1)):
        inner = [attribute("domain", "evil.example")]
        assert len(_import(Object=[{"deleted": deleted, "Attribute": inner}]).records) == count


def test_what_is_known_of_an_attribute_is_kept() -> None:
    """Comment, marking, the last time it was seen, the event."""
    found = _import(
        attribute(
            "domain",
            "evil.example",
            comment="C2",
            last_seen="2026-10-01T00:00:00+00:00",
            first_seen="2026-09-01",
        ),
        Tag=[{"name": "tlp:amber"}, {"name": "other"}],
    )
    (one,) = found.records
    assert one.note == "C2; TLP:AMBER; last seen 2026-10-01T00:00:00+00:00"
    assert one.references[0].startswith("MISP event e, attribute 00000000-")
    assert one.references[0].endswith(": Evil campaign")
    assert one.indicator.campaign == "evil-campaign"
    (bare,) = import_events(
        {"Event": {"Attribute": [{"type": "domain", "value": "evil.example"}]}}, Terms(NOW), "f"
    ).records
    assert bare.valid_from == NOW


def test_answers_of_a_search_are_read_as_well() -> None:
    """Events in a list, in an answer, and bare attributes."""
    one = event(attribute("domain", "evil.example"))
    for value in (
        [one],
        {"response": [one]},
        {"response": {"Attribute": [attribute("domain", "evil.example")]}},
        {"response": one},
    ):
        assert len(import_events(value, Terms(NOW), "f").records) == 1
        assert is_events(value)
    for value in ({}, [], 7, {"response": 7}, {"Event": []}, [[one]]):
        assert not is_events(value)


def test_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than anybody judges is an error, not a shorter list."""
    monkeypatch.setattr(module, "MAX_ATTRIBUTES", 1)
    with pytest.raises(ValueError, match="attributes"):
        _import(attribute("domain", "a.example"), attribute("domain", "b.example"))
    monkeypatch.setattr(module, "MAX_EVENTS", 1)
    with pytest.raises(ValueError, match="events"):
        import_events([event(), event()], Terms(NOW), "f")
