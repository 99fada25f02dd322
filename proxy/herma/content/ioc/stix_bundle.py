"""STIX 2.1 bundles: their indicators as records, everything else counted or skipped with a reason."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from herma.content.ioc.draft import (
    Draft,
    Imported,
    Origin,
    Skipped,
    Terms,
    count_kinds,
    each_dict,
    plain,
    settle,
    slug,
    truth,
)
from herma.content.ioc.moment import parse_moment
from herma.content.ioc.observable import drafts_of
from herma.content.ioc.stix_pattern import PatternError, parse_pattern

__all__ = ["import_bundle", "is_bundle"]

MAX_OBJECTS = 100_000

# The marking objects that the standards define (STIX 2.1 section 7.2.1.4 and OASIS's for TLP 2.0); bundles need not
# carry them.
_TLP = {
    "marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9": "TLP:WHITE",
    "marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da": "TLP:GREEN",
    "marking-definition--f88d31f6-486f-44da-b317-01333bde0b82": "TLP:AMBER",
    "marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed": "TLP:RED",
    "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487": "TLP:CLEAR",
    "marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb": "TLP:GREEN",
    "marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421": "TLP:AMBER",
    "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003": "TLP:AMBER+STRICT",
    "marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1": "TLP:RED",
}
_ATTRIBUTED = ("campaign", "intrusion-set", "malware", "threat-actor", "tool")
_SEEN = ("observed-data", "ipv4-addr", "ipv6-addr", "domain-name", "url", "file", "email-addr", "process")


def is_bundle(value: Any) -> bool:
    """Tell whether a JSON value is a STIX bundle."""
    return isinstance(value, dict) and value.get("type") == "bundle"


def import_bundle(value: Mapping[str, Any], terms: Terms, file: str) -> Imported:
    """Read the indicators of a bundle.

    Raises:
        ValueError: it is larger than a gate should carry, or holds no list of objects.
    """
    objects = value.get("objects", [])
    if not isinstance(objects, list) or len(objects) > MAX_OBJECTS:
        raise ValueError(f"expected a list of at most {MAX_OBJECTS} objects")
    bundle = _Bundle(objects, terms)
    found = [one for item in bundle.indicators for one in bundle.read(item)]
    skipped = [one for one in found if isinstance(one, Skipped)] + bundle.no_indicators
    records, left_out = settle((one for one in found if isinstance(one, Draft)), skipped, terms, file)
    return Imported(records, left_out, bundle.other)


class _Bundle:
    """The objects by what they are for."""

    def __init__(self, objects: list[Any], terms: Terms) -> None:
        self._terms = terms
        newest: dict[str, dict[str, Any]] = {}
        kinds: list[str] = []
        self.no_indicators = [
            Skipped("", "an object is no mapping") for item in objects if not isinstance(item, dict)
        ]
        for item in each_dict(objects):
            kind = str(item.get("type"))
            key = item.get("id") if isinstance(item.get("id"), str) else f"object {len(newest)}"
            if kind in _SEEN:
                self.no_indicators.append(
                    Skipped(plain(key), f"{kind} was observed, which does not make it an indicator")
                )
            elif kind != "indicator":
                kinds.append(kind)
            # A bundle may hold several versions of one object; a later one may take it back.
            if str(key) not in newest or _modified(item) >= _modified(newest[str(key)]):
                newest[str(key)] = item
        self.other = count_kinds(kinds)
        self._by_id = newest
        self.indicators = [item for item in newest.values() if item.get("type") == "indicator"]
        self._indicates = {
            str(item.get("source_ref")): self._by_id.get(str(item.get("target_ref")), {})
            for item in newest.values()
            if item.get("type") == "relationship" and item.get("relationship_type") == "indicates"
        }
        self._campaign = slug(self._title(), "stix")

    def _title(self) -> str:
        for kind in ("report", "campaign", "grouping", "intrusion-set"):
            for item in self._by_id.values():
                if item.get("type") == kind and plain(item.get("name")):
                    return plain(item["name"])
        return ""

    def read(self, item: dict[str, Any]) -> Iterator[Draft | Skipped]:
        """Give what one indicator says, or why it says nothing."""
        name = plain(item.get("id")) or "indicator"
        if reason := self._unusable(item):
            yield Skipped(name, reason)
            return
        try:
            origin = self._origin(item, name)
            node = parse_pattern(item["pattern"])
        except PatternError as error:
            yield Skipped(name, f"the pattern cannot be read: {error}")
        except ValueError as error:
            yield Skipped(name, str(error))
        else:
            yield from drafts_of(node, origin)

    def _unusable(self, item: dict[str, Any]) -> str:
        revoked = truth(item.get("revoked"))
        if revoked is not False:
            return "revoked" if revoked else "whether it is revoked is said by neither true nor false"
        kind = item.get("pattern_type", "stix")
        if kind != "stix":
            return f"a pattern of the type {plain(kind, 32)} cannot be expressed"
        if not isinstance(item.get("pattern"), str):
            return "it has no pattern"
        kinds = [*_texts(item.get("indicator_types")), *_texts(item.get("labels"))]
        return "it marks what is benign" if "benign" in kinds else ""

    def _origin(self, item: dict[str, Any], name: str) -> Origin:
        starts = item.get("valid_from", item.get("created"))
        until = item.get("valid_until")
        notes = [plain(item.get("name")), *self._marks(item)]
        if isinstance(item.get("confidence"), int):
            notes.append(f"confidence {item['confidence']}")
        return Origin(
            id=name,
            reference=_reference(item, name),
            campaign=self._campaign_of(item),
            valid_from=parse_moment(starts) if starts is not None else self._terms.now,
            valid_until=parse_moment(until) if until is not None else None,
            notes=tuple(filter(None, notes)),
        )

    def _campaign_of(self, item: dict[str, Any]) -> str:
        target = self._indicates.get(str(item.get("id")), {})
        return slug(target.get("name"), "stix") if target.get("type") in _ATTRIBUTED else self._campaign

    def _marks(self, item: dict[str, Any]) -> list[str]:
        marks = []
        for reference in _texts(item.get("object_marking_refs")):
            definition = self._by_id.get(reference, {}).get("definition", {})
            tlp = definition.get("tlp") if isinstance(definition, dict) else None
            marks.append(_TLP.get(reference) or (f"TLP:{plain(tlp, 16).upper()}" if tlp else ""))
        return marks


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _modified(item: dict[str, Any]) -> datetime:
    try:
        return parse_moment(item.get("modified", item.get("created")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _reference(item: dict[str, Any], name: str) -> str:
    for reference in each_dict(item.get("external_references")):
        if cited := plain(reference.get("url")) or plain(reference.get("source_name")):
            return f"{cited} ({name})"
    return f"STIX {name}"
