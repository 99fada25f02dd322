"""docs/quality.md: what the detectors reach, beside the upstream and other redactors."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from quality.measure import Measure, Measures
from quality.recorded import Recorded, Share, shares

__all__ = ["PAGE", "markdown_table", "render", "tables"]

PAGE = "docs/quality.md"
_HERE = Path(__file__).parent
# Carriers with fewer lines than this say nothing by themselves.
LEAST_ROWS = 5
# Lines of real files that may change, of 10,000.
REAL_TARGET = 3

_TOP = """\
# Quality of the detectors

`make quality` scores the redactor, the judge of MCP entries and the scan of scheduled prompts on the corpora in `tests/quality/corpora/`,
by the rules written there, and prints these tables. `make docs` writes this page. A file of floors keeps a figure from falling
unnoticed: a measure with more wrong cases than its floor fails the tests, which name the cases.

**Read these figures with care.** The rules were written with these very lines in view, so figures on text that nobody looked at are
lower. The first table says how far the targets are met on the lines in the checkout; [the second](#sets-the-rules-were-not-written-for) says
what remained on sets that the rules were not written for. Trust that one.
"""
_RUN = """\
## Run it

```sh
make quality                                  # tables and floors; VERBOSE=1 names the wrong cases, JSON=1 prints all
make quality REALFILES=none                   # without the real files, which take a minute
make quality CORPORA=my/corpus                # another directory with files of the same names
make quality REALFILES='src docs'             # false alarms on files of your own
make quality RATCHET=write                    # lower the floors to what became better
make quality RECORD=1                         # measure the upstream and real files again, for this page
make quality CORPORA=my/corpus RECORD_AS=mine # record the totals of a set that stays outside, for this page
```

hermes-agent's own functions are measured with the same lines in the same run if `HERMA_HERMES_VENV` names an environment that has it
(`make hermes-venv` makes one); without it that column is left out, and the run says so.
"""


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a table; all columns but the first are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _yaml(name: str) -> Any:
    return yaml.safe_load((_HERE / name).read_text())


def _group(measures: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        key.removeprefix(f"{prefix}/"): value
        for key, value in measures.items()
        if key.startswith(f"{prefix}/")
    }


def _headline(measures: Measures, upstream: Mapping[str, Share], recorded: Recorded) -> str:
    """Give the table of targets: how far each is met."""
    rows = []
    for target in _yaml("targets.yaml"):
        if "worst" in target:
            group = _group(measures, target["worst"])
            if not group:
                continue
            name, measure = min(group.items(), key=lambda item: item[1].percent)
            figure = f"{measure.percent:.1f} (`{name}`)"
            theirs = (
                f"{min(float(str(share)) for share in _group(upstream, target['worst']).values()):.1f}"
                if upstream
                else "-"
            )
        else:
            if target["key"] not in measures:
                continue
            measure = measures[target["key"]]
            figure = f"{measure.percent:.1f}"
            theirs = str(upstream.get(target["key"], "-"))
        low, high = target.get("at_least"), target.get("at_most")
        met = measure.percent >= low if low is not None else measure.percent <= high
        rows.append(
            [
                target["title"],
                str(measure.of),
                figure,
                f"≥ {low}" if low is not None else f"≤ {high}",
                "yes" if met else "**no**",
                theirs,
                target.get("upstream", "-"),
                target.get("peer", "-"),
            ]
        )
    rows += _real_target(recorded)
    head = [
        "%",
        "cases",
        "Herma",
        "target",
        "met",
        "hermes-agent",
        "the same, whole corpora",
        "best peer, whole corpora",
    ]
    return markdown_table(head, rows)


def _real_target(recorded: Recorded) -> list[list[str]]:
    sets = recorded.get("files", {}).get("sets", ())
    count = sum(row["lines"] for row in sets)
    if not count:
        return []
    figure = 1e4 * sum(row["changed"] for row in sets) / count
    theirs = sum(row["upstream"] or 0 for row in sets)
    return [
        [
            "real files: lines changed, of 10,000",
            str(count),
            f"{figure:.1f}",
            f"≤ {REAL_TARGET}",
            "yes" if figure <= REAL_TARGET else "**no**",
            f"{1e4 * theirs / count:.1f}" if theirs else "-",
            "12.5 (other files)",
            "1.5 (gitleaks, other files)",
        ]
    ]


def _secrets(measures: Measures, upstream: Mapping[str, Share]) -> str:
    columns = {
        "gone": "secrets/gone",
        "strict": "secrets/strict",
        "keep_lost": "secrets/keep-lost",
        "right": "secrets/right",
        "changed": "clean/changed",
        "hard": "hard_secrets/strict",
        "hard_changed": "hard_clean/changed",
        "examples": "",
        "real": "",
        **{name: f"secrets/surface/{name}" for name in ("commands", "events", "logs", "config", "chat")},
    }
    rows = [
        [
            "**Herma**",
            *(f"{measures[key].percent:.1f}" if key in measures else "-" for key in columns.values()),
        ],
        [
            "hermes-agent 0.19.0, on the same lines",
            *(str(upstream.get(key, "-")) if key else "-" for key in columns.values()),
        ],
    ]
    rows += [
        [peer["name"], *(str(peer.get(column, "-")) for column in columns)] for peer in _yaml("peers.yaml")
    ]
    head = ["%", "gone", "strictly gone", "kept text lost", "right", "clean lines changed", "hard: strictly gone", "hard: changed",
            "others' examples", "real lines changed, of 10,000", "commands", "events", "logs", "config", "chat"]  # fmt: skip
    return markdown_table(head, rows)


def _carriers(measures: Measures, upstream: Mapping[str, Share]) -> str:
    titles = _yaml("embeddings.yaml")
    rows = []
    for name, measure in _group(measures, "secrets/embedding").items():
        if measure.of >= LEAST_ROWS:
            theirs = upstream.get(measure.key, "-")
            rows.append(
                [titles.get(name, f"`{name}`"), str(measure.of), f"{measure.percent:.0f}", _whole(theirs)]
            )
    return markdown_table(["strictly gone, %", "lines", "Herma", "hermes-agent"], rows)


def _whole(share: Share | str) -> str:
    return share if isinstance(share, str) else f"{float(str(share)):.0f}"


def _classes(measures: Measures, upstream: Mapping[str, Share]) -> str:
    ours: dict[str, Measure] = _group(measures, "secrets/class")
    theirs: dict[str, Share] = _group(upstream, "secrets/class")
    weak = [f"`{name}` {measure.shown}/{measure.of}" for name, measure in ours.items() if measure.wrong]
    text = f"Of {len(ours)} classes, every line is strictly redacted in {len(ours) - len(weak)}"
    if theirs:
        text += f" (hermes-agent: {sum(share.shown == share.of for share in theirs.values())})"
    text += f". The others: {', '.join(weak)}." if weak else "."
    optional = measures.get("secrets/optional")
    if optional is not None:
        text += f" Optional classes (cards, IBANs), which are off unless asked for: {optional.shown}/{optional.of}."
    return text


def _families(measures: Measures, upstream: Mapping[str, Share], prefix: str, tiers: Sequence[str]) -> str:
    """Give a row a family and two columns a tier: refused by the gate, refused by the upstream."""
    cells: dict[tuple[str, str], tuple[int, int, int]] = {}
    for key, measure in _group(measures, f"{prefix}/cell").items():
        family, tier, *_ = key.split("/")
        shown, theirs, of = cells.get((family, tier), (0, 0, 0))
        share = upstream.get(f"{prefix}/cell/{key}", Share(0, 0))
        cells[family, tier] = shown + measure.shown, theirs + share.shown, of + measure.of
    rows = []
    for family in sorted({family for family, _ in cells}):
        row = [f"`{family}`"]
        for tier in tiers:
            shown, theirs, of = cells.get((family, tier), (0, 0, 0))
            row += [f"{shown}/{of}" if of else "", str(theirs) if of and upstream else ""]
        rows.append(row)
    return markdown_table(
        ["refused", *(word for tier in tiers for word in (f"`{tier}`", "hermes-agent"))], rows
    )


def _innocent(measures: Measures, upstream: Mapping[str, Share], prefix: str) -> str:
    rows = []
    for name, measure in _group(measures, f"{prefix}/family").items():
        warned = measures[f"{prefix}/warned-family/{name}"]
        theirs = upstream.get(measure.key)
        rows.append(
            [
                f"`{name}`",
                str(measure.of),
                str(measure.shown),
                str(warned.shown),
                str(theirs.shown) if theirs else "-",
            ]
        )
    rows += [
        [f"`{name}` (apart)", str(measure.of), str(measure.shown), "", ""]
        for name, measure in _group(measures, f"{prefix}/apart").items()
    ]
    return markdown_table(["innocent", "lines", "refused", "warned of", "refused by hermes-agent"], rows)


def _languages(measures: Measures, upstream: Mapping[str, Share]) -> str:
    hostile = _group(measures, "cron/hostile/lang")
    innocent = _group(measures, "cron/innocent/lang")
    rows = []
    for language in sorted(hostile.keys() | innocent.keys()):
        row = [f"`{language}`"]
        for measure in (hostile.get(language), innocent.get(language)):
            share = upstream.get(measure.key) if measure else None
            row += [f"{measure.shown}/{measure.of}" if measure else "", str(share.shown) if share else ""]
        rows.append(row)
    return markdown_table(
        ["language", "hostile: refused", "hermes-agent", "innocent: refused", "hermes-agent"], rows
    )


def _files(recorded: Recorded) -> str:
    files = recorded.get("files")
    if not files:
        return "Not recorded yet."
    rows = []
    total = Share(sum(row["changed"] for row in files["sets"]), sum(row["lines"] for row in files["sets"]))
    for row in [
        *files["sets"],
        {"name": "together", "files": sum(row["files"] for row in files["sets"]), "lines": total.of, "changed": total.shown,
         "upstream": None if any(row["upstream"] is None for row in files["sets"]) else sum(row["upstream"] for row in files["sets"])},
    ]:  # fmt: skip
        theirs = row["upstream"]
        rows.append(
            [row["name"], f"{row['files']:,}", f"{row['lines']:,}", str(row["changed"]), f"{1e4 * row['changed'] / row['lines']:.2f}",
             "-" if theirs is None else f"{1e4 * theirs / row['lines']:.2f}"]
        )  # fmt: skip
    head = ["", "files", "lines", "changed", "of 10,000", "hermes-agent, of 10,000"]
    return f"Recorded {files['date']}, Python {files['python']}.\n\n" + markdown_table(head, rows)


def _unseen(recorded: Recorded) -> str:
    rows = []
    for row in recorded.get("unseen", ()):
        theirs = shares(row["upstream"])
        for key, share in shares(row["figures"]).items():
            rows.append(
                [row["set"], row["date"], f"`{key}`", str(share.of), str(share), str(theirs.get(key, "-"))]
            )
    if not rows:
        return "None is recorded yet."
    return markdown_table(["set", "recorded", "measure, %", "cases", "Herma", "hermes-agent"], rows)


def render(measures: Measures, recorded: Recorded) -> str:
    """Write the page from what was measured now and what was recorded earlier."""
    return "\n\n".join([_TOP.strip(), tables(measures, recorded), _RUN.strip()]) + "\n"


def tables(measures: Measures, recorded: Recorded) -> str:
    """Give every table for which there are figures."""
    upstream = shares(recorded.get("upstream", {}).get("figures", {}))
    parts = [
        "## Targets\n\nOn the lines of this corpus; hermes-agent's own functions on the same lines, and on the whole corpora.\n\n"
        + _headline(measures, upstream, recorded),
        "## Sets the rules were not written for\n\nScored by totals only. `blind` was written without sight of the rules; seven of its lines were looked at and their kinds mended before the figures were\n"
        "taken, and its prompts joined the lines that the model is made from afterwards.\n\n"
        + _unseen(recorded),
    ]
    if "secrets/gone" in measures:
        parts += [
            "## Secrets\n\n*Strictly gone*: no run of 12 characters is left either. The peers were measured on the whole corpora, of which"
            " the lines in the checkout are 60 %; `tests/quality/peers.yaml` says how.\n\n"
            + _secrets(measures, upstream),
            _classes(measures, upstream),
            "### By carrier\n\n" + _carriers(measures, upstream),
        ]
    if "mcp/hostile/blocked" in measures:
        parts += [
            "## MCP entries\n\n"
            + _families(measures, upstream, "mcp/hostile", ["ioc", "published", "evasion", "policy"]),
            _innocent(measures, upstream, "mcp/innocent"),
        ]
    if "cron/hostile/blocked" in measures:
        parts += [
            "## Scheduled prompts\n\n"
            + _families(measures, upstream, "cron/hostile", ["core", "soft", "policy"]),
            _innocent(measures, upstream, "cron/innocent"),
            "### By language\n\n" + _languages(measures, upstream),
        ]
    parts.append(
        "## Real files\n\nEvery line that is not blank, redacted by itself. A few hold example keys, where a change is right.\n\n"
        + _files(recorded)
    )
    return "\n\n".join(part.strip() for part in parts)
