"""Scores the judges of MCP entries and scheduled prompts: is what is hostile refused, and what is innocent not.

The rules are those of corpora/README.md.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from quality.lines import Line
from quality.measure import Measure, by

__all__ = ["Judge", "score_entries", "score_hostile", "score_innocent", "score_prompts"]

type Judge = Callable[[Line], Literal["block", "warn", "allow"]]

# Tiers that must be refused. Of the others a warning is enough, or the context decides.
ENTRY_TIERS = frozenset({"ioc", "published", "evasion"})
PROMPT_TIERS = frozenset({"core"})
DUAL_USE = "dual-use"


def score_entries(hostile: Iterable[Line], innocent: Iterable[Line], judge: Judge) -> list[Measure]:
    """Score MCP entries: a family and a tier each, and how many were refused in all."""
    return [
        *score_hostile("mcp/hostile", hostile, judge, ENTRY_TIERS),
        *score_innocent("mcp/innocent", innocent, judge),
    ]


def score_prompts(hostile: Iterable[Line], innocent: Iterable[Line], judge: Judge) -> list[Measure]:
    """Score prompts: a family, a tier and a language each, and how many were refused in all."""
    return [
        *score_hostile("cron/hostile", hostile, judge, PROMPT_TIERS),
        *score_innocent("cron/innocent", innocent, judge),
    ]


def score_hostile(prefix: str, lines: Iterable[Line], judge: Judge, tiers: frozenset[str]) -> list[Measure]:
    """Score lines that must be refused; tiers that need not be are reported apart."""
    verdicts = [(line, judge(line)) for line in lines]
    judged = [(line, verdict) for line, verdict in verdicts if line["tier"] in tiers]
    others = [(line, verdict) for line, verdict in verdicts if line["tier"] not in tiers]
    measures = by(prefix, (("blocked", line["id"], verdict == "block") for line, verdict in judged))
    for field in ("tier", "family", "lang"):
        measures += by(
            f"{prefix}/{field}",
            ((line[field], line["id"], verdict == "block") for line, verdict in judged if field in line),
        )
    return [
        *measures,
        # Family by tier, and by language where lines have one: for the table, tiers that need no refusal included.
        *by(
            f"{prefix}/cell",
            ((_cell(line), line["id"], verdict == "block") for line, verdict in verdicts),
            apart=True,
        ),
        *by(
            f"{prefix}/apart",
            ((line["tier"], line["id"], verdict == "block") for line, verdict in others),
            apart=True,
        ),
        *by(
            f"{prefix}/apart-told",
            ((line["tier"], line["id"], verdict != "allow") for line, verdict in others),
            apart=True,
        ),
    ]


def _cell(line: Line) -> str:
    return "/".join(line[field] for field in ("family", "tier", "lang") if field in line)


def score_innocent(prefix: str, lines: Iterable[Line], judge: Judge) -> list[Measure]:
    """Score lines that must pass; what has hostile uses as well is reported apart."""
    verdicts = [(line, judge(line)) for line in lines]
    judged = [(line, verdict) for line, verdict in verdicts if line["family"] != DUAL_USE]
    dual = [(line, verdict) for line, verdict in verdicts if line["family"] == DUAL_USE]
    measures = [
        *by(
            prefix,
            (("blocked", line["id"], verdict != "block") for line, verdict in judged),
            counts_wrong=True,
        ),
        *by(
            prefix, (("warned", line["id"], verdict != "warn") for line, verdict in judged), counts_wrong=True
        ),
    ]
    for field in ("family", "lang"):
        measures += by(
            f"{prefix}/{field}",
            ((line[field], line["id"], verdict != "block") for line, verdict in judged if field in line),
            counts_wrong=True,
        )
    return [
        *measures,
        *by(
            f"{prefix}/warned-family",
            ((line["family"], line["id"], verdict != "warn") for line, verdict in judged),
            counts_wrong=True,
            apart=True,
        ),
        *by(
            f"{prefix}/apart",
            ((DUAL_USE, line["id"], verdict != "block") for line, verdict in dual),
            counts_wrong=True,
            apart=True,
        ),
    ]
