"""Variables of a shell that make one value: `A=ghp_x; B=y; curl -H "Authorization: Bearer $A$B"`, `X=F4keP4ss; mysql -p"$X"`.

A name tells nothing: a use is read as the value that the text assigns, with what stands around it, and judged like one that was
written there. Of a variable that stands alone, only a value that looks drawn or chosen is read so.
"""

import re
from typing import Final

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.judgement import told
from herma.policy.redaction.value import looks_random
from herma.policy.redaction.view import Span, View
from herma.policy.redaction.work import DECODED_SIGN, Work

__all__ = ["joined_variables", "may_join_variables"]

# What stands in front of the variables on their line may name the value.
MAX_BEFORE: Final = 128
# What stands around a use is written out and read once more, with all that it may hold.
CHARS_COPIED_PER_UNIT: Final = 8
# A text with more assignments is a program, and its first ones are read.
MAX_ASSIGNMENTS: Final = 256
# The names in so many uses are each looked for by themselves, which is faster than to look for assignments.
MAX_ASKED_USES: Final = 16
# What stands behind them on it closes the quote, or names the program that reads the value.
MAX_AFTER: Final = 128
# In a shell, and with a dollar and blanks in PowerShell; a value in quotes may hold any sign.
_ASSIGNED: Final = re.compile(
    r"(?<![\w$-])(?:(?P<name>[A-Za-z_]\w{0,40})=|\$(?P<typed>[A-Za-z_]\w{0,40})[ ]?=[ ]?(?=[\"']))"
    r"(?:(?P<bare>[A-Za-z0-9_.+/=@%^!*~-]{2,256}+)|\"(?P<double>[^\"\s$`\\]{2,256}+)\"|'(?P<single>[^'\s]{2,256}+)')(?=[\s;&|]|$)",
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
    if not _uses_assigned(text):
        return False
    for number, found in enumerate(_ASSIGNED.finditer(text)):
        if number == MAX_ASSIGNMENTS:
            return True
        name = found["name"] or found["typed"]
        # The use first: to judge a value takes longer.
        if _is_used(text, name) and _may_be_secret(text[slice(*_value(found))]):
            return True
    return False


def _uses_assigned(text: str) -> bool:
    """Tell at little cost whether a text may assign one of the variables that it uses; most use few, and assign others."""
    # Each use once: a text may be made of nothing but uses of one variable.
    uses = set(_USED.findall(text))
    if len(uses) > MAX_ASKED_USES:
        return True
    names = {name for use in uses for name in _NAME.findall(use)}
    return any(f"{name}=" in text or f"{name} =" in text for name in names)


def _is_used(text: str, name: str) -> bool:
    """Tell whether a variable is used; what assigns one in PowerShell is written like a use."""
    return f"${{{name}" in text or text.count("$" + name) > (f"${name} =" in text or f"${name}=" in text)


def _value(found: re.Match[str]) -> Span:
    """Tell where the value of an assignment stands, without its quotes."""
    return found.span(found.lastgroup or 0)


def _may_be_secret(value: str) -> bool:
    return looks_random(value) or told(value)


def joined_variables(view: View, work: Work | None = None) -> View | None:
    """Write each pair of variables as the values that the same text assigns to them; None when it assigns none."""
    text = view.text
    if not may_join_variables(text):
        return None
    work = Work(len(text)) if work is None else work
    values: dict[str, tuple[int, int]] = {}
    for found in _ASSIGNED.finditer(text):
        work.left -= DECODED_SIGN
        values[found["name"] or found["typed"]] = _value(found)
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
        and (len(names) > 1 or _may_be_secret(text[slice(*values[names[0]])]))
    }
    groups: list[list[Span]] = []
    for found in _USED.finditer(text) if joined else ():
        if found.group() not in joined:
            continue
        start = max(text.rfind("\n", 0, found.start()) + 1, found.start() - MAX_BEFORE)
        line = text.find("\n", found.end(), found.end() + MAX_AFTER)
        end = line if line >= 0 else min(len(text), found.end() + MAX_AFTER)
        work.left -= DECODED_SIGN * 10 + (end - start) / CHARS_COPIED_PER_UNIT
        if work.spent:
            view.unseen.append(Hit.unseen(text, start, len(text)))
            break
        groups.append([(start, found.start()), *joined[found.group()], (found.end(), end)])
    return view.quote(groups)
