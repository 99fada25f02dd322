"""The tables of a run, for the terminal and for docs/benchmarks-detect.md."""

import datetime as dt
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quality.page import markdown_table

__all__ = ["LIMIT_MS", "Row", "Worst", "render", "setting"]

# No input of 1 MB should take a detector longer.
LIMIT_MS = 250


@dataclass(frozen=True, slots=True)
class Row:
    """One ordinary input: a time in µs, or a speed in MB/s."""

    title: str
    ours: float
    theirs: float | None
    form: str
    target: str

    @property
    def ratio(self) -> float | None:
        """How much faster the gate is."""
        if self.theirs is None:
            return None
        return self.ours / self.theirs if self.form == "MB/s" else self.theirs / self.ours

    @property
    def met(self) -> str:
        """Whether the target is met."""
        found = re.search(r"[\d.]+", self.target)
        if found is None:
            return ""
        wanted = float(found[0])
        return "yes" if (self.ours >= wanted if "≥" in self.target else self.ours <= wanted) else "**no**"


@dataclass(frozen=True, slots=True)
class Worst:
    """One hostile input, in seconds."""

    name: str
    ours: float
    theirs: float | None
    stopped: bool


def setting(rounds: int) -> str:
    """Tell the date and the kind of machine."""
    date = dt.datetime.now(dt.UTC).date().isoformat()
    return (
        f"{date}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, one of them used, load average"
        f" {os.getloadavg()[0]:.1f} at the end; Python {platform.python_version()} on both sides; medians of {rounds} rounds in turns."
    )


def render(
    where: str, rows: Sequence[Row], worst: Mapping[str, tuple[int, Sequence[Worst]]], limit_s: float
) -> str:
    """Give the table of ordinary inputs and that of the slowest hostile ones."""
    ordinary = [
        [
            row.title,
            _number(row.ours, row.form),
            "-" if row.theirs is None else _number(row.theirs, row.form),
            "-" if row.ratio is None else f"{row.ratio:.2f}",
            row.target or "-",
            row.met or "-",
        ]
        for row in rows
    ]
    parts = [
        where,
        markdown_table(
            ["ordinary input", "Herma", "hermes-agent", "times as fast", "target", "met"], ordinary
        ),
    ]
    if worst:
        hostile = [
            [
                f"{detector} ({count:,} inputs)" if at == 0 else "",
                case.name,
                f"{'over ' if case.stopped else ''}{1000 * case.ours:,.0f} ms",
                _theirs(case.theirs, limit_s),
                "yes" if 1000 * case.ours <= LIMIT_MS else "**no**",
            ]
            for detector, (count, cases) in worst.items()
            for at, case in enumerate(cases)
        ]
        parts.append(
            markdown_table(
                ["detector", "slowest hostile inputs", "Herma", "hermes-agent", f"within {LIMIT_MS} ms"],
                hostile,
            )
        )
    return "\n\n".join(parts)


def _number(value: float, form: str) -> str:
    return f"{value:,.1f} {form}" if value < 100 else f"{value:,.0f} {form}"


def _theirs(seconds: float | None, limit_s: float) -> str:
    if seconds is None:
        return "-"
    if seconds >= limit_s:
        return f"over {limit_s:.0f} s, stopped"
    return f"{1000 * seconds:,.0f} ms"
