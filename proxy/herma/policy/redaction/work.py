"""How much work one text may cost, counted and not timed: the same text gives the same answer on every machine.

A unit is about a microsecond of the slowest machine that the project is measured on. When it is spent, what has not been
judged is masked piece by piece, wherever a rule or a decoding could begin; pieces in which none could begin pass.
"""

from typing import Final

from herma.policy.redaction.hit import Certainty, Hit

__all__ = [
    "BLANK_VALUE",
    "COMMAND",
    "DECODED_RUN",
    "DECODED_SIGN",
    "DOCUMENT",
    "FORMAT",
    "HIT",
    "LINE",
    "NAME",
    "NEW_NAME",
    "NO_VALUE",
    "PIECE_CHARS",
    "PLACE",
    "RUN",
    "STREAM_UNITS",
    "STRING",
    "TEXT",
    "TIMED_OUT",
    "TOKEN_UNITS",
    "VALUE",
    "Work",
    "passing",
    "unjudged",
]

# Units that any text may cost, however short: 30 KB in which every word is the name of a secret with a value.
BASE_UNITS: Final = 60_000
# The same for the piece of a stream that is looked at again and again while it grows: 2 KB made of nothing but secrets.
STREAM_UNITS: Final = 10_000
# Units a character of a longer text. The densest innocent text seen, near misses in every line, costs 0.28, code 0.1 to 0.15, a log 0.1.
UNITS_PER_CHAR: Final = 0.33
# A pass over text in which nothing begins takes this many characters a unit.
CHARS_PER_UNIT: Final = 33
# What is masked for want of work is masked in pieces of this size, widened to the ends of their lines.
PIECE_CHARS: Final = 4096

# What the steps cost, as measured: a keyword seen, a name looked up, a value beside it judged, perhaps none found, a vendor's
# format tried, a command tried, a line searched for one, a secret taken.
PLACE: Final = 1
NAME: Final = 1.5
VALUE: Final = 18
BLANK_VALUE: Final = 12
NO_VALUE: Final = 4
FORMAT: Final = 2
COMMAND: Final = 10
LINE: Final = 30
HIT: Final = 45
# An escape decoded, a run of token characters seen, a run of base64 decoded, a string of a document looked at,
# a token of one read for masking.
DECODED_SIGN: Final = 2.5
RUN: Final = 1
DECODED_RUN: Final = 4
STRING: Final = 2
TOKEN_UNITS: Final = 2
# A name looked up for the first time, a document in a string, a text or a view of one.
NEW_NAME: Final = 4
DOCUMENT: Final = 8
TEXT: Final = 6
# A pattern that met its timeout has stalled for twenty milliseconds.
TIMED_OUT: Final = 20_000


class Work:
    """What is left to spend on one text, with everything that it is decoded to."""

    __slots__ = ("left",)

    def __init__(self, chars: int, base: int = BASE_UNITS) -> None:
        self.left: float = max(base, chars * UNITS_PER_CHAR)

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
