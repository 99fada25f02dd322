"""The gate: one pass over lower-cased text tells where a rule could begin, or that none can.

Text without a keyword costs one pass of an Aho-Corasick automaton and nothing else.
"""

from collections.abc import Iterable
from typing import Final

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

__all__ = ["Gate", "lowered"]

# Lower-casing this one changes the length, which would move every place behind it.
_LONGER: Final = "\u0130"
# A text made of keywords is not listed whole to tell that it holds one.
STRETCH_CHARS: Final = 4096


def lowered(text: str) -> str:
    """Lower-case a text, keeping every character at its place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace(_LONGER, "i").lower()


class Gate:
    """Finds keywords, all of them, overlapping ones too."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self.keywords = tuple(dict.fromkeys(keywords))
        if not self.keywords or not all(word and word == word.lower() for word in self.keywords):
            raise ValueError(
                "a gate needs keywords, not empty and lower-case; without them it would pass everything"
            )
        self._automaton = AhoCorasick(
            self.keywords, matchkind=MatchKind.Standard, implementation=Implementation.DFA
        )
        self.longest = max(map(len, self.keywords))

    def hits(self, lower: str) -> list[tuple[int, int, int]]:
        """Find (keyword number, start, end) of every keyword in a lower-cased text."""
        return self._find(lower)

    def any(self, lower: str) -> bool:
        """Tell whether a lower-cased text holds a keyword, without listing all of a long one."""
        return any(
            self._find(lower[max(0, start - self.longest) : start + STRETCH_CHARS])
            for start in range(0, len(lower), STRETCH_CHARS)
        )

    def last_end(self, lower: str) -> int:
        """Tell where the last keyword ends; 0 when there is none."""
        return max((end for _, _, end in self._find(lower)), default=0)

    def first_start(self, lower: str) -> int:
        """Tell where the first keyword begins; -1 when there is none."""
        return min((start for _, start, _ in self._find(lower)), default=-1)

    def _find(self, lower: str) -> list[tuple[int, int, int]]:
        try:
            return self._automaton.find_matches_as_indexes(lower, overlapping=True)
        except UnicodeEncodeError:
            # Lone surrogates, from JSON escapes or bytes that are no text; each is one character, and so is its stand-in.
            plain = lower.encode("utf-8", "replace").decode("utf-8")
            return self._automaton.find_matches_as_indexes(plain, overlapping=True)
