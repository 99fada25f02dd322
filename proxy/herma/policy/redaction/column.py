"""Secrets in a column of a table: the name stands in the head, the values on the lines below.

Markdown, comma- and tab-separated values, and columns set with blanks. A head is a line of names; a row has as many cells.
"""

import re
from collections.abc import Iterator
from typing import Final

from herma.policy.redaction.hit import Hit
from herma.policy.redaction.judgement import has_digit, identifier, left_alone
from herma.policy.redaction.name import Name
from herma.policy.redaction.value import is_code, looks_like_password, looks_random
from herma.policy.redaction.work import Work, judging

__all__ = ["MAX_TABLE_CHARS", "column"]

# A stream keeps 512 characters of what it released; a row further below its head could not be told there, so it is not told
# in a whole text either.
MAX_TABLE_CHARS: Final = 400
MAX_HEAD_CHARS: Final = 200
# Shorter names in code alternate as drawn values do (`getIPv4Of`).
MIN_DRAWN_CHARS: Final = 12
_HEAD_CELL: Final = re.compile(r"[\s\"'`*]{0,8}[A-Za-z_][\w .-]{0,40}[\s\"'`*]{0,40}$", re.ASCII)
# What such cells and their separators are made of: most lines with a name in them are no head.
_HEAD: Final = re.compile(r"[\w\s\"'`*.|,;-]*+", re.ASCII)
_RULER: Final = re.compile(r"[\s|:+=-]{3,400}$")
_CELLS: Final = re.compile(r"\S+(?:[ ]\S+)*")
_WRAPPING: Final = " \t\r\"'`*"


def column(text: str, first: int, known: Name, work: Work) -> Iterator[Hit]:
    """Find the values below the name at `first`, if it stands in the head of a table."""
    start = text.rfind("\n", max(0, first - MAX_HEAD_CHARS), first) + 1
    end = text.find("\n", first, first + MAX_HEAD_CHARS)
    if end < 0 or (start == 0 and first > MAX_HEAD_CHARS):
        return
    if _HEAD.fullmatch(text, start, end) is None:
        return
    head = text[start:end].strip(" \t\r")
    separator = next((sign for sign in "|\t,;" if sign in head), "")
    offset = first - start
    cells = _split(text[start:end], separator)
    if len(cells) < 2 or not all(_HEAD_CELL.match(cell) for _, cell in cells):
        return
    index = max(number for number, (at, _) in enumerate(cells) if at <= offset)
    at, told = end + 1, False
    while at < min(len(text), end + MAX_TABLE_CHARS):
        stop = text.find("\n", at)
        stop = stop if stop >= 0 else len(text)
        line = text[at:stop]
        if not _RULER.match(line):
            row = _split(line, separator)
            if len(row) != len(cells):
                return
            work.left -= judging(len(row[index][1]))
            found = _cell(at + row[index][0], row[index][1], known, told=told)
            if found is not None:
                told = True
                yield found
        at = stop + 1


def _split(line: str, separator: str) -> list[tuple[int, str]]:
    """Cut a line into its cells, with their places; without a separator, two blanks part them."""
    if not separator:
        parts = [(found.start(), found.group()) for found in _CELLS.finditer(line)]
        return parts if "  " in line.strip() else []
    cells: list[tuple[int, str]] = []
    at = 0
    for cell in line.split(separator):
        cells.append((at, cell))
        at += len(cell) + 1
    # The bars at both ends of a row enclose nothing.
    return [(at, cell) for at, cell in cells if cell.strip()] if separator == "|" else cells


def _cell(at: int, cell: str, known: Name, *, told: bool) -> Hit | None:
    """Judge one cell; below one that holds a secret, a value of letters that looks drawn is one too."""
    written = cell.strip(_WRAPPING)
    start = at + len(cell) - len(cell.lstrip(_WRAPPING))
    drawn = looks_random(written) or (known.password and looks_like_password(written))
    if (
        drawn
        and " " not in written
        and has_digit(written)
        and not left_alone(written)
        and (not identifier(written) or (told and looks_random(written, at_least=MIN_DRAWN_CHARS)))
        and not is_code(written)
    ):
        return Hit(start, start + len(written), known.rule_id, written)
    return None
