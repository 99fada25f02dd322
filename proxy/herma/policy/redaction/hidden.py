r"""Characters that show nothing, that take others back, or that show an ASCII letter in another dress.

A terminal, a browser and a model read past them: `g\x08gh\x08h` is bold, `g\u00adh` is one word, `\uff47\uff48` is wide. A token
written so is the token.
"""

import re
import string
import unicodedata
from collections.abc import Iterable
from typing import Final

from herma.policy.redaction.run import plain
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work

__all__ = [
    "CONTROLS",
    "HIDING",
    "may_hide",
    "may_overprint",
    "may_smuggle",
    "overprinted",
    "smuggled",
    "visible",
]

# Control characters of ASCII; not the blanks among them, nor the zero byte, which separates variables.
CONTROLS: Final = bytes([*range(0x01, 0x09), *range(0x0E, 0x20), 0x7F])
# Those without the escape, which begins a sequence, and bytes that are no text.
_CONTROL: Final = "\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff"
# What Unicode shows as nothing, and what has no picture: soft hyphens, joiners, directions, selectors, tags, fillers.
_IGNORED: Final = (
    "\x80-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ue000-\uf8ff"
    "\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
)
_IGNORED_BEYOND: Final = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
# Marks that are set on the character before them; those of other scripts are letters there.
_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
# Blocks with letters, digits and signs of ASCII that are wide, small, raised, mathematical, in brackets, circles and squares.
_DRESSING: Final = (
    (0xAA, 0xBB),
    (0x2B0, 0x2B9),
    (0x2E0, 0x2E4),
    (0x1D2C, 0x1D6B),
    (0x2070, 0x209D),
    (0x2100, 0x214A),
    (0x2460, 0x2500),
    (0xFE33, 0xFE35),
    (0xFE4D, 0xFE70),
    (0xFF01, 0xFF5F),
    (0x1D400, 0x1D800),
    (0x1F110, 0x1F150),
    (0x1FBF0, 0x1FBFA),
)
_BRACKETED: Final = 3
_WORD: Final = frozenset(string.ascii_letters + string.digits + "_-=")
# Of these, compatibility says nothing: white capitals in black circles and squares, the letters of flags; hyphens, and a tie of words.
_CAPITALS: Final = (0x1F150, 0x1F170, 0x1F1E6)
_SIGNS: Final = {"\u2010": "-", "\u2011": "-", "\u203f": "_"}


def _dress() -> dict[str, str]:
    dress = dict(_SIGNS)
    for first, end in _DRESSING:
        for sign in map(chr, range(first, end)):
            written = unicodedata.normalize("NFKC", sign)
            written = written[1] if len(written) == _BRACKETED and written[0] == "(" else written
            # A wide comma ends a value.
            if written in _WORD:
                dress[sign] = written
    for first in _CAPITALS:
        dress |= {chr(first + number): chr(ord("A") + number) for number in range(26)}
    return dress


_DRESS: Final = _dress()
LAST_BASIC: Final = "\uffff"


def _ranges(characters: Iterable[str]) -> str:
    """Write a class of characters in ranges."""
    runs: list[list[int]] = []
    for code in sorted(map(ord, characters)):
        if runs and code - runs[-1][-1] == 1:
            runs[-1][-1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


# Beyond the basic plane `re` goes through a class item by item: one range there tells that a look is worth it, so that a search skips
# to the rest at full speed.
_BASIC: Final = f"\x1b{_CONTROL}{_IGNORED}{_MARKS}{_ranges(sign for sign in _DRESS if sign <= LAST_BASIC)}"
_BEYOND: Final = _IGNORED_BEYOND + _ranges(sign for sign in _DRESS if sign > LAST_BASIC)
HIDING: Final = f"[{_BASIC}\U00010000-\U0010ffff](?<=[{_BASIC}{_BEYOND}])"
_HIDING: Final = re.compile(HIDING)
_HIDDEN: Final = re.compile(
    f"({HIDING}"
    # ECMA-48: a control sequence, a string with its end (DCS, SOS, OSC, PM, APC), a sign with others before it, or alone.
    "(?:(?<=\x9b)[0-?]{0,32}[ -/]{0,4}[@-~]|(?<=[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]{0,512}[\x07\x9c]|(?<!\x1b)|"
    "(?:\\[[0-?]{0,32}[ -/]{0,4}[@-~]|[]PX^_][^\x07\x1b]{0,512}(?:\x07|\x1b\\\\)|[ -/]{1,4}[0-~]|[0-OQ-WYZ\\\\`-~])))"
)
# A terminal goes back one place, or takes back what was typed.
_ERASE: Final = re.compile("[\x08\x7f]+")
# Tags are the letters of ASCII, and selectors were made to carry bytes: whole texts stand in them, and nothing is shown.
_CARRYING: Final = re.compile("([\U000e0020-\U000e007e\U000e0110-\U000e016e])")
FIRST_TAG: Final = 0xE0000
# The selector of byte 0x20 is U+E0110.
FIRST_SELECTOR: Final = 0xE00F0
_SELECTORS_FROM: Final = "\U000e0100"


def may_hide(text: str) -> bool:
    """Tell whether a text holds a character that shows nothing or is dressed."""
    raw = plain(text)
    return len(raw.translate(None, CONTROLS)) != len(raw) or (
        not text.isascii() and _HIDING.search(text) is not None
    )


def visible(view: View, work: Work | None = None) -> View | None:
    """Write what is shown, undressed."""
    return view.derive(_HIDDEN, lambda sign: _DRESS.get(sign, ""), work) if may_hide(view.text) else None


def may_overprint(text: str) -> bool:
    """Tell whether a text goes back over what it wrote."""
    return "\x08" in text or "\x7f" in text


def overprinted(view: View, work: Work | None = None) -> View | None:
    """Write what is left where a text goes back over itself: bold and underlined letters, typing that was corrected."""
    return view.rewrite(_ERASE, _erased, work) if may_overprint(view.text) else None


def _erased(text: str, steps: Iterable[re.Match[str]]) -> list[tuple[int, int, str]]:
    """Say what goes back, with the characters that it takes and the one that takes their place: a bold letter is written twice."""
    erased: list[tuple[int, int]] = []
    for found in steps:
        start, end = found.span()
        count = end - start
        # What was taken back before is no character any more.
        while erased and start - erased[-1][1] <= count:
            count -= start - erased[-1][1]
            start = erased.pop()[0]
        erased.append((max(0, start - count), end))
    following = [*(start for start, _ in erased[1:]), len(text)]
    # Without work for any step there is none, and the end of the text follows none.
    return [
        (start, end + (end < after), text[end : end + (end < after)])
        for (start, end), after in zip(erased, following, strict=False)
    ]


def may_smuggle(text: str) -> bool:
    """Tell whether a text holds characters that carry others."""
    return not text.isascii() and _CARRYING.search(text) is not None


def smuggled(view: View, work: Work | None = None) -> View | None:
    """Write the text that tags and selectors carry."""
    return view.derive(_CARRYING, _carried, work) if may_smuggle(view.text) else None


def _carried(sign: str) -> str:
    return chr(ord(sign) - (FIRST_SELECTOR if sign >= _SELECTORS_FROM else FIRST_TAG))
