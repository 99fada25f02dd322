"""What stands in place of a JSON document's strings once they are masked, copies of the masked values among it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from herma.policy.decision import Finding
from herma.policy.redaction.copy import Known, copies

__all__ = ["Rewritten", "with_copies"]


class Rewritten(NamedTuple):
    """What stands in place of a string's characters, of a number, or of a part of a string."""

    start: int
    end: int
    written: str
    findings: tuple[Finding, ...]
    pointer: str


def with_copies(
    text: str, changes: Sequence[Rewritten], masked: Known, but: Collection[tuple[int, int]] = ()
) -> list[Rewritten]:
    """Mask the copies of what was masked: in what was rewritten, and, as they are written, in the strings beside it.

    A copy holds no sign that JSON escapes, and letters: it is part of a string. The places in `but` stay as they are.
    """
    found = [change._replace(written=_without(change.written, masked)) for change in changes]
    taken = [*((change.start, change.end) for change in changes), *but]
    for start, end, value in copies(text, masked, taken):
        replacement, rule_id = masked[value]
        found.append(Rewritten(start, end, replacement, (Finding(rule_id),), ""))
    return found


def _without(written: str, masked: Known) -> str:
    """Mask the copies in a text that was rewritten."""
    parts: list[str] = []
    done = 0
    for start, end, value in copies(written, masked, ()):
        parts += (written[done:start], masked[value][0])
        done = end
    return "".join([*parts, written[done:]])
