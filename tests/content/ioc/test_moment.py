"""Claims about `herma.content.ioc.moment`."""

from datetime import UTC, datetime

import pytest

from herma.content.ioc.moment import parse_moment, written


def test_a_day_stands_for_its_beginning_or_its_end() -> None:
    """So do a month and a year."""
    assert parse_moment("2026-06-14") == datetime(2026, 6, 14, tzinfo=UTC)
    assert parse_moment("2026-06-14", end=True).date() == datetime(2026, 6, 14, tzinfo=UTC).date()
    assert parse_moment("2026-02") == datetime(2026, 2, 1, tzinfo=UTC)
    assert written(parse_moment("2026-02", end=True)) == "2026-02-28T23:59:59Z"
    assert written(parse_moment("2026", end=True)) == "2026-12-31T23:59:59Z"


def test_a_time_has_a_zone() -> None:
    """It is read to the microsecond and written in UTC."""
    assert written(parse_moment("2026-06-14T03:05:00.123456789+02:00")) == "2026-06-14T01:05:00Z"


@pytest.mark.parametrize(
    "text",
    ["", "tomorrow", "2026-13", "2026-02-30", "2026-06-14T03:05:00", "9999-12-31T23:59:59-10:00", None, 2026],
)
def test_other_texts_are_refused(text: object) -> None:
    """Also days that do not exist and times past the calendar."""
    with pytest.raises(ValueError, match=r"\w"):
        parse_moment(text)
