"""Figures that not every machine can measure: the upstream's, real files, and sets that are not in the checkout.

They are measured with `make quality RECORD=1` and `make quality CORPORA=… RECORD_AS=…`, kept in a file, and shown on the page with their
date.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quality.measure import Measures
from quality.score_files import FileFigure

__all__ = [
    "FILE",
    "Recorded",
    "Share",
    "load",
    "save",
    "shares",
    "with_files",
    "with_unseen",
    "with_upstream",
]

FILE = Path(__file__).parent / "recorded.json"
type Recorded = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of cases, as it was recorded."""

    shown: int
    of: int

    def __str__(self) -> str:
        return f"{100 * self.shown / self.of:.1f}" if self.of else "-"


def load(path: Path = FILE) -> Recorded:
    """Read what was recorded; nothing if the file is not there."""
    recorded: Recorded = json.loads(path.read_text()) if path.exists() else {}
    return recorded


def save(recorded: Recorded, path: Path = FILE) -> None:
    """Write what was recorded."""
    path.write_text(json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def shares(figures: Mapping[str, str]) -> dict[str, Share]:
    """Read recorded figures."""
    return {key: Share(*map(int, value.split("/"))) for key, value in figures.items()}


def _figures(measures: Measures) -> dict[str, str]:
    return {key: f"{measure.shown}/{measure.of}" for key, measure in measures.items()}


def with_upstream(recorded: Recorded, measures: Measures, date: str) -> Recorded:
    """Record what the upstream's own functions reach on the corpora of this checkout."""
    return {**recorded, "upstream": {"date": date, "figures": _figures(measures)}}


def with_files(recorded: Recorded, figures: Iterable[FileFigure], date: str, python: str) -> Recorded:
    """Record how many lines of real files were changed."""
    sets = [
        {
            "name": figure.name,
            "files": figure.files,
            "lines": figure.lines,
            "changed": len(figure.changed),
            "upstream": figure.upstream_changed,
        }
        for figure in figures
    ]
    return {**recorded, "files": {"date": date, "python": python, "sets": sets}}


def with_unseen(
    recorded: Recorded, name: str, measures: Measures, upstream: Measures | None, date: str
) -> Recorded:
    """Record the totals of a set that is not in the checkout, in place of an earlier one of this name."""
    unseen = {
        "set": name,
        "date": date,
        "figures": _totals(measures),
        "upstream": _totals(upstream) if upstream else {},
    }
    others = [row for row in recorded.get("unseen", ()) if row["set"] != name]
    return {**recorded, "unseen": [*others, unseen]}


def _totals(measures: Measures) -> dict[str, str]:
    # No ids and no small groups: whoever mends the rules must not learn what the set holds.
    depth = {"mcp": 3, "cron": 3}
    return {
        key: value
        for key, value in _figures(measures).items()
        # What the rules give as examples is no part of a set.
        if not key.startswith("rules/")
        and (key.count("/") + 1 == depth.get(key.split("/")[0], 2) or "/split/" in key)
    }
