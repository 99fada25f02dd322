"""Tokens that something cuts: a blank of another kind, a zero byte, the margin of a terminal, a sign between any two letters.

Each decoder makes a view in which the parts stand together; a zero byte separates variables and arguments as well, so that there
is a view with a blank for it.
"""

import re
import string
from collections.abc import Iterable
from typing import Final

from herma.policy.redaction.run import plain
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work

__all__ = [
    "may_be_broken",
    "may_be_cut",
    "may_be_spaced",
    "open_row",
    "parted",
    "unbroken",
    "uncut",
    "unspaced",
    "zeros_dropped",
]

# Blanks that no shell separates words by, and a return.
_BLANKS: Final = "\r\x0b\x0c\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Where a name begins behind it, it separates.
_CUT: Final = re.compile(
    f"([{_BLANKS}](?<=[A-Za-z0-9_-]{{6}}.)(?=[A-Za-z0-9_-]{{6,512}}+(?!=)))", re.ASCII | re.DOTALL
)
_CUTS: Final = re.compile(f"[{_BLANKS}]")
# A word that a terminal broke at its margin: a long line without an end of its own, and a drawn rest on the next. Words, names and
# digests go on with letters of one case, or hold no digit.
_MARGIN: Final = re.compile(
    r"(\n(?:(?<=[A-Za-z0-9_/+-]\n)|(?<=[A-Za-z0-9_/+-]\r\n))(?=[A-Za-z_/+-]{0,24}[0-9])(?=[a-z0-9_/+-]{0,24}[A-Z])(?=[A-Z0-9_/+-]{0,24}[a-z])"
    r"(?=[A-Za-z0-9_/+-]{8,512}+={0,2}(?:[\s\"'`;&|<>)\\]|$))(?<=[^\n]{60}\n))",
    re.ASCII,
)
_ZERO: Final = re.compile("(\x00+)")
_ZEROS: Final = re.compile("\x00+")
# A variable of an environment; `=` behind it, or nothing, is the padding of base64.
_VARIABLE: Final = re.compile(r"[A-Za-z_][\w.%-]{0,80}+=(?![=\s\"'])", re.ASCII)
MAX_VARIABLE_CHARS: Final = 96
# So many letters in a row, each by itself; a word in a heading is shorter, a credential longer.
MIN_SPACED: Final = 10
# Between any two of them stands the same.
_SPACED: Final = re.compile(
    r"(?<![\w+/-])[\w+/=-](?P<between>[^\w+/=]|, |','|\",\"|', '|\", \")[\w+/=-](?![\w+/=-])(?:(?P=between)[\w+/=-](?![\w+/=-])){8,1022}+",
    re.ASCII,
)
_LETTERS: Final = frozenset(string.ascii_letters + string.digits + "_+/=-")
MAX_BETWEEN: Final = 4
# In a stream, a row is held from its third letter on, and so far.
MIN_OPEN_LETTERS: Final = 3
MAX_ROW_CHARS: Final = 2048
# The same from behind, as the pattern reads it: each letter stands by itself.
_OPEN_ROW: Final = re.compile(
    rf"[^\w+/=-]{{0,{MAX_BETWEEN}}}+(?:([\w+/=-])(?![\w+/=-])[^\w+/=-]{{0,{MAX_BETWEEN}}}+){{{MIN_OPEN_LETTERS},}}+",
    re.ASCII,
)
_KINDS: Final = bytes(0x78 if chr(byte).isalnum() or byte in b"_+/=-" else 0x20 for byte in range(128)).ljust(
    256
)
# One sign between them, or what stands there in lists: `, `, `","`, `', '`. A literal is found faster by `re` than by `bytes.find`.
_ROW: Final = re.compile(b" x" * (MIN_SPACED - 1))
_LISTED_ROWS: Final = tuple(re.compile((b" " * count + b"x") * (MIN_SPACED - 1)) for count in (2, 3, 4))


def may_be_cut(text: str) -> bool:
    """Tell whether a text holds a word that is cut in two by a blank that is no blank of a shell."""
    return (not text.isascii() or "\r" in text or "\x0b" in text or "\x0c" in text) and _CUT.search(
        text
    ) is not None


def uncut(view: View, work: Work | None = None) -> View | None:
    """Join what such a blank cuts."""
    return view.derive(_CUT, lambda _: "", work) if may_be_cut(view.text) else None


def parted(view: View, work: Work | None = None) -> View | None:
    r"""Write zero bytes as what separates arguments: `mysql\0-pX\0db`."""
    return view.derive(_ZERO, lambda _: " ", work) if "\x00" in view.text else None


def zeros_dropped(view: View, work: Work | None = None) -> View | None:
    """Drop the zero bytes that do not separate variables."""
    return view.rewrite(_ZEROS, _zeros, work) if "\x00" in view.text else None


def _zeros(text: str, zeros: Iterable[re.Match[str]]) -> list[tuple[int, int, str]]:
    signs: list[tuple[int, int, str]] = []
    done = 0
    for found in zeros:
        start, end = found.span()
        variable = _VARIABLE.match(text, end, end + MAX_VARIABLE_CHARS)
        if variable is None or text.find("=", done, start) < 0:
            signs.append((start, end, ""))
        done = end
    return signs


def may_be_broken(text: str) -> bool:
    """Tell whether a margin may have broken a word."""
    return "\n" in text and _MARGIN.search(text) is not None


def unbroken(view: View, work: Work | None = None) -> View | None:
    """Join what a margin broke; a return before the line's end is left to the view without cuts."""
    return view.derive(_MARGIN, lambda _: "", work) if may_be_broken(view.text) else None


def may_be_spaced(text: str) -> bool:
    """Tell whether a text holds many letters in a row that stand by themselves."""
    kinds = plain(text).translate(_KINDS)
    return _ROW.search(kinds) is not None or (
        "," in text and any(row.search(kinds) is not None for row in _LISTED_ROWS)
    )


def open_row(text: str) -> int:
    """Find where the letters begin that stand by themselves at the end of a text, three at least; its end when there are none."""
    at = len(text)
    if text[-1:] in _LETTERS and text[-2:-1] in _LETTERS:
        # Most texts end amid a word.
        return at
    first = max(0, at - MAX_ROW_CHARS)
    row = _OPEN_ROW.match(text[first:][::-1])
    return at - row.end(1) if row is not None else at


def unspaced(view: View, work: Work | None = None) -> View | None:
    """Write letters that stand by themselves, with the same between all of them, as one word."""
    return view.rewrite(_SPACED, _joined, work) if may_be_spaced(view.text) else None


def _joined(_: str, rows: Iterable[re.Match[str]]) -> list[tuple[int, int, str]]:
    return [(*found.span(), found.group()[:: 1 + len(found["between"])]) for found in rows]
