"""What an importer found in somebody else's format, before it is judged like any indicator."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from herma.content.ioc.known import FILE_NAMES, RESOLVERS, is_popular
from herma.content.ioc.moment import written
from herma.content.ioc.record import MAX_NOTE_CHARS, Record, read_record
from herma.content.ioc.value import normal_value
from herma.policy.indicator import Action, Matching
from herma.policy.indicator.glance import words
from herma.policy.indicator.name import ascii_name
from herma.policy.indicator.url import parse_locator

__all__ = [
    "MAX_DRAFTS",
    "Draft",
    "Imported",
    "Origin",
    "Skipped",
    "Terms",
    "count_kinds",
    "each_dict",
    "item_of",
    "plain",
    "settle",
    "slug",
    "stricter",
    "truth",
]

# Twenty thousand indicators take a second to read at the start; larger lists belong in a resolver or a firewall.
MAX_DRAFTS = 20_000
# 1 and 0 are equal to True and False.
_TRUE = (True, "true", "1")
_FALSE = (False, "false", "0", "", None)
_ORDER = (Action.CONTEXT, Action.ALERT, Action.BLOCK)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the operator says about an import. `force` lets an indicator refuse what everybody uses."""

    now: datetime
    action: Action = Action.BLOCK
    campaign: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was found: the object's id, what to cite, whose it is, when it holds."""

    id: str
    reference: str
    campaign: str
    valid_from: datetime
    valid_until: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """One value as it was found; `weak` says that it must not refuse by itself, and why."""

    origin: Origin
    value: str
    matching: Matching
    kind: str
    weak: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that did not become an indicator, and why not."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of an import: nothing is in neither list. `other` counts objects that are no indicators by their kind."""

    records: tuple[Record, ...]
    skipped: tuple[Skipped, ...]
    other: Mapping[str, int] = field(default_factory=dict)


def plain(text: object, limit: int = 200) -> str:
    """Cut foreign text to a line that a file and a terminal can show."""
    line = " ".join(str(text).split()) if isinstance(text, (str, int)) else ""
    return "".join(character for character in line if character.isprintable())[:limit].strip()


def truth(value: object) -> bool | None:
    """Read a truth value as JSON has it, or as the text or number that some exporters make of it; None for what is none."""
    if isinstance(value, str):
        value = value.strip().lower()
    if value in _TRUE:
        return True
    return False if value in _FALSE else None


def slug(text: object, default: str) -> str:
    """Make a campaign's name out of a title."""
    folded = unicodedata.normalize("NFKD", plain(text)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:48].strip("-") or default


def settle(
    drafts: Iterable[Draft], skipped: Iterable[Skipped], terms: Terms, file: str
) -> tuple[tuple[Record, ...], tuple[Skipped, ...]]:
    """Judge drafts like written indicators; the same value twice becomes one, with the stricter action.

    Raises:
        ValueError: there are more than one gate should carry.
    """
    kept: dict[tuple[str, str], Record] = {}
    left_out = list(skipped)
    for draft in drafts:
        if draft.origin.valid_until is not None and draft.origin.valid_until < terms.now:
            left_out.append(Skipped(draft.origin.id, f"expired on {written(draft.origin.valid_until)}"))
            continue
        try:
            record = read_record(item_of(draft, terms), file)
            if not words(record.indicator):
                raise ValueError("it has no word that the first look could find")  # noqa: TRY301 - told like the others
        except ValueError as error:
            left_out.append(Skipped(draft.origin.id, f"{draft.kind}: {error}"))
            continue
        key = (record.indicator.matching.value, normal_value(record.indicator))
        kept[key] = stricter(kept[key], record) if key in kept else record
        if len(kept) > MAX_DRAFTS:
            raise ValueError(f"more than {MAX_DRAFTS} indicators")
    return tuple(kept[key] for key in sorted(kept)), tuple(left_out)


def stricter(first: Record, second: Record) -> Record:
    """Give the first record with the stricter action of the two and the longer validity."""
    action = max(first.indicator.action, second.indicator.action, key=_ORDER.index)
    ends = (first.valid_until, second.valid_until)
    until = None if None in ends else max(end for end in ends if end is not None)
    return replace(first, indicator=replace(first.indicator, action=action), valid_until=until)


def item_of(draft: Draft, terms: Terms) -> dict[str, Any]:
    """Write a draft as an item of a file of indicators."""
    action, why = _action(draft, terms)
    digest = hashlib.sha256(f"{draft.matching}\n{draft.value}".encode("utf-8", "replace")).hexdigest()
    campaign = terms.campaign or draft.origin.campaign
    item: dict[str, Any] = {
        "id": f"{campaign}-{digest[:10]}",
        "value": draft.value,
        "match": draft.matching.value,
        "type": draft.kind,
        "campaign": campaign,
        "action": action.value,
        "valid_from": written(draft.origin.valid_from),
    }
    if draft.origin.valid_until is not None:
        item["valid_until"] = written(draft.origin.valid_until)
    if note := "; ".join(part for part in (*draft.origin.notes, why) if part)[:MAX_NOTE_CHARS]:
        item["note"] = note
    item["references"] = [draft.origin.reference]
    return item


def _action(draft: Draft, terms: Terms) -> tuple[Action, str]:
    if terms.action is not Action.BLOCK:
        return terms.action, draft.weak
    if draft.weak:
        return Action.ALERT, draft.weak
    if not terms.force and (why := _everybodys(draft)):
        return Action.ALERT, why
    return Action.BLOCK, ""


def _everybodys(draft: Draft) -> str:
    """Say why a value must not refuse by itself; empty where it may."""
    match draft.matching:
        case Matching.DOMAIN if is_popular(ascii_name(draft.value.partition(":")[0])):
            return "alert only: everybody uses this name"
        case Matching.ADDRESS if draft.value in RESOLVERS:
            return "alert only: a public resolver"
        case Matching.EXACT if draft.kind == "file_name":
            common = draft.value.lower() in FILE_NAMES
            return (
                "alert only: everybody has a file of this name"
                if common
                else "alert only: a name alone proves nothing"
            )
        case Matching.URL:
            return _everybodys_url(draft.value)
        case _:
            return ""


def _everybodys_url(value: str) -> str:
    try:
        locator = parse_locator(value)
    except ValueError:
        return ""
    bare = not locator.path and not locator.query
    return "alert only: everybody uses this site" if bare and is_popular(locator.host) else ""


def count_kinds(kinds: Iterable[str]) -> dict[str, int]:
    """Count what was no indicator."""
    counted: dict[str, int] = {}
    for kind in kinds:
        counted[plain(kind, 64)] = counted.get(plain(kind, 64), 0) + 1
    return dict(sorted(counted.items()))


def each_dict(value: Any) -> Iterator[dict[str, Any]]:
    """Give the mappings of a list; of anything else, nothing."""
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
