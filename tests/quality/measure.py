"""A figure: a share of cases, and which cases spoil it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Measure", "Measures", "by"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One share of `of` cases.

    `wrong` names the cases that went wrong. `counts_wrong` tells which share is shown: false alarms are shown as such,
    detections by what was right. `apart` marks what is reported and never judged.
    """

    key: str
    of: int
    wrong: tuple[str, ...]
    counts_wrong: bool = False
    apart: bool = False

    @property
    def shown(self) -> int:
        """How many cases the share counts."""
        return len(self.wrong) if self.counts_wrong else self.of - len(self.wrong)

    @property
    def percent(self) -> float:
        """The share in per cent."""
        return 100 * self.shown / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"{self.percent:.1f} % ({self.shown}/{self.of})"


type Measures = Mapping[str, Measure]


def by(
    prefix: str,
    cases: Iterable[tuple[str, str, bool]],
    *,
    counts_wrong: bool = False,
    apart: bool = False,
) -> list[Measure]:
    """Give one measure a group of cases `(group, id, right)`, in the order of the groups' names."""
    total: dict[str, int] = {}
    wrong: dict[str, list[str]] = {}
    for group, identifier, right in cases:
        total[group] = total.get(group, 0) + 1
        wrong.setdefault(group, [])
        if not right:
            wrong[group].append(identifier)
    return [
        Measure(f"{prefix}/{group}", total[group], tuple(wrong[group]), counts_wrong, apart)
        for group in sorted(total)
    ]
