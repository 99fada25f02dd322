"""How much work one text may cost, counted and not timed: the same text gives the same answer on every machine.

A unit is about a microsecond of the slowest machine that the project is measured on. When it is spent, what has not been
judged is masked piece by piece, wherever a rule or a decoding could begin; pieces in which none could begin pass.
"""

from typing import Final

from herma.policy.redaction.hit import Certainty, Hit

__all__ = [
    "DECODED_SIGN",
    "HIT",
    "LOOK",
    "NAME",
    "PIECE_CHARS",
    "PLACE",
    "RUN",
    "STRING",
    "TIMED_OUT",
    "WIDE_LOOK",
    "Work",
    "passing",
    "unjudged",
]

# Units that any text may cost, however short: 40 KB in which every word is the name of a secret.
BASE_UNITS: Final = 60_000
# Units a character: text that holds a keyword or a wrapping in every line needs half of it. 1 MB of the worst text is done
# in a quarter of a second.
UNITS_PER_CHAR: Final = 0.15
# A pass over text in which nothing begins takes this many characters a unit.
CHARS_PER_UNIT: Final = 20
# What is masked for want of work is masked in pieces of this size, widened to the ends of their lines.
PIECE_CHARS: Final = 4096

# What the steps cost, as measured on the corpora: a keyword seen, a name looked up, a rule tried, a line searched, a secret
# taken, an escape decoded, a run of base64 decoded, a string of a document looked at.
PLACE: Final = 1
NAME: Final = 2
LOOK: Final = 5
WIDE_LOOK: Final = 25
HIT: Final = 25
DECODED_SIGN: Final = 2
RUN: Final = 4
STRING: Final = 4
# A pattern that met its timeout has stalled for twenty milliseconds.
TIMED_OUT: Final = 20_000


class Work:
    """What is left to spend on one text, with everything that it is decoded to."""

    __slots__ = ("left",)

    def __init__(self, chars: int) -> None:
        self.left: float = BASE_UNITS + chars * UNITS_PER_CHAR

    @property
    def spent(self) -> bool:
        """Tell whether nothing more may be judged."""
        return self.left < 0


def passing(chars: int) -> int:
    """Tell what one pass over so many characters costs."""
    return chars // CHARS_PER_UNIT


def unjudged(hits: list[Hit], text: str, start: int, end: int) -> None:
    """Add characters `start` to `end` to what is masked unseen; they grow the last hit when they go on where it stopped."""
    if hits and hits[-1].certainty is Certainty.UNJUDGED and hits[-1].end >= start:
        start = hits.pop().start
    hits.append(Hit.unseen(text, start, end))
