"""What people put into keys: words, keyboard walks, sequences, dates, years, repetitions, language.

Each finder returns the stretches it recognises and how many bits an attacker who tries such things first needs for them.
The word lists, walks, sequences and dates are zxcvbn's matchers (Wheeler, USENIX Security 2016).
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from zxcvbn import matching, scoring

from herma.config.letters import reads_like_language

__all__ = ["Pattern", "find_patterns"]

# Text of a language has about this many bits a letter when words are drawn at random: diceware words have 12.9 bits and
# five letters.
_LANGUAGE_BITS_PER_LETTER = 2.6
# Shorter runs of letters prove nothing.
_MIN_LANGUAGE_LETTERS = 8
# Two equal characters are chance in any key.
_MIN_COPY = 3

# Words of this field that zxcvbn's lists do not rank.
_FIELD_WORDS = [
    "secret",
    "token",
    "apikey",
    "api",
    "key",
    "password",
    "bearer",
    "auth",
    "admin",
    "agent",
    "hermes",
    "herma",
    "server",
    "local",
    "dev",
    "test",
    "prod",
    "gateway",
    "openai",
    "anthropic",
    "claude",
    "gpt",
    "model",
    "default",
    "sample",
    "demo",
    "example",
    "changeme",
    "deadbeef",
    "cafebabe",
    "feedface",
    "baadf00d",
    "c0ffee",
    "decafbad",
]
_WORDS = {**matching.RANKED_DICTIONARIES, "field": matching.build_ranked_dict(_FIELD_WORDS)}

_YEAR = re.compile(r"(?=(19[0-9]{2}|20[0-9]{2}))")
_YEARS = 200
# Words in a row, with separators or without.
_PHRASE = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*")
# One letter for each look-alike; `1` is tried as both.
_LOOKALIKES = (
    str.maketrans("4@8(361!0$5+72", "aabcegiiossttz"),
    str.maketrans("4@8(391|0$5+72", "aabcegllossttz"),
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The stretch `start` to `end` (exclusive) and its cost."""

    start: int
    end: int
    bits: float


def find_patterns(key: str, slack_bits: float) -> list[Pattern]:
    """Return every stretch that one of the finders recognises; they overlap."""
    return [*_lists(key), *_lookalikes(key), *_years(key), *_copies(key), *_phrases(key, slack_bits)]


def _lists(key: str) -> Iterator[Pattern]:
    for matcher in (
        matching.dictionary_match,
        matching.reverse_dictionary_match,
        matching.spatial_match,
        matching.sequence_match,
        matching.date_match,
    ):
        for match in matcher(key, _ranked_dictionaries=_WORDS):
            guesses = float(scoring.estimate_guesses(match, key))
            yield Pattern(match["i"], match["j"] + 1, math.log2(guesses))


def _lookalikes(key: str) -> Iterator[Pattern]:
    """Find words with digits and signs in the place of letters.

    zxcvbn's own search tries every combination and takes seconds on a hostile key; two fixed translations do.
    """
    for table in _LOOKALIKES:
        plain = key.translate(table)
        if plain == key:
            continue
        for match in matching.dictionary_match(plain, _ranked_dictionaries=_WORDS):
            start, end = match["i"], match["j"] + 1
            changed = sum(a != b for a, b in zip(key[start:end], plain[start:end], strict=True))
            if changed:
                guesses = float(scoring.estimate_guesses(match, plain))
                yield Pattern(start, end, math.log2(guesses) + changed)


def _years(key: str) -> Iterator[Pattern]:
    for match in _YEAR.finditer(key):
        yield Pattern(match.start(), match.start() + 4, math.log2(_YEARS))


def _copies(key: str) -> Iterator[Pattern]:
    """Find what stood in the key before, forwards or backwards: how far back, and how long."""
    bits = 2 * math.log2(len(key)) if key else 0.0
    lower = key.lower()
    for start in range(1, len(key)):
        for end in range(start + _MIN_COPY, len(key) + 1):
            stretch = lower[start:end]
            # A copy may run into itself: `aaaa` is one `a` and three copies.
            if lower.find(stretch, 0, end - 1) >= 0:
                yield Pattern(start, end, bits)
            elif stretch[::-1] in lower[:start]:
                yield Pattern(start, end, bits + 1)
            else:
                break


def _phrases(key: str, slack_bits: float) -> Iterator[Pattern]:
    for run in _PHRASE.finditer(key):
        letters = re.sub("[^A-Za-z]", "", run[0])
        if len(letters) < _MIN_LANGUAGE_LETTERS or not reads_like_language(letters, slack_bits):
            continue
        # A capital in the middle and a separator are a choice of one bit each.
        extra = sum(character.isupper() for character in letters[1:]) + len(run[0]) - len(letters)
        yield Pattern(run.start(), run.end(), _LANGUAGE_BITS_PER_LETTER * len(letters) + extra)
