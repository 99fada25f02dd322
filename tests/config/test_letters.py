"""Letters that read like language."""

import random
import string

import pytest

from herma.config.letters import reads_like_language

PHRASES = [
    "sommerregenwolke",
    "liebeistallesmein",
    "theraininspainstays",
    "bonjourmadameetmonsieur",
    "MisterAndersonIsHere",
]


@pytest.mark.parametrize("letters", PHRASES)
def test_words_of_any_language_are_recognised(letters: str) -> None:
    """The letter pairs give words away that no list holds."""
    assert reads_like_language(letters, 8.0)


def test_random_letters_are_not() -> None:
    """Less than one random run in two hundred reads like language."""
    source = random.Random(7)
    runs = ["".join(source.choices(string.ascii_lowercase, k=16)) for _ in range(2000)]
    assert sum(reads_like_language(run, 8.0) for run in runs) < 10
