"""What the console says about rules and indicators: read again from their files when somebody asks, beside the event loop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePath

from herma.config.settings import Settings
from herma.console import Feed, RuleText
from herma.content.ioc.record import Record
from herma.content.library import Library
from herma.content.shipped import data_dir
from herma.errors import ContentError
from herma.policy.exemption import Kind
from herma.policy.indicator import Indicator

__all__ = ["Shelf"]

_INDICATOR = "ioc-"
_SHIPPED = "shipped with Herma"
# A rule for secrets has no subject: what it finds is masked for everybody.
_SUBJECTS = {"mcp": Kind.SERVER.value, "cron": Kind.JOB.value}


@dataclass(frozen=True, slots=True)
class _Indicators:
    """The indicators of one version of the configuration."""

    settings: Settings | None = None
    feeds: tuple[Feed, ...] = ()
    records: dict[str, Record] = field(default_factory=dict)
    problem: str = ""


class Shelf:
    """Looks things up in the content of the configuration of the moment."""

    def __init__(
        self, settings: Callable[[], Settings], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._settings = settings
        self._now = now
        self._known = _Indicators()
        self._busy = asyncio.Lock()

    async def feeds(self) -> tuple[tuple[Feed, ...], str]:
        """List the sources of indicators; the text says why there are none."""
        known = await self._indicators()
        return known.feeds, known.problem

    async def rule(self, rule_id: str) -> RuleText | None:
        """Return what a rule or an indicator says; None for what is neither."""
        if rule_id.startswith(_INDICATOR):
            record = (await self._indicators()).records.get(rule_id.removeprefix(_INDICATOR))
            return _of_record(rule_id, record) if record is not None else None
        return await asyncio.to_thread(_of_rule, self._settings(), rule_id)

    async def _indicators(self) -> _Indicators:
        async with self._busy:
            if self._known.settings is not self._settings():
                # What is read is of the file of now; a change of it makes a new configuration within seconds.
                self._known = await asyncio.to_thread(_read, self._settings(), self._now())
            return self._known


def _of_rule(settings: Settings, rule_id: str) -> RuleText | None:
    try:
        library = Library(settings.content)
        rule = library.rule(rule_id)
        if rule is None:
            return None
        return RuleText(
            rule.id,
            rule.title,
            rule.description,
            str(rule.level),
            library.file_of(rule),
            library.text_of(rule),
            rule.references,
            _SUBJECTS.get(rule.family, ""),
        )
    except ContentError:
        return None


def _of_record(rule_id: str, record: Record) -> RuleText:
    one: Indicator = record.indicator
    return RuleText(
        rule_id,
        f"Indicator of the campaign {one.campaign}",
        record.note or "A published indicator of compromise.",
        str(one.finding("").level),
        record.file,
        "",
        record.references,
    )


def _read(settings: Settings, now: datetime) -> _Indicators:
    try:
        collection = Library(settings.content).collection(now)
    except ContentError as error:
        return _Indicators(settings, problem=f"The indicators cannot be read: {error}")
    by_place: dict[str, list[Record]] = {}
    for record in collection.records:
        by_place.setdefault(str(PurePath(record.file).parent), []).append(record)
    shipped = "" if settings.content.ioc_dir else str(data_dir("ioc"))
    feeds = tuple(
        _feed(_SHIPPED if place == shipped else place, records, now) for place, records in by_place.items()
    )
    return _Indicators(settings, feeds, {record.indicator.id: record for record in collection.records})


def _feed(place: str, records: list[Record], now: datetime) -> Feed:
    newest = max((record.valid_from for record in records if record.valid_from is not None), default=None)
    return Feed(
        place,
        len(records),
        f"{newest:%Y-%m-%d}" if newest is not None else "",
        (now - newest).days if newest is not None else None,
    )
