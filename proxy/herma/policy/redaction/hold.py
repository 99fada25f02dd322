"""What of a growing text must wait: the word that may go on, the quote that is open, the lines that something behind explains."""

import re
import string
from typing import Final

from herma.policy.redaction.cut import open_row
from herma.policy.redaction.decode import EVENT_GAP
from herma.policy.redaction.finder import Finder
from herma.policy.redaction.gate import lowered
from herma.policy.redaction.judgement import told
from herma.policy.redaction.number import number_open_at
from herma.policy.redaction.watch import CONTEXT_CHARS, LONGEST_SUSPICIOUS, SUSPICIOUS, Watch

__all__ = ["MAX_HELD_LINE_CHARS", "Hold", "last_word"]

# A line that begins with `echo` may be held for a pipe that explains it; commands, and lists of codes, are shorter than this.
MAX_HELD_LINE_CHARS: Final = 2048
# The line of a list's name, that of its first entry, and that of its second.
LIST_LINES: Final = 3
# A quoted value is read so far, and its name stands before it.
MAX_QUOTE_CHARS: Final = 16 * 1024 + CONTEXT_CHARS
# Two letters of a public prefix are no secret; three (`ghp`, `sk-`) are seldom the end of a word.
_MIN_PREFIX: Final = 3
_MAX_PREFIX: Final = 48
_PREFIX_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.:/"
_QUOTE: Final = re.compile("[\"'`\u201c\u2018\u00ab]|&quot;")
# `A=x;` of a shell, with more to come.
_SETS: Final = re.compile(r"(?<![\w$-])[A-Za-z_]\w{0,40}=[\"']?(?P<value>[\w.+/=-]{2,256}+)[\"']?;", re.ASCII)
# A word is a credential only as far as this.
MAX_WORD_CHARS: Final = 512
# A value in quotes that goes on in quotes on the next line: what is still open of it, at most eight pieces.
MAX_PIECES_CHARS: Final = 1024
MAX_PIECES_QUOTES: Final = 2 * 8 + 1
_PIECES: Final = re.compile(
    r"(?:[\"'][\w.+/=-]{2,512}+[\"'](?:\n[ \t]{0,32})?){1,8}(?:[\"'][\w.+/=-]{0,512})?$", re.ASCII
)
# Values joined by a plus sign, with the blanks and the line's end about it: `"a" + "b`.
_ENDS_PIECE: Final = frozenset("\"' ")
_SUM: Final = re.compile(
    r"(?:[\"'][\w./=-]{2,512}+[\"'][ ]?(?:\+[ ]?(?:\\?\r?\n)?[ ]{0,16})?){1,8}(?:[\"'][\w./=-]{0,512})?$",
    re.ASCII,
)
# The last word of an event, and what stands of it in the event before.
MAX_EVENTS_CHARS: Final = 4096
_CLOSES: Final = ('"}', '"]')
# A drawn word that the next words may tell: "… is the password". So many characters stand between.
MAX_TOLD_CHARS: Final = 400
_TOLD_BY_NEXT: Final = re.compile(
    r"(?<![^\s\"'`(*:])(?P<word>[A-Za-z0-9!#$%&*+/=?@^_~.-]{8,256}+)[\"'`*]{0,3}\)?,?"
    r"(?:[ ](?:i|is|a|as|f|fo|for|<-{0,2}|\u2190|\([a-z]{0,5})?|[ ](?:is|as|for|<--?|\u2190|\([a-z]{2,5})[ ][\w.' -]{0,64})?$",
    re.ASCII,
)
_DIGIT: Final = re.compile("[0-9]")
_RETURN: Final = re.compile(r"[A-Za-z0-9_-]\r(?!\n)", re.ASCII)


class Hold:
    """Tells how much of one channel's text must wait."""

    def __init__(self, finder: Finder, watch: Watch) -> None:
        self._finder = finder
        self._watch = watch
        # Up to this offset, the last word was seen to hold nothing suspicious.
        self._plain_to = 0

    def start(self, text: str, base: int, first: int) -> int:
        """Find where the part begins that more text could turn into a secret, not before `first`; an index into the text.

        `text` is what is kept of the channel's text, which begins at offset `base`.
        """
        start = last_word(text)
        near = self._watch.near
        hold = start if near or self._is_suspicious(text, base, start) else self._prefix(text)
        if near and _QUOTE.search(text) is not None:
            hold = min(
                hold,
                self._finder.open_quote(text, max(0, first - CONTEXT_CHARS, len(text) - MAX_QUOTE_CHARS)),
            )
            hold = min(hold, _in_lines(text))
        hold = min(hold, _in_sum(text))
        if near and "data:" in text:
            hold = min(hold, _in_events(text))
        hold = min(hold, open_row(text), _told_by_next(text))
        if self._finder.numbers:
            hold = min(hold, number_open_at(text))
        return max(first, min(hold, self.line(text, base)))

    def _is_suspicious(self, text: str, base: int, start: int) -> bool:
        """Tell whether something in the last word looks drawn or wrapped; a word that grows is searched where it has grown."""
        found = SUSPICIOUS.search(text, max(start, self._plain_to - base - LONGEST_SUSPICIOUS))
        self._plain_to = base + (len(text) if found is None else found.start())
        return found is not None

    def line(self, text: str, base: int) -> int:
        """Find where the lines begin that something on them may explain; the text's end when there are none."""
        hold = min(self._list(text) if self._watch.near else len(text), self._setting(text))
        command, line = self._watch.command, max(self._watch.line, base)
        if command < 0 or self._watch.total - line > MAX_HELD_LINE_CHARS:
            return hold
        if command < line:
            # The first command on the line is forgotten already; there may be another.
            again = self._finder.commands.first_start(lowered(text[line - base :]))
            command = line + again if again >= 0 else self._watch.total
        return min(hold, command - base)

    def _setting(self, text: str) -> int:
        """Find where a line begins to set variables that the rest of it may put together; the text's end when it does not."""
        line = max(text.rfind("\n") + 1, len(text) - MAX_HELD_LINE_CHARS)
        if self._watch.suspicious < 0 or text.find(";", line) < 0:
            return len(text)
        found = _SETS.search(text, line)
        return found.start("value") if found is not None else len(text)

    def _list(self, text: str) -> int:
        """Find where a list begins that is told by its second entry: on the line of its name, or on the two below."""
        start = len(text)
        for _ in range(LIST_LINES):
            if start <= 0:
                break
            start = text.rfind("\n", max(0, len(text) - MAX_HELD_LINE_CHARS), start)
        start = max(0, start)
        at = self._finder.lists.first_start(lowered(text[start:]))
        return start + at if at >= 0 else len(text)

    def _prefix(self, text: str) -> int:
        """Find where the text may end in the beginning of a vendor's prefix; its end when it does not."""
        end = text[-_MAX_PREFIX:]
        tail = end[len(end.rstrip(_PREFIX_CHARACTERS)) :]
        known = len(tail) >= _MIN_PREFIX and lowered(tail) in self._finder.beginnings
        return len(text) - len(tail) if known else len(text)


def last_word(text: str) -> int:
    """Find where the last word begins; a line continued with a backslash continues the word, and a return amid letters cuts it."""
    word = max(text.rfind(" "), text.rfind("\t")) + 1
    if text.find("\r", word) >= 0:
        word += _RETURN.sub("..", text[word:]).rfind("\r") + 1
    # Written over with something as long: a text of nothing but continuations is gone through once.
    return word + text[word:].replace("\\\n", "  ").rfind("\n") + 1


def _in_lines(text: str) -> int:
    """Find where a value in quotes begins that the next line may go on with; the text's end when there is none."""
    found = _PIECES.search(text, _first_quote(text, max(0, len(text) - MAX_PIECES_CHARS)))
    return found.start() if found is not None else len(text)


def _in_sum(text: str) -> int:
    """Find where a value in quotes begins that a plus sign may join to more; the text's end when there is none."""
    tail = max(0, len(text) - MAX_PIECES_CHARS)
    if text.find("+", tail) < 0 and text[-1:] not in _ENDS_PIECE:
        return len(text)
    found = _SUM.search(text, _first_quote(text, tail))
    return found.start() if found is not None and SUSPICIOUS.search(text, found.start()) else len(text)


def _first_quote(text: str, tail: int) -> int:
    """Find where the pieces that may be open at the end begin at the earliest, not before `tail`: each has two quotes at most."""
    at = len(text)
    for _ in range(MAX_PIECES_QUOTES):
        at = max(text.rfind("'", tail, at), text.rfind('"', tail, at))
        if at < 0:
            return tail
    return at


def _told_by_next(text: str) -> int:
    """Find where a drawn word begins that the words behind it may tell to be a secret; the text's end when there is none."""
    tail = max(text.rfind("\n") + 1, len(text) - MAX_TOLD_CHARS)
    if _DIGIT.search(text, tail) is None:
        return len(text)
    found = _TOLD_BY_NEXT.search(text, tail)
    return found.start("word") if found is not None and told(found["word"].rstrip(".,;:!?")) else len(text)


def _in_events(text: str) -> int:
    """Find where the last word of a recorded event stream begins, in whichever event; the text's end when there is none."""
    tail = max(0, len(text) - MAX_EVENTS_CHARS)
    close = max(text.rfind(sign, tail) for sign in _CLOSES)
    if close < 0:
        return len(text)
    start = _run_start(text, close)
    gaps = {found.end(): found.start() for found in EVENT_GAP.finditer(text, tail)}
    while (gap := gaps.get(start)) is not None and (before := _run_start(text, gap)) < gap:
        start = before
    return start


def _run_start(text: str, end: int) -> int:
    """Find where the word begins that ends at `end`."""
    word = text[max(0, end - MAX_WORD_CHARS) : end]
    return end - len(word) + len(word.rstrip(_PREFIX_CHARACTERS))
