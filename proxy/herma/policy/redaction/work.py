"""How much work one text may cost, counted and not timed: the same text gives the same answer on every machine.

A unit is about a microsecond of the slowest machine that the project is measured on. When it is spent, what has not been
judged is masked piece by piece, wherever a rule or a decoding could begin; pieces in which none could begin pass.
"""

from typing import Final

from herma.policy.redaction.copy import Known
from herma.policy.redaction.hit import Certainty, Hit

__all__ = [
    "BEGINNING",
    "CHARS_QUOTED_PER_UNIT",
    "COMMAND",
    "DECODED_RUN",
    "DECODED_SIGN",
    "DOCUMENT",
    "DOCUMENT_UNITS",
    "DOCUMENT_UNITS_PER_CHAR",
    "FORMAT",
    "FRESH_NAME",
    "GLUED",
    "HEAD",
    "HIT",
    "HOLD",
    "JOINT",
    "LINE",
    "NAME",
    "NEW_NAME",
    "PIECE_CHARS",
    "PLACE",
    "QUIET",
    "REPEATED_COMMAND",
    "RUN",
    "STREAM_UNITS",
    "STRING",
    "TEXT",
    "TIMED_OUT",
    "TOKEN_UNITS",
    "VALUE",
    "Work",
    "judging",
    "passing",
    "unjudged",
]

# Units that any text may cost, however short: 60 KB in which every line is the name of a secret with a value.
BASE_UNITS: Final = 80_000
# The same for a whole JSON document, which is masked as one: a transcript of two hundred messages that each hold commands with secrets.
DOCUMENT_UNITS: Final = 240_000
# The same for the piece of a stream that is looked at again and again while it grows: 2 KB made of nothing but secrets.
STREAM_UNITS: Final = 10_000
# Units a character of a longer text. The densest innocent text seen, near misses in every line, costs 0.29, code 0.1 to 0.15, a log 0.1.
UNITS_PER_CHAR: Final = 0.31
# The same for a document, of which much is names and signs: one of prose costs 0.05.
DOCUMENT_UNITS_PER_CHAR: Final = 0.22
# A pass over text in which nothing begins takes this many characters a unit.
CHARS_PER_UNIT: Final = 33
# So does a line whose arguments in quotes are looked through.
CHARS_QUOTED_PER_UNIT: Final = 40
# What is masked for want of work is masked in pieces of this size, widened to the ends of their lines.
PIECE_CHARS: Final = 4096

# A value is read by some twenty patterns: this many of its characters a unit, up to where judging stops.
CHARS_JUDGED_PER_UNIT: Final = 12
MAX_DEAR_CHARS: Final = 1024

# What the steps cost, as measured: a keyword seen, a name looked up, a table under it read, what joins it to a value, the value judged, a vendor's
# format tried (at its literal, or at a place before it), a command tried, one tried again in the same command, a line searched for one, a secret taken.
PLACE: Final = 1
NAME: Final = 1.5
FRESH_NAME: Final = 8
HEAD: Final = 6
JOINT: Final = 2
VALUE: Final = 10
FORMAT: Final = 2
BEGINNING: Final = 0.3
COMMAND: Final = 7
REPEATED_COMMAND: Final = 120
LINE: Final = 30
HIT: Final = 20
# An escape decoded, a run of token characters seen, a run of base64 decoded, a string of a document looked at,
# a token of one read for masking.
DECODED_SIGN: Final = 0.5
# A joint of a word that is glued of several parts, whose ends are looked for.
GLUED: Final = 4.5
RUN: Final = 1
DECODED_RUN: Final = 4
STRING: Final = 1
TOKEN_UNITS: Final = 2
# A name looked up for the first time, a document in a string, a text or a view of one, a look whether a text is quiet.
NEW_NAME: Final = 4
DOCUMENT: Final = 8
TEXT: Final = 16
QUIET: Final = 5
# What more text could turn into a secret, looked for at the end of a stream's text.
HOLD: Final = 20
# A pattern that met its timeout has stalled for twenty milliseconds.
TIMED_OUT: Final = 20_000


class Work:
    """What is left to spend on one text, with everything that it is decoded to."""

    __slots__ = ("clean", "left", "masked", "names")

    def __init__(self, chars: int, base: int = BASE_UNITS, per_char: float = UNITS_PER_CHAR) -> None:
        self.left: float = max(base, chars * per_char)
        # Runs that were decoded and hold nothing: the views of a text repeat them.
        self.clean: set[str] = set()
        # Names that were looked up: each costs more the first time, and no text asks what another one did.
        self.names: set[str] = set()
        # Values that were masked, of which copies are masked too.
        self.masked: Known = {}

    def name(self, name: str) -> None:
        """Count the look at a name."""
        self.left -= NAME
        if name not in self.names:
            self.names.add(name)
            self.left -= FRESH_NAME

    @property
    def spent(self) -> bool:
        """Tell whether nothing more may be judged."""
        return self.left < 0


def passing(chars: int) -> int:
    """Tell what one pass over so many characters costs."""
    return chars // CHARS_PER_UNIT


def judging(chars: int) -> float:
    """Tell what it costs to judge a value of so many characters; of a long one, only the beginning is looked at."""
    return VALUE + min(chars, MAX_DEAR_CHARS) / CHARS_JUDGED_PER_UNIT


def unjudged(hits: list[Hit], text: str, start: int, end: int) -> None:
    """Add characters `start` to `end` to what is masked unseen; they grow the last hit when they go on where it stopped."""
    if hits and hits[-1].certainty is Certainty.UNJUDGED and hits[-1].end >= start:
        start = hits.pop().start
    hits.append(Hit.unseen(text, start, end))
