"""The table of a run, for the terminal and for docs/benchmarks.md."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["render", "write_document"]

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
type Figures = Mapping[str, Mapping[str, float]]

COLUMNS: list[tuple[str, str, str]] = [
    ("rps_1", "requests/s, 1", "{:,.0f}"),
    ("rps_16", "16", "{:,.0f}"),
    ("rps_64", "64", "{:,.0f}"),
    ("cpu_us_1", "CPU µs a request, 1", "{:,.0f}"),
    ("cpu_us_16", "16", "{:,.0f}"),
    ("cpu_us_64", "64", "{:,.0f}"),
    ("added_p50_us", "added latency µs, p50", "{:+,.0f}"),
    ("added_p99_us", "p99", "{:+,.0f}"),
    ("events_per_s", "events/s", "{:,.0f}"),
    ("cpu_us_event", "CPU µs an event", "{:,.2f}"),
    ("kb_per_stream", "KB an idle stream", "{:,.1f}"),
    ("upload_mb_s", "10 MB uploads, MB/s", "{:,.0f}"),
    ("upload_cpu_ms", "CPU ms an upload", "{:,.1f}"),
    ("errors", "errors", "{:,.0f}"),
]
RATIOS: list[tuple[str, str, bool]] = [
    ("cpu_us_64", "requests per core (CPU, 64 connections)", False),
    ("rps_64", "requests/s, 64 connections", True),
    ("rps_1", "requests/s, 1 connection", True),
    ("events_per_s", "events/s", True),
    ("cpu_us_event", "events per core", False),
    ("kb_per_stream", "streams per byte", False),
    ("upload_mb_s", "upload rate", True),
]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def render(figures: Figures, missing: Mapping[str, str], versions: Mapping[str, str], setting: str) -> str:
    """Write the figures, the ratios of the gate to each other candidate, and who could not run."""
    rows = [
        [name, *(form.format(values[key]) if key in values else "-" for key, _, form in COLUMNS)]
        for name, values in figures.items()
    ]
    parts = [setting, _table(["candidate", *(title for _, title, _ in COLUMNS)], rows)]
    gate = figures.get("herma")
    if gate:
        others = [name for name in figures if name not in {"herma", "direct"}]
        ratio_rows = []
        for key, title, more_is_better in RATIOS:
            cells = []
            for name in others:
                ours, theirs = gate.get(key, 0.0), figures[name].get(key, 0.0)
                value = (ours / theirs if more_is_better else theirs / ours) if ours and theirs else None
                cells.append("-" if value is None else f"{value:.2f}")
            ratio_rows.append([title, *cells])
        parts.append(
            "The gate in multiples of each (more than 1: the gate does more):\n\n"
            + _table(["", *others], ratio_rows)
        )
    parts += [f"`{name}` could not run: {reason}" for name, reason in missing.items()]
    parts.append(
        "Versions: " + "; ".join(f"{name} {version}" for name, version in versions.items() if version) + "."
    )
    return "\n\n".join(parts)


def write_document(path: Path, text: str) -> None:
    """Replace the figures of the document, and nothing else of it."""
    old = path.read_text()
    block = f"{BEGIN}\n{text}\n{END}"
    new, count = re.subn(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, old, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{path}: expected one block between {BEGIN} and {END}, found {count}")
    path.write_text(new)
