"""The drawing of the last hour."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.console.chart import MINUTES, counts_of, hour, row_of
from herma.console.view import Minute
from support.console_view import AT
from support.markup import read_page

NOW = int(AT) // 60 * 60


def test_each_minute_has_its_column() -> None:
    """The running minute is the last, one of an hour ago is not shown any more."""
    minutes = [
        Minute(NOW - 60 * MINUTES, {"mcp": 9}),
        Minute(NOW - 3540, {"mcp": 1}),
        Minute(NOW, {"mcp": 2}),
    ]
    counts = counts_of(minutes, AT, ["mcp", "cron"])
    assert (len(counts), counts[0], counts[-1], sum(counts)) == (MINUTES, 1, 2, 3)


def test_the_drawing_says_what_it_shows() -> None:
    """Who cannot see it hears the numbers."""
    minutes = [Minute(NOW, {"passed": 40, "reported": 2, "mcp": 3, "auth": 4})]
    (drawing, *_) = read_page(hour(minutes, AT)).all("svg")
    assert drawing["role"] == "img"
    assert (
        drawing["aria-label"]
        == "Decisions a minute in the last hour: 40 passed, 2 reported, 7 refused; at most 49 in a minute."
    )


def test_an_hour_without_decisions_is_drawn_too() -> None:
    """There is nothing to divide by."""
    assert "0 passed" in hour([], AT)
    drawing, now, total = row_of([], AT, "mcp")
    assert (now, total) == (0, 0)
    assert "at most 0" in drawing


def test_a_row_has_its_numbers() -> None:
    """What was drawn small is told beside it."""
    minutes = [Minute(NOW - 60, {"mcp": 5}), Minute(NOW, {"mcp": 2})]
    drawing, now, total = row_of(minutes, AT, "mcp")
    assert (now, total) == (2, 7)
    assert read_page(drawing).all("path")[0]["class"] == "bars refused"
    assert 'class="bars passed"' in row_of(minutes, AT, "passed")[0]


@pytest.mark.parametrize(
    ("most", "top"),
    [(0, "2"), (2, "2"), (3, "5"), (7, "10"), (11, "20"), (99_999, "100k"), (10**9, "1G"), (1_500_000, "2M")],
)
def test_the_axis_ends_at_a_number_that_reads_well(most: int, top: str) -> None:
    """1, 2 or 5 and zeros."""
    drawn = hour([Minute(NOW, {"passed": most})], AT)
    assert f"<span>{top}</span>" in drawn


@given(st.lists(st.integers(min_value=0, max_value=10**9), min_size=60, max_size=60))
def test_no_bar_leaves_the_drawing(counts: list[int]) -> None:
    """Each bar begins above the floor and ends below the top, whatever the numbers."""
    minutes = [Minute(NOW - 60 * at, {"passed": count, "mcp": count // 3}) for at, count in enumerate(counts)]
    (drawing, *_) = read_page(hour(minutes, AT)).all("svg")
    bottom = float(str(drawing["viewbox"]).split()[3])
    for path in read_page(hour(minutes, AT)).all("path"):
        for y, tall in re.findall(r"M[\d.]+ ([\d.]+)v-([\d.]+)", str(path["d"])):
            assert 0 <= float(y) - float(tall) <= float(y) <= bottom
