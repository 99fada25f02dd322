"""The decisions of the last hour, drawn as SVG: no script, no inline style, readable in both themes.

A drawing says with its label what it shows; the numbers stand in the table below it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from herma.console.markup import Markup, element
from herma.console.series import PASSED, REFUSALS, REPORTED
from herma.console.view import Minute

__all__ = ["MINUTES", "hour", "row_of"]

MINUTES: Final = 60

# The drawing is stretched to the room that there is: these are proportions.
_COLUMN: Final = 10.0
_BAR: Final = 8.0
_HEIGHT: Final = 100.0
_WIDTH: Final = MINUTES * _COLUMN


def counts_of(minutes: Sequence[Minute], at: float, names: Sequence[str]) -> list[int]:
    """Sum some rows of each of the last sixty minutes, the running one last."""
    by: Mapping[int, Minute] = {minute.begins: minute for minute in minutes}
    last = int(at) // 60 * 60
    return [
        sum(by[begins].counts.get(name, 0) for name in names) if begins in by else 0
        for begins in range(last - (MINUTES - 1) * 60, last + 60, 60)
    ]


def hour(minutes: Sequence[Minute], at: float) -> Markup:
    """Draw what passed, what was only reported and what was refused, one on the other."""
    layers = [
        ("passed", counts_of(minutes, at, [PASSED])),
        ("reported", counts_of(minutes, at, [REPORTED])),
        ("refused", counts_of(minutes, at, REFUSALS)),
    ]
    totals = [sum(column) for column in zip(*(counts for _, counts in layers), strict=True)]
    top = _nice(max(totals))
    base, drawn = [0] * MINUTES, []
    for name, counts in layers:
        drawn.append(element("path", d=_bars(counts, base, top), class_=f"bars {name}"))
        base = [below + own for below, own in zip(base, counts, strict=True)]
    said = ", ".join(f"{sum(counts)} {name}" for name, counts in layers)
    lines = f"M0 0H{_WIDTH:g}M0 {_HEIGHT / 2:g}H{_WIDTH:g}M0 {_HEIGHT:g}H{_WIDTH:g}"
    label = f"Decisions a minute in the last hour: {said}; at most {max(totals)} in a minute."
    drawing = _drawing("hour", label, element("path", d=lines, class_="grid"), *drawn)
    scale = [element("span", _short(top * share)) for share in (1, 0.5, 0)]
    times = [element("span", when) for when in ("60 min ago", "30 min ago", "now")]
    # The label says it all; read one by one, the numbers of the axes mean nothing.
    return element(
        "div",
        element("div", *scale, class_="scale", aria_hidden="true"),
        drawing,
        element("div", *times, class_="times", aria_hidden="true"),
        class_="chart",
    )


def row_of(minutes: Sequence[Minute], at: float, name: str) -> tuple[Markup, int, int]:
    """Draw one row of the table small; with it come its numbers of this minute and of the hour."""
    counts = counts_of(minutes, at, [name])
    kind = name if name in {PASSED, REPORTED} else "refused"
    path = element("path", d=_bars(counts, [0] * MINUTES, max(*counts, 1)), class_=f"bars {kind}")
    return _drawing("row", f"at most {max(counts)} in a minute", path), counts[-1], sum(counts)


def _drawing(kind: str, label: str, *content: Markup) -> Markup:
    return element(
        "svg",
        *content,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
        class_=kind,
    )


def _bars(counts: Sequence[int], base: Sequence[int], top: int) -> str:
    """Write bars as one path, each standing on what is below it."""
    steps = []
    for number, (count, below) in enumerate(zip(counts, base, strict=True)):
        if count:
            x, y, tall = number * _COLUMN, _HEIGHT - below / top * _HEIGHT, count / top * _HEIGHT
            steps.append(f"M{x:g} {y:.2f}v{-tall:.2f}h{_BAR:g}v{tall:.2f}z")
    return "".join(steps) or "M0 0"


def _nice(most: int) -> int:
    """Round up to a number that divides well: 1, 2 or 5 and zeros, at least 2."""
    step = 1
    while True:
        for digit in (2, 5, 10):
            if most <= digit * step:
                return digit * step
        step *= 10


def _short(number: float) -> str:
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{mark}"
    return f"{number:g}"
