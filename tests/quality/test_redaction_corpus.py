"""How much the redactor finds and how little else it changes, on lines written for this suite: each must be right.

Every value is made up. The larger corpora, of which a share may go wrong, are held by test_ratchet.py.
"""

import json
from pathlib import Path

import pytest

from quality.lines import Line
from quality.score_secrets import strictly_gone
from support.redactor import masked

DATA = Path(__file__).parent / "data" / "redaction.jsonl"
OWN: list[Line] = [json.loads(line) for line in DATA.read_text().split("\n") if line]


@pytest.mark.parametrize(
    "line", [line for line in OWN if "secrets" in line], ids=lambda line: line["text"][:40]
)
def test_a_secret_goes_and_its_surroundings_stay(line: Line) -> None:
    """Nothing of the secret is left, and what a person needs to judge the text is."""
    out = masked(line["text"])
    assert strictly_gone(line, out)
    assert all(kept in out for kept in line["keep"])


@pytest.mark.parametrize(
    "line", [line for line in OWN if "secrets" not in line], ids=lambda line: line["text"][:40]
)
def test_innocent_text_does_not_change(line: Line) -> None:
    """A false alarm hides what will run."""
    assert masked(line["text"]) == line["text"]
