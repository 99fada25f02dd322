"""How much the redactor finds and how little else it changes, on lines written for this suite and on a corpus directory if one is named.

Every value is made up. `HERMA_CORPORA` may name a directory with the files that its README describes.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.redactor import masked

DATA = Path(__file__).parent / "data" / "redaction.jsonl"
CORPORA = os.environ.get("HERMA_CORPORA", "")
needs_corpora = pytest.mark.skipif(not CORPORA, reason="HERMA_CORPORA names no corpus directory")

# The floors of a corpus; what is reached is printed.
GONE_FLOOR = 0.95
HARD_FLOOR = 0.65
CHANGED_CEILING = 0.01


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    raw = path.read_bytes()
    yield from map(
        json.loads, (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().split("\n")[:-1]
    )


def _gone(line: dict[str, Any], out: str) -> bool:
    return not any(secret in out for secret in [*line["secrets"], *line.get("raw", [])])


OWN = list(_lines(DATA))


@pytest.mark.parametrize(
    "line", [line for line in OWN if "secrets" in line], ids=lambda line: line["text"][:40]
)
def test_a_secret_goes_and_its_surroundings_stay(line: dict[str, Any]) -> None:
    """Nothing of the secret is left, and what a person needs to judge the text is."""
    out = masked(line["text"])
    assert _gone(line, out)
    assert all(kept in out for kept in line["keep"])


@pytest.mark.parametrize(
    "line", [line for line in OWN if "secrets" not in line], ids=lambda line: line["text"][:40]
)
def test_innocent_text_does_not_change(line: dict[str, Any]) -> None:
    """A false alarm hides what will run."""
    assert masked(line["text"]) == line["text"]


@needs_corpora
@pytest.mark.parametrize(("name", "floor"), [("secrets", GONE_FLOOR), ("hard_secrets", HARD_FLOOR)])
def test_a_corpus_of_secrets_is_masked(name: str, floor: float) -> None:
    """At least the floor is gone; the figures are printed."""
    found = [path for path in sorted(Path(CORPORA).glob(f"{name}.*")) if ".jsonl" in path.name]
    lines = [line for path in found for line in _lines(path) if not line.get("optional")]
    outs = [(line, masked(line["text"])) for line in lines]
    gone = sum(_gone(line, out) for line, out in outs)
    right = sum(_gone(line, out) and all(kept in out for kept in line["keep"]) for line, out in outs)
    print(f"{name}: {gone}/{len(lines)} gone, {right} right")
    assert gone >= floor * len(lines)


@needs_corpora
@pytest.mark.parametrize("name", ["clean", "hard_clean"])
def test_a_corpus_of_innocent_text_stays(name: str) -> None:
    """At most one line in a hundred changes; which ones is printed."""
    found = [path for path in sorted(Path(CORPORA).glob(f"{name}.*")) if ".jsonl" in path.name]
    lines = [line for path in found for line in _lines(path)]
    changed = [line["id"] for line in lines if masked(line["text"]) != line["text"]]
    print(f"{name}: {len(changed)}/{len(lines)} changed {changed}")
    assert len(changed) <= CHANGED_CEILING * len(lines)
