"""Points in time as they stand in indicator files: a year, a month, a day, or a time with its zone."""

import re
from calendar import monthrange
from datetime import UTC, datetime, time

__all__ = ["parse_moment", "written"]

_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_MICROSECONDS = re.compile(r"(\.\d{6})\d+")


def parse_moment(text: object, *, end: bool = False) -> datetime:
    """Read `2026`, `2026-06`, `2026-06-14` or `2026-06-14T03:05:00Z`; the first three stand for their beginning or `end`.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(text, str) and (match := _DAY.fullmatch(text)):
        year, month, day = match.groups()
        if not end:
            return datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
        last_month = int(month or 12)
        last_day = int(day) if day else monthrange(int(year), last_month)[1]
        return datetime.combine(datetime(int(year), last_month, last_day, tzinfo=UTC), time.max, UTC)
    if isinstance(text, str) and _TIME.fullmatch(text):
        moment = datetime.fromisoformat(_MICROSECONDS.sub(r"\1", text))
        try:
            return moment.astimezone(UTC)
        except OverflowError:
            raise ValueError("the time is out of range") from None
    raise ValueError("expected a day such as 2026-06-14 or a time such as 2026-06-14T03:05:00Z")


def written(moment: datetime) -> str:
    """Write a time as `parse_moment` reads it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
