"""Escape sequences in the output of a terminal (ECMA-48): what is no text, and what of it stands for a gap between words."""

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = ["MAX_SEQUENCE_CHARS", "Sequence", "cut"]

# A picture or a copied answer may be sent as one sequence; what is longer is read as text.
MAX_SEQUENCE_CHARS: Final = 64 * 1024
_CSI: Final = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
# OSC ends with BEL as well; the others (DCS, SOS, PM, APC) with ST only.
_STRING: Final = re.compile(r"\x1b(?:\][^\x07\x1b]*+(?:\x07|\x1b\\)|[PX^_][^\x1b]*+\x1b\\)")
_SHORT: Final = re.compile(r"\x1b[ -/]*+[0-~]")
# What may become one with the next characters.
_OPEN: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+|\][^\x07\x1b]*+\x1b?|[PX^_][^\x1b]*+\x1b?|[ -/]*+)$")
# Letters and colours go on where they are; a mode moves nothing. Everything else draws elsewhere.
_STAYS: Final = frozenset("mhlnqtpuc")


@dataclass(frozen=True, slots=True)
class Sequence:
    """One escape sequence; `gap` is what stands for it in the text: nothing, a blank, or a line end."""

    written: str = field(repr=False)
    gap: str


def cut(text: str) -> tuple[list[str | Sequence], str]:
    """Cut text at its escape sequences; what is left at the end is the beginning of one that may go on."""
    parts: list[str | Sequence] = []
    at = 0
    while (start := text.find("\x1b", at)) >= 0:
        if start > at:
            parts.append(text[at:start])
        found = _CSI.match(text, start) or _STRING.match(text, start) or _short(text, start)
        if found is None:
            if len(text) - start <= MAX_SEQUENCE_CHARS and _OPEN.match(text, start):
                return parts, text[start:]
            # It is none: the sign alone passes, and what follows is text.
            parts.append(Sequence("\x1b", "\n"))
            at = start + 1
            continue
        parts.append(Sequence(found.group(), _gap(found.group())))
        at = found.end()
    if at < len(text):
        parts.append(text[at:])
    return parts, ""


def _short(text: str, start: int) -> "re.Match[str] | None":
    """Match a sequence of two or three signs, unless it opens a longer one."""
    return (
        None if text[start + 1 : start + 2] in {"[", "]", "P", "X", "^", "_"} else _SHORT.match(text, start)
    )


def _gap(written: str) -> str:
    if written[1] == "[":
        if written[-1] in _STAYS:
            return ""
        # Blanks are often drawn as a step to the right.
        return " " if written[-1] == "C" else "\n"
    if written[1] in "]PX^_()*+=>":
        return ""
    return "\n"
