"""Variables of a shell that make one value together: `A=ghp_x; B=y; curl -H "Authorization: Bearer $A$B"`."""

import re
from typing import Final

from herma.policy.redaction.view import Piece, View
from herma.policy.redaction.work import DECODED_SIGN, Work

__all__ = ["joined_variables", "may_join_variables"]

# What stands in front of the variables on their line may name the value.
MAX_BEFORE: Final = 128
# A text with more assignments, or more uses, is a program, and its first ones are read.
MAX_ASSIGNMENTS: Final = 256
MAX_USES: Final = 64
_ASSIGNED: Final = re.compile(
    r"(?<![\w$-])(?P<name>[A-Za-z_]\w{0,40})=(?P<quote>[\"']?)(?P<value>[A-Za-z0-9_.+/=-]{2,256}+)(?P=quote)(?=[\s;&|]|$)",
    re.ASCII,
)
_USED: Final = re.compile(r"(?:\$\{\w{1,41}\}|\$\w{1,41}){2,8}", re.ASCII)
_NAME: Final = re.compile(r"\w+", re.ASCII)


def may_join_variables(text: str) -> bool:
    """Tell whether two variables stand side by side in a text that assigns some."""
    return "$" in text and "=" in text and _USED.search(text) is not None


def joined_variables(view: View, work: Work | None = None) -> View | None:
    """Write each pair of variables as the values that the same text assigns to them; None when it assigns none."""
    text = view.text
    if not may_join_variables(text):
        return None
    work = Work(len(text)) if work is None else work
    values: dict[str, tuple[int, int]] = {}
    for found in _ASSIGNED.finditer(text):
        work.left -= DECODED_SIGN
        values[found["name"]] = found.span("value")
        if len(values) == MAX_ASSIGNMENTS or work.spent:
            break
    pieces: list[Piece] = []
    parts: list[str] = []
    at = 0
    for number, found in enumerate(_USED.finditer(text)):
        names = _NAME.findall(found.group())
        if number == MAX_USES or not all(name in values for name in names):
            continue
        start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - MAX_BEFORE)
        for first, last in [(start, found.start()), *(values[name] for name in names)]:
            work.left -= DECODED_SIGN
            pieces.append(Piece(at, first, last, True))
            parts.append(text[first:last])
            at += last - first
        parts.append("\n\n")
        at += 2
    return View("".join(parts), pieces, view) if pieces else None
