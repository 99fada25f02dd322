"""Makes the weights of the model of prompts from the lines of corpora: `make train CORPORA="dir ..."`.

Logistic regression with adaptive steps over the pieces that `herma.policy.prompt.likeness` counts. The same lines give the
same weights. The table it prints is of lines that the model was not made with: each fifth of the lines is judged by weights
made from the other four.
"""

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from herma.content.likeness import LIKENESS_FILE
from herma.policy.prompt.forms import forms
from herma.policy.prompt.likely import marks, senses
from herma.policy.prompt.likeness import BUCKETS, Likeness, buckets_of, parts, size
from herma.policy.prompt.reading import Reading
from herma.policy.prompt.vocabulary import Vocabulary
from quality.lines import SHIPPED, lines
from quality.tradeoff_likeness import curve
from support.guard_content import rules, words
from support.likeness_file import likeness_text

__all__ = ["Row", "main", "row", "train"]

EPOCHS = 20
STEP = 0.3
SHRINK = 1e-5
SEED = 20261201
FOLDS = 5
# Forms of one line that are looked at for the one that says most.
MAX_FORMS = 6
OUT = Path(__file__).resolve().parents[2] / "rules" / "cron" / LIKENESS_FILE


@dataclass(frozen=True, slots=True)
class Row:
    """The pieces of one line, each with its share, and whether the line is hostile."""

    pieces: tuple[tuple[int, float], ...]
    hostile: bool


@dataclass(slots=True)
class Weights:
    """The weights while they are made."""

    pieces: list[float]
    bias: float = 0.0

    def score(self, row: Row) -> float:
        """Give how much a line is like an attack."""
        return self.bias + sum(self.pieces[bucket] * share for bucket, share in row.pieces)


def row(text: str, known: Vocabulary, *, hostile: bool) -> Row:
    """Count the pieces of a line, in the form of it that says most."""
    names = senses(concept.name for concept in known.concepts)
    readings = [Reading(known, form) for form, _ in zip(forms(text), range(MAX_FORMS), strict=False)]
    reading = max(readings, key=lambda one: one.present.bit_count())
    counts = Counter[int]()
    for part, held in parts(reading.text, marks(reading, names)):
        counts.update(buckets_of(part, held))
    divisor = size(sum(counts.values()))
    return Row(tuple((bucket, count / divisor) for bucket, count in sorted(counts.items())), hostile)


def train(rows: Sequence[Row]) -> Weights:
    """Fit the weights to the rows."""
    weights = Weights([0.0] * BUCKETS)
    steps = [1e-8] * BUCKETS
    bias_steps = 1e-8
    order = list(rows)
    shuffle = random.Random(SEED)
    for _ in range(EPOCHS):
        shuffle.shuffle(order)
        for one in order:
            wrong = 1 / (1 + math.exp(-max(-30.0, min(30.0, weights.score(one))))) - one.hostile
            bias_steps += wrong * wrong
            weights.bias -= STEP * wrong / math.sqrt(bias_steps)
            for bucket, share in one.pieces:
                slope = wrong * share + SHRINK * weights.pieces[bucket]
                steps[bucket] += slope * slope
                weights.pieces[bucket] -= STEP * slope / math.sqrt(steps[bucket])
    return weights


def packed(weights: Weights) -> tuple[bytes, float]:
    """Write each weight as one signed byte; give the bytes and what one unit of them is worth."""
    largest = max(map(abs, weights.pieces))
    scale = largest / 127
    return bytes(round(weight / scale) & 0xFF for weight in weights.pieces), scale


def _folds(rows: Sequence[Row]) -> list[tuple[float, bool]]:
    order = list(rows)
    random.Random(SEED).shuffle(order)
    judged: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        weights = train([one for number, one in enumerate(order) if number % FOLDS != fold])
        judged += [(weights.score(one), one.hostile) for one in order[fold::FOLDS]]
        print(f"fold {fold + 1} of {FOLDS}")
    return judged


def _made(lines: Sequence[tuple[str, bool]], known: Vocabulary) -> Likeness:
    weights = train([row(text, known, hostile=hostile) for text, hostile in lines])
    return Likeness(*packed(weights), weights.bias)


def _told(corpora: Sequence[Path]) -> Iterator[tuple[str, bool]]:
    for corpus in corpora:
        for stem in ("cron_malicious", "cron_benign"):
            for line in lines(corpus, stem):
                if line.get("tier", "core") == "core":
                    yield line["prompt"], stem == "cron_malicious"


def _examples() -> Iterator[tuple[str, bool]]:
    """Give what the rules say of short texts, which corpora hold few of."""
    for rule in rules("cron"):
        # A rule of the model must not learn from itself.
        if "like" not in rule.options:
            yield from ((example, True) for example in rule.examples.match)
            yield from ((example, False) for example in rule.examples.no_match)
    for rule in rules("mcp"):
        if rule.options.get("prompt") is True:
            yield from ((example, False) for example in rule.examples.no_match)
    for line in map(json.loads, (SHIPPED.parent / "data" / "cron.jsonl").read_text().splitlines()):
        yield line["prompt"], line["hostile"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print what unseen lines get, and write the file."""
    parser = argparse.ArgumentParser(
        prog="make train", description="Make the weights of the model of prompts."
    )
    parser.add_argument(
        "corpora", nargs="*", type=Path, help="directories of cron_*.jsonl (the shipped ones)"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--no-folds", action="store_true", help="skip the table of unseen lines")
    parser.add_argument("--curve", action="store_true", help="show what floors are worth, and make nothing")
    options = parser.parse_args(arguments)
    known = words()
    told = [*_told(options.corpora or [SHIPPED, SHIPPED / "written"]), *_examples()]
    if options.curve:
        for shown in curve(told, known, lambda lines: _made(lines, known), FOLDS):
            print(shown)
        return 0
    rows = [row(text, known, hostile=hostile) for text, hostile in told]
    hostile = sum(one.hostile for one in rows)
    if not hostile or hostile == len(rows):
        parser.error("there must be hostile and innocent lines")
    print(f"{hostile} hostile and {len(rows) - hostile} innocent lines")
    if not options.no_folds:
        judged = _folds(rows)
        print("floor  hostile found  innocents taken")
        for floor in (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0):
            found = sum(score >= floor for score, is_hostile in judged if is_hostile)
            taken = sum(score >= floor for score, is_hostile in judged if not is_hostile)
            print(f"{floor:5} {found / hostile:14.1%} {taken / (len(rows) - hostile):16.2%}")
    weights = train(rows)
    pieces, scale = packed(weights)
    about = f"{hostile} hostile and {len(rows) - hostile} innocent lines; tests/quality/train_likeness.py"
    options.out.write_text(likeness_text(pieces, scale, weights.bias, about), encoding="ascii")
    print(f"wrote {options.out.name}: {options.out.stat().st_size // 1024} KiB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
