"""How many bits an attacker has to guess before a key is found: an estimate, never more than the key can hold.

A key is worth what its characters are worth, unless patterns explain it better. Chance makes patterns too: sixteen random
hex digits often hold `11` or `abc`. So a pattern counts only when all of them together save `SLACK_BITS` more than it takes
to say which pattern stands where. By Kraft's inequality a random key falls for that once in 2**SLACK_BITS.
"""

import math
import re

from herma.config.alphabet import Sheet, class_bits, prices
from herma.config.patterns import Pattern, find_patterns

__all__ = ["MAX_JUDGED_CHARACTERS", "SLACK_BITS", "estimate_bits"]

# A pattern search costs more than the square of the length. 72 hex digits have 288 bits, more than any floor asks for; of a
# longer key the better end counts.
MAX_JUDGED_CHARACTERS = 72
# One random key in 256 may be thought a pattern: the next one will not.
SLACK_BITS = 8.0
# Whether the separator stands here again.
_SEPARATOR_BITS = 1.0
# To say which finder it was (eight of them), besides where the pattern starts.
_KIND_BITS = 3.0

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# Version and variant are the same in every UUID (RFC 9562 section 4).
_UUID_FIXED_BITS = 6
# `sk-`, `sk-proj-`, `hk_live_`: the same in every key of a maker, so worth nothing. What follows is no word: a passphrase
# of words and dashes has no prefix.
_PREFIX = re.compile(r"(?:[a-z]{2,8}[-_]){1,3}(?=.*[0-9A-Z])")


def estimate_bits(key: str) -> float:
    """Estimate the bits of a key."""
    if _UUID.fullmatch(key):
        return max(0.0, estimate_bits(key.replace("-", "").lower()) - _UUID_FIXED_BITS)
    if prefix := _PREFIX.match(key):
        key = key[prefix.end() :]
    if len(key) > MAX_JUDGED_CHARACTERS:
        return max(_judge(key[:MAX_JUDGED_CHARACTERS]), _judge(key[-MAX_JUDGED_CHARACTERS:]))
    return _judge(key)


def _judge(key: str) -> float:
    if not key:
        return 0.0
    found = find_patterns(key, SLACK_BITS)
    return min(_with_prices(key, sheet, found) for sheet in prices(key, SLACK_BITS))


def _with_prices(key: str, sheet: Sheet, found: list[Pattern]) -> float:
    announce = math.log2(len(key)) + _KIND_BITS
    starting: dict[int, list[Pattern]] = {}
    for pattern in found:
        # Three letters that happen to be a word save nothing.
        if pattern.bits + announce < sum(sheet[pattern.start : pattern.end]):
            starting.setdefault(pattern.start, []).append(pattern)
    announced, covered = _cheapest(sheet, starting, announce=announce)
    if sum(sheet) - announced < SLACK_BITS:
        return sum(sheet)
    if covered * 2 >= len(key):
        # A person's key: the attacker knows how people fill the gaps between patterns.
        sheet = _chosen(key, sheet)
    return _cheapest(sheet, starting, announce=0.0)[0]


def _cheapest(sheet: Sheet, starting: dict[int, list[Pattern]], *, announce: float) -> tuple[float, int]:
    """Return the bits of the cheapest way to write the key down, and how many characters patterns cover in it."""
    best = [(0.0, 0)] + [(math.inf, 0)] * len(sheet)
    for index, bits in enumerate(sheet):
        cost, covered = best[index]
        best[index + 1] = min(best[index + 1], (cost + bits, covered))
        for pattern in starting.get(index, ()):
            longer = (cost + pattern.bits + announce, covered + pattern.end - pattern.start)
            best[pattern.end] = min(best[pattern.end], longer)
    return best[-1]


def _chosen(key: str, sheet: Sheet) -> Sheet:
    """Price the characters of a person's key: by class, and a separator only once."""
    return tuple(
        _SEPARATOR_BITS
        if not character.isalnum() and character in key[:index]
        else min(bits, class_bits(character))
        for index, (character, bits) in enumerate(zip(key, sheet, strict=True))
    )
