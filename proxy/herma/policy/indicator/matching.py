"""Indicators that are compared as text: how each way of comparing becomes a test."""

import re
from collections.abc import Callable

from herma.policy.indicator.indicator import Indicator, Matching
from herma.policy.indicator.literal import bounded_pattern
from herma.policy.pattern import compile_pattern

__all__ = ["AS_PLACES", "TEXTUAL", "Finder", "finder", "whole"]

# Gives where a text holds the value, -1 where it does not.
type Finder = Callable[[str], int]

# Patterns lie in the bounded subset; the longest text that is read closely takes a fraction of this.
MAX_SEARCH_S = 0.02

# Values that stand in no other word: wallets, digests.
_UNIQUE = re.compile(r"[0-9A-Za-z]{32,}")
_DIGEST = re.compile(r"[0-9a-f]{32,}")

TEXTUAL = frozenset(
    {
        Matching.EXACT,
        Matching.SUBSTRING,
        Matching.CASEFOLD,
        Matching.WORD,
        Matching.PREFIX,
        Matching.REGEX,
        Matching.EMAIL,
    }
)


# Those that say no more than which text stands somewhere.
AS_PLACES = frozenset({Matching.SUBSTRING, Matching.CASEFOLD, Matching.WORD, Matching.PREFIX})


def finder(indicator: Indicator) -> Finder:
    """Build the test for a text that may hold more than the value."""
    literal = re.escape(indicator.value)
    match indicator.matching:
        case Matching.CASEFOLD:
            return _plain(re.compile(literal, re.IGNORECASE))
        case Matching.WORD:
            return _plain(
                re.compile(rf"(?<![A-Za-z0-9_]){literal}(?![A-Za-z0-9_])", re.IGNORECASE | re.ASCII)
            )
        case Matching.EXACT if _UNIQUE.fullmatch(indicator.value):
            # A wallet with a worker behind it and a digest in capitals are still the same.
            return _plain(re.compile(literal, re.IGNORECASE if _DIGEST.fullmatch(indicator.value) else 0))
        case Matching.EXACT:
            return _plain(re.compile(rf"(?<![\w.-]){literal}(?![\w-])", re.ASCII))
        case Matching.EMAIL:
            # `x.bad@evil.example` and `bad@evil.example.org` are other people's.
            return _plain(
                re.compile(rf"(?<![\w.+-]){literal}(?![\w-]|\.[A-Za-z0-9])", re.IGNORECASE | re.ASCII)
            )
        case Matching.PREFIX:
            return _plain(re.compile(rf"(?<![A-Za-z0-9]){literal}"))
        case Matching.REGEX:
            return _bounded(indicator.value)
        case _:
            return _plain(re.compile(literal))


def whole(indicator: Indicator) -> Callable[[str], bool]:
    """Build the test for a text that must be the value as a whole."""
    if indicator.matching is not Matching.REGEX:
        return lambda text: text == indicator.value
    pattern = compile_pattern(bounded_pattern(indicator.value))
    return lambda text: pattern.fullmatch(text) is not None


def _plain(pattern: re.Pattern[str]) -> Finder:
    def find(text: str) -> int:
        match = pattern.search(text)
        return -1 if match is None else match.start()

    return find


def _bounded(value: str) -> Finder:
    pattern = compile_pattern(bounded_pattern(value))

    def find(text: str) -> int:
        try:
            match = pattern.search(text, timeout=MAX_SEARCH_S)
        except TimeoutError:
            # A text that is made to be slow is not an innocent one.
            return 0
        return -1 if match is None else match.start()

    return find
