"""How well the guards tell hostile from innocent, on lines written for this suite and on a corpus directory if one is named.

Every line is inert data. `HERMA_CORPORA` may name a directory with the files that its README describes.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from herma.policy.checks.indicator_guard import IndicatorGuard
from herma.policy.decision import Deny
from herma.policy.entry.finder import Entry
from herma.policy.exchange import Phase
from support.exchanges import exchange, match
from support.guard_content import entry_judge, indicators, prompt_scan

DATA = Path(__file__).parent / "data"
CORPORA = os.environ.get("HERMA_CORPORA", "")
needs_corpora = pytest.mark.skipif(not CORPORA, reason="HERMA_CORPORA names no corpus directory")

# The floors of this first set; what is reached is printed. Innocent lines may be refused once in a hundred.
MCP_FLOOR = 0.95
CRON_FLOOR = 0.90
INNOCENT_CEILING = 0.01


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _entry_refused(line: dict[str, Any]) -> bool:
    return any(
        finding.blocks for finding in entry_judge().judge_entry(Entry(line["name"], line["entry"], ""))
    )


def _prompt_refused(line: dict[str, Any]) -> bool:
    if any(finding.blocks for finding in prompt_scan().judge(line["prompt"])):
        return True
    job = exchange({"schedule": "1h", "prompt": line["prompt"]}, route=match("cron.create"))
    return isinstance(IndicatorGuard(indicators()).decide(job, Phase.REQUEST_BODY), Deny)


@pytest.mark.parametrize("line", list(_lines(DATA / "mcp.jsonl")), ids=lambda line: line["name"])
def test_an_entry_is_told_hostile_or_innocent(line: dict[str, Any]) -> None:
    """Each entry of the set is refused if and only if it is hostile."""
    assert _entry_refused(line) is line["hostile"]


@pytest.mark.parametrize(
    "line", list(_lines(DATA / "cron.jsonl")), ids=lambda line: ascii(line["prompt"][:40])
)
def test_a_prompt_is_told_hostile_or_innocent(line: dict[str, Any]) -> None:
    """Each prompt of the set is refused if and only if it is hostile."""
    assert _prompt_refused(line) is line["hostile"]


def _files(stem: str) -> list[Path]:
    return sorted(Path(CORPORA).glob(f"{stem}*.jsonl"))


@needs_corpora
def test_entries_of_the_corpus() -> None:
    """Most hostile entries are refused, hardly any innocent one; dual-use and policy lines are only counted."""
    refused, total = Counter[str](), Counter[str]()
    for line in (line for path in _files("mcp_malicious") for line in _lines(path)):
        total[line["tier"]] += 1
        refused[line["tier"]] += _entry_refused(line)
    innocent = [
        line for path in _files("mcp_benign") for line in _lines(path) if line["family"] != "dual-use"
    ]
    wrong = [line["id"] for line in innocent if _entry_refused(line)]
    print(
        {tier: f"{refused[tier]}/{total[tier]}" for tier in total},
        f"innocent refused: {len(wrong)}/{len(innocent)}",
    )
    judged = [tier for tier in total if tier != "policy"]
    assert sum(refused[tier] for tier in judged) >= MCP_FLOOR * sum(total[tier] for tier in judged)
    assert len(wrong) <= INNOCENT_CEILING * len(innocent), wrong


@needs_corpora
def test_prompts_of_the_corpus() -> None:
    """Most prompts that must be refused are, hardly any innocent one."""
    refused, total = Counter[str](), Counter[str]()
    for line in (line for path in _files("cron_malicious") for line in _lines(path)):
        total[line["tier"]] += 1
        refused[line["tier"]] += _prompt_refused(line)
    innocent = [line for path in _files("cron_benign") for line in _lines(path)]
    wrong = [line["id"] for line in innocent if _prompt_refused(line)]
    print(
        {tier: f"{refused[tier]}/{total[tier]}" for tier in total},
        f"innocent refused: {len(wrong)}/{len(innocent)}",
    )
    assert refused["core"] >= CRON_FLOOR * total["core"]
    assert len(wrong) <= INNOCENT_CEILING * len(innocent), wrong
