"""MISP events: their attributes as records, everything else skipped with a reason."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from herma.content.ioc.draft import (
    Draft,
    Imported,
    Origin,
    Skipped,
    Terms,
    each_dict,
    plain,
    settle,
    slug,
    truth,
)
from herma.content.ioc.moment import parse_moment
from herma.content.ioc.observable import address_or_name, digest
from herma.policy.indicator import Matching

__all__ = ["import_events", "is_events"]

MAX_EVENTS = 1000
MAX_ATTRIBUTES = 100_000

_SEEN_ONLY = "alert only: not marked for detection (to_ids)"
_DIGESTS = frozenset({"md5", "sha1", "sha256", "sha512"})
_EMAILS = frozenset({"email", "email-src", "email-dst", "email-reply-to"})


def is_events(value: Any) -> bool:
    """Tell whether a JSON value is a MISP event, a list of them, or a search's answer."""
    return any(True for _ in _events(value))


def _events(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in each_dict(value):
            yield from _events(item)
    elif isinstance(value, dict):
        inner = value.get("Event")
        if isinstance(inner, dict):
            yield inner
        elif "response" in value:
            answer = value["response"]
            yield from _events(answer)
            if isinstance(answer, dict) and isinstance(answer.get("Attribute"), list):
                yield {"Attribute": answer["Attribute"]}


def import_events(value: Any, terms: Terms, file: str) -> Imported:
    """Read the attributes of events.

    Raises:
        ValueError: there are more than a gate should carry.
    """
    events = list(_events(value))
    if len(events) > MAX_EVENTS:
        raise ValueError(f"more than {MAX_EVENTS} events")
    found: list[Draft | Skipped] = []
    for event in events:
        for attribute in _attributes(event):
            found += _read(event, attribute, terms)
            if len(found) > MAX_ATTRIBUTES:
                raise ValueError(f"more than {MAX_ATTRIBUTES} attributes")
    skipped = [one for one in found if isinstance(one, Skipped)]
    records, left_out = settle((one for one in found if isinstance(one, Draft)), skipped, terms, file)
    return Imported(records, left_out)


def _attributes(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from each_dict(event.get("Attribute"))
    for item in each_dict(event.get("Object")):
        gone = truth(item.get("deleted")) is not False
        for attribute in each_dict(item.get("Attribute")):
            yield {**attribute, "deleted": True} if gone else attribute


def _read(event: Mapping[str, Any], attribute: Mapping[str, Any], terms: Terms) -> list[Draft | Skipped]:
    name = plain(attribute.get("uuid")) or plain(attribute.get("id")) or "attribute"
    kind, value = attribute.get("type"), attribute.get("value")
    if truth(attribute.get("deleted")) is not False:
        return [Skipped(name, "deleted")]
    if any(item.get("decayed") is True for item in each_dict(attribute.get("decay_score"))):
        return [Skipped(name, "decayed: its source no longer stands for it")]
    if not isinstance(kind, str) or not isinstance(value, str):
        return [Skipped(name, "it has no type and value")]
    try:
        origin = _origin(event, attribute, name, terms)
    except ValueError as error:
        return [Skipped(name, str(error))]
    return list(_drafts(kind, value.strip(), origin, _weakness(attribute)))


def _weakness(attribute: Mapping[str, Any]) -> str:
    if truth(attribute.get("to_ids")) is not True:
        return _SEEN_ONLY
    return "alert only: on a list of what is commonly harmless" if attribute.get("warnings") else ""


def _origin(event: Mapping[str, Any], attribute: Mapping[str, Any], name: str, terms: Terms) -> Origin:
    title = plain(event.get("info"), 120)
    uuid = plain(event.get("uuid")) or plain(attribute.get("event_id"))
    tags = [plain(tag.get("name")) for owner in (event, attribute) for tag in each_dict(owner.get("Tag"))]
    starts = attribute.get("first_seen") or attribute.get("timestamp") or event.get("date")
    notes = [
        plain(attribute.get("comment")),
        *(tag.upper() for tag in tags if tag.lower().startswith("tlp:")),
    ]
    if attribute.get("last_seen"):
        notes.append(f"last seen {plain(attribute['last_seen'], 32)}")
    return Origin(
        id=name,
        reference=f"MISP event {uuid}, attribute {name}" + (f": {title}" if title else ""),
        campaign=slug(title, "misp"),
        valid_from=_moment(starts) if starts else terms.now,
        notes=tuple(filter(None, notes)),
    )


def _moment(value: Any) -> datetime:
    if (
        isinstance(value, (int, str))
        and str(value).isascii()
        and str(value).isdigit()
        and len(str(value)) < 12
    ):
        return datetime.fromtimestamp(int(value), UTC)
    return parse_moment(value)


def _drafts(kind: str, value: str, origin: Origin, weak: str) -> Iterator[Draft | Skipped]:
    first, bar, second = value.partition("|")
    match kind:
        case "ip-src" | "ip-dst":
            yield Draft(origin, value, Matching.ADDRESS, "ipv6" if ":" in value else "ipv4", weak)
        case "ip-src|port" | "ip-dst|port":
            joined = f"[{first}]:{second}" if ":" in first else f"{first}:{second}"
            yield Draft(origin, joined if bar else value, Matching.ADDRESS, "host_port", weak)
        case "domain" | "hostname":
            yield Draft(origin, value.lower().removesuffix("."), Matching.DOMAIN, "domain", weak)
        case "hostname|port":
            yield Draft(origin, f"{first.lower()}:{second}", Matching.DOMAIN, "host_port", weak)
        case "domain|ip":
            yield address_or_name(first, origin, weak)
            yield Draft(origin, second, Matching.ADDRESS, "ipv6" if ":" in second else "ipv4", weak)
        case "url":
            yield Draft(origin, value if "://" in value else f"http://{value}", Matching.URL, "url", weak)
        case "filename":
            yield Draft(origin, value, Matching.EXACT, "file_name", weak)
        case _ if kind in _EMAILS:
            yield Draft(origin, value, Matching.EMAIL, "email", weak)
        case _ if kind in _DIGESTS:
            yield digest(kind, value, origin, weak)
        case _ if kind.startswith("filename|"):
            # The digest stands for the file, whatever it is called.
            yield digest(kind.partition("|")[2], second, origin, weak)
        case _:
            yield Skipped(origin.id, f"attributes of the type {plain(kind, 64)} cannot be seen in requests")
