"""Prints the tables, holds the floors, and records what not every machine can measure."""

import argparse
import datetime as dt
import json
import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from quality import page, ratchet, recorded
from quality.figures import measure
from quality.judges import GATE, upstream
from quality.lines import SHIPPED, directory
from quality.measure import Measures
from quality.score_files import FileFigure, default_directories, score_files
from support.upstream_functions import NoUpstream, UpstreamFunctions

__all__ = ["main"]


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make quality", description="Score the detectors on corpora and real files."
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        default=directory(),
        help="directory of *.jsonl and *.jsonl.gz (the shipped one)",
    )
    parser.add_argument(
        "--realfiles",
        metavar="DIRS",
        help="directories of text files, or `none` (the standard library, /etc and /usr/share/doc)",
    )
    parser.add_argument("--ratchet", choices=["check", "write", "off"], default="check")
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep the upstream's figures and those of real files for the page",
    )
    parser.add_argument("--record-as", metavar="NAME", help="keep the totals of this corpus for the page")
    parser.add_argument(
        "--json", action="store_true", help="print every measure, with the ids that are wrong"
    )
    parser.add_argument("--verbose", action="store_true", help="print the ids that are wrong")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit 1 if a measure is below its floor."""
    options = _arguments(arguments)
    shipped = options.corpora.resolve() == SHIPPED
    with ExitStack() as stack:
        functions = _functions(stack)
        ours = measure(options.corpora, GATE, _progress("Herma"))
        theirs = (
            measure(options.corpora, upstream(functions), _progress("hermes-agent")) if functions else None
        )
        files = _files(options, functions)
    _keep(options, ours, theirs, files)
    if options.json:
        print(json.dumps(_json(ours, theirs, files), indent=1, ensure_ascii=False))
    else:
        print(_tables(ours, theirs, files, shipped=shipped))
    if options.verbose:
        print(_wrong(ours, files))
    return _floors(options, ours) if shipped else 0


def _functions(stack: ExitStack) -> UpstreamFunctions | None:
    try:
        functions = stack.enter_context(UpstreamFunctions())
        functions.redact("")
    except NoUpstream as missing:
        print(f"Without hermes-agent's own functions: {missing}", file=sys.stderr)
        return None
    return functions


def _progress(who: str) -> Callable[[str], None]:
    return lambda what: print(f"{who}: {what} …", file=sys.stderr)


def _files(options: argparse.Namespace, functions: UpstreamFunctions | None) -> list[FileFigure]:
    if options.realfiles == "none" or (options.realfiles is None and options.corpora.resolve() != SHIPPED):
        return []
    named = (options.realfiles or "").split()
    found = {path: Path(path) for path in named} if named else default_directories()
    figures = []
    for name, path in found.items():
        print(f"Real files: {name} …", file=sys.stderr)
        figures.append(score_files(name, path, GATE.redact, functions.changed_lines if functions else None))
    return figures


def _keep(
    options: argparse.Namespace, ours: Measures, theirs: Measures | None, files: Sequence[FileFigure]
) -> None:
    date = dt.datetime.now(dt.UTC).date().isoformat()
    kept = recorded.load()
    if options.record_as:
        kept = recorded.with_unseen(kept, options.record_as, ours, theirs, date)
    elif options.record:
        if theirs:
            kept = recorded.with_upstream(kept, theirs, date)
        kept = recorded.with_files(kept, files, date, platform.python_version())
    else:
        return
    recorded.save(kept)


def _json(ours: Measures, theirs: Measures | None, files: Sequence[FileFigure]) -> object:
    return {
        "measures": {
            key: {
                "percent": round(measure.percent, 2),
                "shown": measure.shown,
                "of": measure.of,
                "wrong": measure.wrong,
                "upstream": theirs[key].shown if theirs else None,
            }
            for key, measure in ours.items()
        },
        "files": [
            {
                "name": figure.name,
                "lines": figure.lines,
                "changed": figure.changed,
                "upstream_changed": figure.upstream_changed,
            }
            for figure in files
        ],
    }


def _tables(ours: Measures, theirs: Measures | None, files: Sequence[FileFigure], *, shipped: bool) -> str:
    # The tables of the page, with what this run has measured in place of what was recorded.
    known = recorded.load() if shipped else {}
    if theirs:
        known = recorded.with_upstream(known, theirs, "now")
    if files:
        known = recorded.with_files(known, files, "now", platform.python_version())
    return page.tables(ours, known)


def _wrong(ours: Measures, files: Sequence[FileFigure]) -> str:
    rows = [
        f"{key}: {' '.join(measure.wrong)}"
        for key, measure in ours.items()
        if measure.wrong and key.count("/") < 3 and not {"class", "embedding", "kind"} & set(key.split("/"))
    ]
    rows += [f"{figure.name}: {place}" for figure in files for place in figure.changed]
    return "\n".join(rows)


def _floors(options: argparse.Namespace, ours: Measures) -> int:
    if options.ratchet == "off":
        return 0
    floors = ratchet.load()
    if options.ratchet == "write":
        ratchet.write(ratchet.lowered(ours, floors))
    found = ratchet.problems(ours, ratchet.load())
    print(
        "\n".join(["Below the floor:", *found]) if found else "No measure is below its floor.",
        file=sys.stderr,
    )
    return 1 if found else 0
