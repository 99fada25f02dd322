"""What a floor of the model of prompts is worth: `python tests/quality/train.py --curve`.

Each fifth of the lines is judged by weights made from the other four, by the model alone: as a prompt, between innocent sentences,
and, of innocent lines, six to a prompt. Floors are shown with and without their rise with the parts of a text.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from herma.policy.prompt.forms import forms
from herma.policy.prompt.likely import marks, senses
from herma.policy.prompt.likeness import FREE_PARTS, Likeness, parts, risen
from herma.policy.prompt.reading import Reading
from herma.policy.prompt.vocabulary import Vocabulary

__all__ = ["curve"]

FLOORS: Final = (2.0, 2.3, 2.6, 3.0, 3.5)
RISES: Final = (0.0, 0.1, 0.2, 0.4)
SEED: Final = 20261203
TOGETHER: Final = 6
BEFORE: Final = (
    "Good morning! Please collect the weather for Leeds, the three top headlines of the Guardian and my first two meetings. "
    "Keep it under ten lines, friendly in tone. "
)
BEHIND: Final = " For the headlines give the link. Rain probability matters to me more than temperature."

type Line = tuple[str, bool]


def curve(
    told: Sequence[Line], known: Vocabulary, made: Callable[[Sequence[Line]], Likeness], folds: int
) -> Iterator[str]:
    """Give the rows of a table; `made` trains a model."""
    order = list(told)
    shuffle = random.Random(SEED)
    shuffle.shuffle(order)
    taken: dict[tuple[str, float, float], int] = {}
    asked: dict[str, int] = {}
    names = senses(concept.name for concept in known.concepts)
    for fold in range(folds):
        model = made([line for number, line in enumerate(order) if number % folds != fold])
        for kind, text in _texts(order[fold::folds], shuffle):
            asked[kind] = asked.get(kind, 0) + 1
            reading = Reading(known, next(forms(text)))
            said = marks(reading, names)
            count = len(list(parts(reading.text, said)))
            for floor in FLOORS:
                for rise in RISES:
                    # What the model adds by itself is taken off again.
                    lifted = floor + rise * math.log2(max(1.0, count / FREE_PARTS)) - risen(0.0, count)
                    if model.reasons(reading.text, said, lifted):
                        taken[kind, floor, rise] = taken.get((kind, floor, rise), 0) + 1
    yield "| floor | rise | " + " | ".join(asked) + " |"
    yield "|--:|--:|" + "--:|" * len(asked)
    for floor in FLOORS:
        for rise in RISES:
            shares = (f"{taken.get((kind, floor, rise), 0) / asked[kind]:.1%}" for kind in asked)
            yield f"| {floor} | {rise} | " + " | ".join(shares) + " |"


def _texts(lines: Sequence[Line], shuffle: random.Random) -> Iterator[tuple[str, str]]:
    innocent = [text for text, hostile in lines if not hostile]
    for text, hostile in lines:
        yield ("hostile" if hostile else "innocent"), text
        if hostile:
            yield "hostile between innocent sentences", BEFORE + text + BEHIND
    for _ in range(len(innocent) // TOGETHER):
        yield (
            "six innocents in one",
            ". ".join(text.rstrip(".") for text in shuffle.sample(innocent, TOGETHER)) + ".",
        )
