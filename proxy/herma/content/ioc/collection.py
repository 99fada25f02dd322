"""All indicators of one gate: those that ship with it or replace them, and what operators add.

The same value twice becomes one indicator with the stricter action. Those that are past their time, not yet in it, or
suppressed are left out, and a note says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

from herma.content.ioc.directory import Trust, read_directory, read_file
from herma.content.ioc.draft import Terms, stricter
from herma.content.ioc.foreign import MAX_FOREIGN_BYTES, import_foreign
from herma.content.ioc.manifest import Manifest
from herma.content.ioc.moment import written
from herma.content.ioc.record import Record, read_record
from herma.content.ioc.signature import PublicKey
from herma.content.ioc.value import normal_value
from herma.errors import ConfigError, ContentError, Source
from herma.policy.indicator import IndicatorSet
from herma.yamlfile import Loaded, load

__all__ = ["Collection", "IndicatorSources", "collect", "read_source", "records_of"]

# Descriptions of campaigns; holds no indicators.
CAMPAIGNS: Final = "campaigns.yaml"
MAX_INDICATORS: Final = 50_000
# Notes that somebody reads; the rest is counted.
MAX_NOTES: Final = 20


@dataclass(frozen=True, slots=True)
class IndicatorSources:
    """Where indicators come from. `shipped` says that the base came with the program: its keys are the program's own."""

    base: Traversable
    shipped: bool = True
    more: Sequence[Path] = ()
    keys: Sequence[PublicKey] = ()
    minimum: int = 0
    suppressed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Collection:
    """What was read: the records in force, what to tell the operator, and the serial of each manifest.

    At `due` the same files mean something else: an indicator begins or ends, or a manifest ends.
    """

    records: tuple[Record, ...]
    notes: tuple[str, ...]
    serials: Mapping[str, int]
    source: str
    due: datetime | None = None

    def indicators(self) -> IndicatorSet:
        """Arrange the indicators for searching.

        Raises:
            ContentError: there are none, or one cannot be searched for.
        """
        try:
            return IndicatorSet([record.indicator for record in self.records])
        except ValueError as error:
            raise ContentError(str(error), Source(self.source)) from None


def collect(sources: IndicatorSources, now: datetime, floors: Mapping[str, int] | None = None) -> Collection:
    """Read all sources.

    Args:
        sources: Where to read.
        now: When it is, for what begins and ends.
        floors: The serials that were accepted before, by directory; an older state is refused.

    Raises:
        ContentError: one of them cannot be used; then none is.
    """
    notes: list[str] = []
    serials: dict[str, int] = dict(floors or {})
    ends: list[datetime | None] = []
    merged: dict[tuple[object, ...], Record] = {}
    for place, shipped in ((sources.base, sources.shipped), *((path, False) for path in sources.more)):
        trust = Trust(now, () if shipped else sources.keys, floors, sources.minimum, guarded=not shipped)
        pinned = place is sources.base
        records, manifest, said = read_source(place, trust, pinned=pinned)
        notes += said
        if manifest is not None and manifest.serial:
            serials[str(place)] = manifest.serial
        ends.append(manifest.expires if manifest is not None else None)
        _merge(merged, records)
    if len(merged) > MAX_INDICATORS:
        raise ContentError(f"more than {MAX_INDICATORS} indicators", Source(str(sources.base)))
    kept, left_out = _in_force(merged.values(), sources.suppressed, now)
    notes += left_out
    if not kept:
        message = "no indicators here; without any nothing would be found"
        raise ContentError(message, Source(str(sources.base)))
    for record in merged.values():
        ends += (record.valid_from, record.valid_until)
    due = min((moment for moment in ends if moment is not None and moment >= now), default=None)
    return Collection(tuple(kept), _shortened(notes), serials, str(sources.base), due)


def read_source(
    place: Traversable, trust: Trust, *, pinned: bool
) -> tuple[list[Record], Manifest | None, list[str]]:
    """Read one directory, or one file of another format: its records, its manifest, what to say about it.

    Raises:
        ContentError: it cannot be used.
    """
    if isinstance(place, Path) and place.is_file():
        if trust.keys:
            message = "a single file carries no signature; put it into a directory and sign that (`herma ioc pin`, `sign`)"
            raise ContentError(message, Source(str(place)))
        files, manifest = [(place.name, read_file(place, MAX_FOREIGN_BYTES))], None
        directory: Traversable = place.parent
    else:
        files, manifest = read_directory(place, trust, pinned=pinned)
        directory = place
    records, notes = records_of(files, directory, trust.now)
    return records, manifest, notes


def records_of(
    files: Sequence[tuple[str, bytes]], directory: Traversable, now: datetime
) -> tuple[list[Record], list[str]]:
    """Read the records of files that were read; tell what was left out.

    Raises:
        ContentError: one cannot be used, or there is nothing in them.
    """
    records: dict[str, Record] = {}
    notes: list[str] = []
    values: set[tuple[object, ...]] = set()
    for name, content in files:
        file = str(directory / name)
        if name.endswith(".json"):
            imported = import_foreign(content, file, Terms(now))
            notes += [f"{file}: {one.id or 'an object'} is skipped: {one.reason}" for one in imported.skipped]
            for record in imported.records:
                records.setdefault(record.indicator.id, record)
        elif name != CAMPAIGNS:
            _add(records, values, content, file)
    if not records:
        raise ContentError("no indicators here; without any nothing would be found", Source(str(directory)))
    return list(records.values()), notes


def _add(records: dict[str, Record], values: set[tuple[object, ...]], content: bytes, file: str) -> None:
    loaded = _load(content, file)
    for index, item in enumerate(_list(loaded)):
        try:
            record = read_record(item, file)
        except ValueError as error:
            raise ContentError(f"cannot be used: {error}", loaded.at(("indicators", index))) from None
        if record.indicator.id in records or _key(record) in values:
            raise ContentError("this indicator is listed twice", loaded.at(("indicators", index)))
        records[record.indicator.id] = record
        values.add(_key(record))


def _load(content: bytes, file: str) -> Loaded:
    try:
        return load(content, file)
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error


def _list(loaded: Loaded) -> list[Any]:
    value = loaded.value
    if not isinstance(value, dict) or not isinstance(value.get("indicators"), list) or len(value) != 1:
        raise ContentError("expected a list `indicators` and nothing else", loaded.at(()))
    found: list[Any] = value["indicators"]
    return found


def _key(record: Record) -> tuple[object, ...]:
    one = record.indicator
    return one.matching, one.ecosystem, normal_value(one), one.versions, one.entry_only


def _merge(merged: dict[tuple[object, ...], Record], records: Sequence[Record]) -> None:
    ids = {record.indicator.id: key for key, record in merged.items()}
    for record in records:
        key = _key(record)
        taken = ids.get(record.indicator.id, key)
        if taken != key:
            raise ContentError(
                f"the id {record.indicator.id} is taken by another indicator of {merged[taken].file}",
                Source(record.file),
            )
        merged[key] = stricter(merged[key], record) if key in merged else record


def _in_force(
    records: Iterable[Record], suppressed: Mapping[str, str], now: datetime
) -> tuple[list[Record], list[str]]:
    kept: list[Record] = []
    notes: list[str] = []
    unknown = set(suppressed)
    for record in records:
        name = record.indicator.id
        unknown.discard(name)
        if name in suppressed:
            notes.append(f"indicator {name} is suppressed: {suppressed[name]}")
        elif record.valid_until is not None and record.valid_until < now:
            notes.append(f"indicator {name} of {record.file} ended on {written(record.valid_until)}")
        elif record.valid_from is not None and record.valid_from > now:
            notes.append(f"indicator {name} of {record.file} begins on {written(record.valid_from)}")
        else:
            kept.append(record)
    notes += [f"indicator {name} is suppressed, but there is none of this id" for name in sorted(unknown)]
    return kept, notes


def _shortened(notes: list[str]) -> tuple[str, ...]:
    if len(notes) <= MAX_NOTES:
        return tuple(notes)
    return (
        *notes[:MAX_NOTES],
        f"and {len(notes) - MAX_NOTES} more; `herma ioc import` and `herma ioc list` show all",
    )
