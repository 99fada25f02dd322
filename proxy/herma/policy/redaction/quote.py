"""Values in quotes: where one ends, and whether the end of a text leaves one open."""

import re
from typing import Final

from herma.policy.redaction.glued import ends_open
from herma.policy.redaction.join import joint_at
from herma.policy.redaction.judgement import Value
from herma.policy.redaction.name import Names

__all__ = [
    "MAX_VALUE_CHARS",
    "QUOTED",
    "open_argument",
    "open_quote",
    "open_windows",
    "past_bound",
    "quoted_value",
]

# The longest single-line secret seen is a 2,300 character service account; a value beyond the bound is judged by its beginning
# and masked to its end, see `past_bound`.
MAX_VALUE_CHARS: Final = 16 * 1024
# A value that is open at the end of a text begins at one of the last quotes of its kind: three, for two may be escaped.
LAST_QUOTES: Final = 3
# A value between three quotes has lines.
TRIPLE_CHARS: Final = 3
# The longest way from a name to the quote of its value: some words of a sentence.
MAX_JOINT_CHARS: Final = 256
QUOTED: Final = re.compile(
    r"""(?P<lead>[fFrRbBuUN@$]{0,2}|<<|\*{2}[ ]?)(?P<quote>\"{3}|'{3}|&quot;|["'`“\u2018«])""",
)
_CLOSING: Final = {"“": "”", "\u2018": "\u2019", "«": "»"}
_KINDS: Final = ('"', "'", "`", "\u201c", "\u2018", "\u00ab", "&quot;", '"""', "'''")
_OPENING: Final = re.compile(r"(?<![A-Za-z0-9_])(?P<quote>[\"'`])")


def quoted_value(text: str, quoted: re.Match[str]) -> Value:
    """Read the value behind a quote to the quote that closes it, to the end of its line, or to the bound."""
    quote = quoted["quote"]
    start = quoted.end()
    closing = _CLOSING.get(quote, quote)
    multiline = len(quote) == TRIPLE_CHARS
    end = start
    stop = min(len(text), start + MAX_VALUE_CHARS)
    while end < stop:
        next_quote = text.find(closing, end, stop)
        line_end = -1 if multiline else text.find("\n", end, stop)
        if next_quote < 0 or 0 <= line_end < next_quote:
            end = line_end if line_end >= 0 else stop
            return Value(start, end, text[start:end], quote, False)
        backslashes = 0
        while text[next_quote - 1 - backslashes] == "\\" and next_quote - 1 - backslashes >= start:
            backslashes += 1
        if backslashes % 2 == 0 or (
            closing == "'" and backslashes == 1 and text[start:next_quote].count("'") == 0
        ):
            return Value(start, next_quote, text[start:next_quote], quote, True)
        end = next_quote + 1
    return Value(start, stop, text[start:stop], quote, False)


def past_bound(text: str, value: Value) -> int:
    """Find where a value ends that was read to the bound only: at its quote or its line's end, however far.

    Asked for secrets only, so that no text is read twice.
    """
    if value.closed or value.end - value.start < MAX_VALUE_CHARS:
        return value.end
    close = text.find(_CLOSING.get(value.quote, value.quote), value.end)
    line_end = text.find("\n", value.end) if len(value.quote) != TRIPLE_CHARS else -1
    return min((at for at in (close, line_end) if at >= 0), default=len(text))


def open_windows(text: str, start: int) -> list[tuple[int, int]]:
    """Give the parts of a text behind `start` in which the name of a value must stand that the text leaves open, in order."""
    windows: list[tuple[int, int]] = []
    for kind in _KINDS:
        stop = len(text)
        for _ in range(LAST_QUOTES):
            stop = text.rfind(kind, start, stop)
            if stop < 0:
                break
            windows.append((max(start, stop - MAX_JOINT_CHARS), stop + len(kind)))
    joined: list[tuple[int, int]] = []
    for first, last in sorted(windows):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def open_quote(text: str, first: int, last: int, names: Names) -> int:
    """Tell where a quoted value beside this name begins that the text does not close; -1 when there is none."""
    if names.classify(text[first:last].strip("-.")) is None:
        return -1
    joint = joint_at(text, last)
    if joint is None:
        return -1
    quoted = QUOTED.match(text, joint.end)
    if quoted is None:
        # `NAME=a"b c` of a shell.
        return joint.end if joint.sign == "=" and not joint.spaced and ends_open(text, joint.end) else -1
    value = quoted_value(text, quoted)
    is_open = ends_open(text, value.end + 1) if value.closed else value.end == len(text)
    return value.start if is_open else -1


def open_argument(text: str, at: int) -> int:
    """Tell where a quoted argument behind `at` begins that neither a quote nor a line's end closes; the text's end when none."""
    while (opened := _OPENING.search(text, at)) is not None:
        close = text.find(opened["quote"], opened.end())
        line_end = text.find("\n", opened.end())
        if close < 0 and line_end < 0:
            return opened.end()
        # An apostrophe opens nothing.
        at = opened.end() if close < 0 or 0 <= line_end < close else close + 1
    return len(text)
