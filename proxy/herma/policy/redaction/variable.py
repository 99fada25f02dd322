"""Variables of a shell that make one value: `A=ghp_x; B=y; curl -H "Authorization: Bearer $A$B"`, `X=F4keP4ss; mysql -p$X`."""

import re
from typing import Final

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.value import looks_random
from herma.policy.redaction.view import Span, View
from herma.policy.redaction.work import DECODED_SIGN, Work

__all__ = ["joined_variables", "may_join_variables"]

# What stands in front of the variables on their line may name the value.
MAX_BEFORE: Final = 128
# A text with more assignments is a program, and its first ones are read.
MAX_ASSIGNMENTS: Final = 256
_ASSIGNED: Final = re.compile(
    r"(?<![\w$-])(?P<name>[A-Za-z_]\w{0,40})=(?P<quote>[\"']?)(?P<value>[A-Za-z0-9_.+/=-]{2,256}+)(?P=quote)(?=[\s;&|]|$)",
    re.ASCII,
)
# The sign in front of all, so that the search skips to it.
_USED: Final = re.compile(r"\$(?:\{\w{1,41}\}|\w{1,41})(?:\$\{\w{1,41}\}|\$\w{1,41}){0,7}", re.ASCII)
_TOGETHER: Final = re.compile(r"\$(?:\{\w{1,41}\}|\w{1,41})\$[\w{]", re.ASCII)
_NAME: Final = re.compile(r"\w+", re.ASCII)


def may_join_variables(text: str) -> bool:
    """Tell whether two variables stand side by side in a text that assigns some, or one that holds what looks drawn."""
    return "$" in text and "=" in text and (_TOGETHER.search(text) is not None or _holds_drawn(text))


def _holds_drawn(text: str) -> bool:
    for number, found in enumerate(_ASSIGNED.finditer(text)):
        if number == MAX_ASSIGNMENTS:
            return True
        name = found["name"]
        if looks_random(found["value"]) and ("$" + name in text or "${" + name in text):
            return True
    return False


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
    # Most uses are of variables that the text does not set; those are told apart without a look at each.
    uses = set(_USED.findall(text))
    work.left -= DECODED_SIGN * len(uses)
    joined = {
        use: [values[name] for name in names]
        for use in uses
        for names in (_NAME.findall(use),)
        if all(name in values for name in names)
        and (len(names) > 1 or looks_random(text[slice(*values[names[0]])]))
    }
    groups: list[list[Span]] = []
    for found in _USED.finditer(text) if joined else ():
        if found.group() not in joined:
            continue
        start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - MAX_BEFORE)
        work.left -= DECODED_SIGN * 3
        if work.spent:
            view.unseen.append(Hit.unseen(text, start, len(text)))
            break
        groups.append([(start, found.start()), *joined[found.group()]])
    return view.quote(groups)
