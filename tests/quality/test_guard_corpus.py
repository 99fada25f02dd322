"""How well the guards tell hostile from innocent, on lines written for this suite: each must be right.

Every line is inert data. The larger corpora, of which a share may go wrong, are held by test_ratchet.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from herma.policy.decision import Verdict
from quality.judges import judge_entry, judge_prompt
from quality.lines import Line

DATA = Path(__file__).parent / "data"


def _lines(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("line", list(_lines(DATA / "mcp.jsonl")), ids=lambda line: line["name"])
def test_an_entry_is_told_hostile_or_innocent(line: Line) -> None:
    """Each entry of the set is refused if and only if it is hostile."""
    assert (judge_entry(line) is Verdict.BLOCK) is line["hostile"]


@pytest.mark.parametrize(
    "line", list(_lines(DATA / "cron.jsonl")), ids=lambda line: ascii(line["prompt"][:40])
)
def test_a_prompt_is_told_hostile_or_innocent(line: Line) -> None:
    """Each prompt of the set is refused if and only if it is hostile."""
    assert (judge_prompt(line) is Verdict.BLOCK) is line["hostile"]
