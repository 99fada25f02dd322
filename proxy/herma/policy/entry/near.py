r"""Patterns of one thing near another, `\b(?:curl|wget)\b[^\n]{0,300}(?:;|&&) ?sh `, looked for in one pass.

An engine for patterns walks the whole distance from each first thing, and back. Here the second thing is looked for only once
behind all that stand before it: the first one that comes is the nearest.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from herma.policy.pattern import compile_pattern

__all__ = ["Near"]

_PLAIN = r"(?:[a-z0-9_ -]|\\[.(])+"
_HEAD = re.compile(
    rf"((?:\\b)?(?:\(\?:(?P<words>{_PLAIN}(?:\|{_PLAIN})*)\)|{_PLAIN})(?P<edge>\\b|\\\()?)"
    r"\[\^(?P<stops>\\n\|?|\\x00)\]\{0,(?P<reach>[0-9]{1,4})\}(?![?+])(?=.)",
    re.DOTALL,
)
_STOPS = {"\\n": "\n", "\\n|": "\n|", "\\x00": "\x00"}
# What would be read otherwise in a part than in the whole.
_FLAGS = re.compile(r"\(\?[a-zA-Z]")
_LETTER = re.compile(r"[a-z0-9_]")


@dataclass(frozen=True, slots=True)
class Near:
    """What comes first, what comes second, how many characters may lie between, and which may not."""

    first: regex.Pattern[str]
    second: regex.Pattern[str]
    reach: int
    stops: str

    @classmethod
    def of(cls, pattern: str) -> "Near | None":
        """Part a pattern without outer alternatives; None where it is not made like this."""
        head = _HEAD.match(pattern)
        if head is None or _FLAGS.search(pattern) is not None:
            return None
        if not _ends_once((head["words"] or "").split("|"), head["edge"]):
            return None
        return cls(
            compile_pattern(head[1]),
            compile_pattern(pattern[head.end() :]),
            int(head["reach"]),
            _STOPS[head["stops"]],
        )

    def found(self, text: str, timeout: float) -> bool:
        """Tell whether the two are near each other in a text.

        Raises:
            TimeoutError: looking for either took too long.
        """
        following = -1
        ends = [match.end() for match in self.first.finditer(text, overlapped=True, timeout=timeout)]
        for end in sorted(ends):
            if following < end:
                second = self.second.search(text, end, timeout=timeout)
                if second is None:
                    return False
                following = second.start()
            if following - end <= self.reach and all(
                text.find(stop, end, following) < 0 for stop in self.stops
            ):
                return True
        return False


def _ends_once(words: Sequence[str], edge: str | None) -> bool:
    """Tell whether at most one of the words is at any one place: none goes on where another one may end."""
    return not any(
        other != word and other.startswith(word) and not (edge == "\\b" and _LETTER.match(other, len(word)))
        for word in words
        for other in words
    )
