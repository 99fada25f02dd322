"""How much a run of letters reads like language.

Words of any European language, names and made-up syllables share their letter pairs; random letters do not. The pairs are
counted in zxcvbn's word lists, so that words no list holds are still recognised for what they are.
"""

import math
from collections import Counter
from functools import cache
from itertools import pairwise

from zxcvbn.frequency_lists import FREQUENCY_LISTS

__all__ = ["reads_like_language"]

# The lists of words and names; the list of passwords would teach keyboard walks as letter pairs.
_LISTS = ("english_wikipedia", "surnames", "female_names", "male_names")
_LETTERS = 26


@cache
def _pair_bits() -> dict[tuple[str, str], float]:
    pairs: Counter[tuple[str, str]] = Counter()
    for name in _LISTS:
        for word in FREQUENCY_LISTS[name]:
            if word.isascii() and word.isalpha():
                pairs.update(pairwise(word))
    firsts: Counter[str] = Counter()
    for (first, _), count in pairs.items():
        firsts[first] += count
    # One added to every count: a pair that was never seen is rare, not impossible.
    return {
        (first, second): -math.log2((pairs[first, second] + 1) / (firsts[first] + _LETTERS))
        for first in map(chr, range(97, 123))
        for second in map(chr, range(97, 123))
    }


def reads_like_language(letters: str, slack_bits: float) -> bool:
    """Tell whether letter pairs of a language explain the ASCII letters better, by `slack_bits`, than chance does."""
    bits = _pair_bits()
    spent = sum(bits[pair] for pair in pairwise(letters.lower()))
    return (len(letters) - 1) * math.log2(_LETTERS) - spent >= slack_bits
