"""What a growing text has shown so far: each character is looked at once, however small the pieces.

The watch says where the last keyword ended, where something last looked drawn or wrapped, and where a command began on the
open line that something behind it may explain.
"""

import re
from typing import Final

from herma.policy.redaction.cut import may_be_spaced, open_row
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.gate import lowered
from herma.policy.redaction.hidden import CONTROLS, HIDING
from herma.policy.redaction.run import plain

__all__ = ["CONTEXT_CHARS", "LONGEST_SUSPICIOUS", "STRETCH_CHARS", "SUSPICIOUS", "Watch"]

SUSPICIOUS: Final = re.compile(
    r"[a-z][A-Z]|[0-9][A-Za-z]|[A-Za-z][0-9]|[\\%\x00]|[A-Z]{2}[a-z]|[0-9]{8}|&(?:\#|\Z)|=(?:[2-7]?\Z|[2-7][0-9A-F]|\n)"
    f"|{HIDING}",
    re.ASCII,
)
# Eight digits.
LONGEST_SUSPICIOUS: Final = 8
_HIDING: Final = re.compile(HIDING)
AMPERSAND: Final = 0x26
HASH: Final = 0x23
EQUALS: Final = 0x3D
# The same in kinds of characters, for a look at the speed of `bytes.rfind`.
_KINDS: Final = b"".join(
    b"l"
    if chr(byte).islower()
    else b"U"
    if chr(byte).isupper()
    else b"d"
    if chr(byte).isdigit()
    else b"s"
    if byte in b"\\%\x00" or byte in CONTROLS
    else b"a"
    if byte == AMPERSAND
    else b"h"
    if byte == HASH
    else b"e"
    if byte == EQUALS
    else b" "
    for byte in range(128)
).ljust(256)
_PAIRS: Final = (b"lU", b"dl", b"dU", b"ld", b"Ud", b"UUl", b"s", b"ah", b"ed")
# The longest of them.
_SUSPICIOUS_CHARS: Final = 3

# The longest way from a word to the value it explains, in any rule, is 400 characters (the options of a command line).
CONTEXT_CHARS: Final = 512
# A long piece is looked at from its end, in stretches of this size.
STRETCH_CHARS: Final = 512


class Watch:
    """Watches one text, given piece by piece; offsets count from its beginning."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        # The last characters: what began in one piece may end in the next.
        self._tail = ""
        self.total = 0
        # Behind the last keyword, and behind the last suspicious characters; -1 when there was none.
        self.keyword = -1
        self.suspicious = -1
        # Where the open line begins, and the first command on it; -1 when there is none.
        self.line = 0
        self.command = -1

    @property
    def near(self) -> bool:
        """Tell whether a keyword is near the end."""
        return self.keyword >= 0 and self.total - self.keyword < CONTEXT_CHARS

    def take(self, text: str) -> None:
        """Look at the next piece."""
        before = len(self._tail)
        whole = self._tail + text
        base = self.total - before
        self.total += len(text)
        lower = lowered(whole)
        last = self._last_keyword(lower)
        if last:
            self.keyword = base + last
        last = _last_suspicious(whole, max(0, before - _SUSPICIOUS_CHARS + 1))
        if last:
            self.suspicious = base + last
        if last < len(whole) and (open_row(whole) < len(whole) or may_be_spaced(whole)):
            self.suspicious = self.total
        line_end = text.rfind("\n")
        if line_end >= 0:
            self.line = base + before + line_end + 1
            self.command = -1
        if self.command < 0:
            first = max(0, self.line - base)
            start = self._finder.commands.first_start(lower[first:])
            self.command = base + first + start if start >= 0 else -1
        self._tail = whole[-self._finder.gate.longest :]

    def _last_keyword(self, lower: str) -> int:
        """Find where the last keyword ends, from behind: in a long piece of keywords only the last ones are listed."""
        gate, stop = self._finder.gate, len(lower)
        while stop > 0:
            start = max(0, stop - STRETCH_CHARS)
            last = gate.last_end(lower[start : stop + gate.longest - 1])
            if last:
                return start + last
            stop = start
        return 0


def _last_suspicious(text: str, first: int) -> int:
    """Find where the last suspicious characters end, behind `first`; 0 when there are none."""
    kinds = plain(text).translate(_KINDS)
    ends = (at + len(pair) for pair in _PAIRS if (at := kinds.rfind(pair, first)) >= 0)
    last = max(ends, default=0)
    if text.isascii():
        return last
    return max([last, *(found.end() for found in _HIDING.finditer(text, first))])
