"""One secret found in a text, before it is masked."""

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Certainty", "Hit"]


class Certainty(IntEnum):
    """Which of two hits over the same text names the class: the format of a vendor says more than the name beside it."""

    CONTEXT = 1
    CONVENTION = 2
    FORMAT = 3
    BLOCK = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """Characters `start` to `end` are a secret of the class `rule_id`; `value` is what the fingerprint is made of."""

    start: int
    end: int
    rule_id: str
    value: str
    certainty: Certainty = Certainty.CONTEXT

    def __repr__(self) -> str:
        return f"Hit({self.start}, {self.end}, {self.rule_id!r})"
