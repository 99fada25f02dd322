"""One secret found in a text, before it is masked."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

__all__ = ["UNJUDGED_ID", "Certainty", "Hit"]

# The class of what is masked because judging it would have taken too long.
UNJUDGED_ID: Final = "unjudged"


class Certainty(IntEnum):
    """Which of two hits over the same text names the class: the format of a vendor says more than the name beside it."""

    CONTEXT = 1
    CONVENTION = 2
    FORMAT = 3
    BLOCK = 4
    UNJUDGED = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters `start` to `end` are a secret of the class `rule_id`; `value` is what the fingerprint is made of."""

    start: int
    end: int
    rule_id: str
    value: str
    certainty: Certainty = Certainty.CONTEXT
    # The pattern ran into its timeout, and all that it was to read is masked.
    timed_out: bool = False

    def __repr__(self) -> str:
        return f"Hit({self.start}, {self.end}, {self.rule_id!r})"

    @classmethod
    def unseen(cls, text: str, start: int, end: int) -> "Hit":
        """Mask characters `start` to `end` of a text without having looked at them."""
        return cls(start, end, UNJUDGED_ID, text[start:end], Certainty.UNJUDGED)
